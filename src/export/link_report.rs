//! What came of asking for the links of a set, grouped by cause.

use serde::Serialize;

use super::{Code, Location};

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkTarget {
    pub url: Box<str>,
    /// The address that it redirects to, or at which the redirects ended.
    pub to: Option<Box<str>>,
    /// The day on which it was last asked for.
    pub checked_on: String,
    /// The day since which each request has failed.
    pub failing_since: Option<String>,
    /// Its place in each record that has it.
    pub places: Vec<Location>,
}

/// Links with one outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkGroup {
    /// The stable name of the outcome.
    pub outcome: &'static str,
    /// The code of its findings; `None` for links that couldn't be checked.
    pub code: Option<Code>,
    /// The cause, for people.
    pub cause: String,
    pub links: Vec<LinkTarget>,
}

/// What came of asking for the links of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LinkReport {
    /// Number of different addresses.
    pub links: usize,
    /// How many of them were asked for now; the others had been before, and weren't due.
    pub asked: usize,
    /// The links that need attention or couldn't be checked, worst first.
    pub groups: Vec<LinkGroup>,
}
