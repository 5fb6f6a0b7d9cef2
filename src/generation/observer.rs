//! A build's progress and reports.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::export::{ExportSet, Report};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading and checking, counted in bytes.
    Reading,
    /// Merging the exports in scratch files, counted in exports.
    Merging,
    /// Indexing, counted in products.
    Indexing,
    /// Writing to disk; not counted.
    Writing,
}

/// A report as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedReport {
    /// A hash of the report's findings, so that the same findings aren't logged twice.
    pub digest: String,
    pub text: String,
}

/// Receives the progress and reports of builds.
pub trait Observer: Send {
    /// Receives the number of units done and the total. Returning `Break` stops the build.
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> ControlFlow<()>;
    /// The exports have been read, with these findings.
    fn report(&mut self, report: &Report);
    /// The exports in the last report can be served.
    fn exports(&mut self, _: &ExportSet) {}
    /// Another process has read the exports, with these findings.
    fn relay(&mut self, report: RenderedReport);
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&mut self, _: Phase, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn report(&mut self, _: &Report) {}

    fn relay(&mut self, _: RenderedReport) {}
}
