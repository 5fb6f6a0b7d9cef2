//! The settings and the observer of a keeper.

use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::process::BuildProcess;
use super::source::Source;
use crate::export::{Limits, Report};

/// The settings of a keeper.
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
    /// The process that builds generations on disk; `None`: this one does.
    pub process: Option<BuildProcess>,
}

/// A phase of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading and checking, counted in bytes.
    Reading,
    /// Indexing, counted in products.
    Indexing,
    /// Writing to disk; not counted.
    Writing,
}

/// A report as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedReport {
    /// A hash of its findings: the same ones needn't be told twice.
    pub digest: String,
    /// The text.
    pub text: String,
}

/// Gets the progress and the reports of a keeper.
pub trait Observer: Send {
    /// Gets the units done and the units in all. A break stops the build.
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> ControlFlow<()>;
    /// Exports were read, and this is what was found.
    fn report(&mut self, report: &Report);
    /// Another process has read exports, and this is what it found.
    fn relay(&mut self, report: RenderedReport);
}
