//! The option to rank by meaning.

use serde::{Deserialize, Serialize};

/// Whether records get vectors of their meaning, which searches use for ranking. It's part of a
/// generation's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeaningOption {
    #[default]
    On,
    Off,
}
