//! What a keeper works with, and who is told of it.

use std::path::PathBuf;

use crate::export::{Limits, Report};
use crate::snapshot::source::Source;

/// What a keeper works with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the exports come from.
    pub source: Source,
    /// Where generations are kept; `None`: in memory only.
    pub index: Option<PathBuf>,
    /// Whether generations are only loaded from there and never written.
    pub read_only: bool,
    /// Whether the valid records of an invalid set are served.
    pub skip_invalid: bool,
    /// The largest share of records that may vanish unconfirmed, in per cent.
    pub max_removed: u8,
    /// How large an export may be.
    pub limits: Limits,
}

/// What is being done, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reading and checking, counted in bytes.
    Reading,
    /// Indexing, counted in products.
    Indexing,
    /// Writing to disk; not counted.
    Writing,
}

/// Is told what a keeper does.
pub trait Observer: Send {
    /// So much of so much is done.
    fn progress(&mut self, phase: Phase, done: u64, total: u64);
    /// Exports were read, and this is what was found.
    fn report(&mut self, report: &Report);
}
