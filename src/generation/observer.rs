//! The progress and the reports of a build.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::export::{ExportSet, Report};

/// A phase of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading and checking, counted in bytes.
    Reading,
    /// Merging exports into one directory beyond memory, counted in exports.
    Merging,
    /// Indexing, counted in products.
    Indexing,
    /// Writing to disk; not counted.
    Writing,
}

/// A report as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedReport {
    /// A hash of its findings: the same ones needn't be logged twice.
    pub digest: String,
    pub text: String,
}

/// Gets the progress and the reports of builds.
pub trait Observer: Send {
    /// Gets the units done and the units in all. A break stops the build.
    fn progress(&mut self, phase: Phase, done: u64, total: u64) -> ControlFlow<()>;
    /// Exports were read, and this is what was found.
    fn report(&mut self, report: &Report);
    /// The exports of the last report can be served.
    fn exports(&mut self, _: &ExportSet) {}
    /// Another process has read exports, and this is what it found.
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
