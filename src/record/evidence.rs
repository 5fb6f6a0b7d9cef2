//! Evidence for single properties of a product. Properties without any rest on the record's sources
//! and date.

use serde::{Deserialize, Serialize};

use super::CalendarDate;

/// The evidence for one property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub property: Box<str>,
    /// Never empty; in the order given.
    pub sources: Box<[EvidenceSource]>,
}

/// A source for a property's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceSource {
    /// A valid URI.
    pub url: Box<str>,
    /// The source's label, if it's one of the record's sources.
    pub label: Option<Box<str>>,
    /// If it isn't stated, the record's date applies.
    pub checked_on: Option<CalendarDate>,
    /// What the source says.
    pub quote: Option<Box<str>>,
    /// The address of a copy that doesn't change: a valid URI.
    pub archived: Option<Box<str>>,
}

impl Evidence {
    /// The date of the oldest check of a source.
    pub fn oldest(&self) -> Option<CalendarDate> {
        self.sources.iter().filter_map(|source| source.checked_on).min()
    }
}
