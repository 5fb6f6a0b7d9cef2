//! The option to rank by meaning.

use serde::{Deserialize, Serialize};

/// Whether records get meaning vectors, which searches use for ranking. It affects a generation's
/// name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeaningOption {
    #[default]
    On,
    Off,
}
