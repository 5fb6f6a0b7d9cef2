//! The results of checking a set's links, grouped by cause.

use serde::Serialize;

use super::{Code, Location};

/// A link that was checked, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkTarget {
    pub url: Box<str>,
    /// The address that the link redirects to, or where the redirects ended.
    pub to: Option<Box<str>>,
    pub checked_on: String,
    /// The day when the current run of failures began.
    pub failing_since: Option<String>,
    /// The link's location in each record that contains it.
    pub places: Vec<Location>,
}

/// Links with the same outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkGroup {
    /// The outcome's stable name.
    pub outcome: &'static str,
    /// The code of the findings about these links; `None` if they couldn't be checked.
    pub code: Option<Code>,
    pub cause: String,
    pub links: Vec<LinkTarget>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LinkReport {
    /// Number of distinct addresses.
    pub links: usize,
    /// How many of them were checked in this run. The others had been checked before and weren't
    /// due.
    pub asked: usize,
    /// The links that need attention or couldn't be checked, worst first.
    pub groups: Vec<LinkGroup>,
}
