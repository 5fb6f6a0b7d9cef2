//! Build settings.

use std::path::PathBuf;

use crate::export::{IdPrefixes, Limits};
use crate::generation::meaning::MeaningOption;
use crate::generation::name::Generation;
use crate::generation::process::BuildProcess;
use crate::generation::source::Source;

#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the exports come from.
    pub source: Source,
    /// Where generations are stored; `None` keeps them in memory only.
    pub index: Option<PathBuf>,
    /// Whether generations are only loaded from the index folder, never written to it.
    pub read_only: bool,
    /// Whether to serve the valid records in an invalid set.
    pub skip_invalid: bool,
    /// The largest share of records that may disappear without confirmation, as a percentage.
    pub max_removed: u8,
    /// The operator's id prefixes.
    pub id_prefixes: IdPrefixes,
    /// Whether to also rank records by meaning.
    pub meaning: MeaningOption,
    /// The limits for reading exports.
    pub limits: Limits,
    /// The process that builds generations on disk; `None` to build in this process.
    pub process: Option<BuildProcess>,
}

impl Settings {
    /// The name of the generation that these settings produce from exports with this name.
    #[must_use]
    pub fn name(&self, generation: Generation) -> Generation {
        generation.prefixed(&self.id_prefixes).with_meaning(self.meaning)
    }
}
