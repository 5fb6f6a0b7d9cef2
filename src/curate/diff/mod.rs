//! The difference between two sets of exports: which records were added, removed and changed, field
//! by field.
//!
//! ```text
//! Set (old) ─┐
//!            ├─▶ compare ─▶ Difference ─▶ render::{text, markdown, html, json}
//! Set (new) ─┘
//! ```
//!
//! Products are matched by id. The order of keys, the order of elements in a section, white space,
//! and how a number is written (`1.0` or `1`) are ignored. The order of an array within a record
//! isn't, because responses preserve it.

mod compare;
pub mod render;
mod set;

pub use compare::compare;
pub use set::{Set, SetError};

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text::count::agreeing;

/// The complete difference between two sets: applying it to the old set yields the new one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Difference {
    pub summary: Summary,
    /// An export's fields are the envelope's members except its sections.
    pub exports: Changes,
    /// By id.
    pub software: Changes,
    /// Category descriptions, by category id.
    pub categories: Changes,
    /// Categories whose number of products differs, ordered by name.
    pub category_counts: Vec<CategoryCount>,
    /// Reviews, by id. The name of a review's entry is its product's id.
    pub reviews: Changes,
    /// Glossary terms, by id.
    pub glossary: Changes,
    /// Synonym groups, which are only ever added or removed.
    pub synonyms: Changes,
    /// Pins, which are only ever added or removed.
    pub pins: Changes,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.sections().iter().all(|(_, changes)| changes.is_empty())
    }

    /// The sections and their headings.
    fn sections(&self) -> [(&'static str, &Changes); 7] {
        [
            ("Exports", &self.exports),
            ("Products", &self.software),
            ("Categories", &self.categories),
            ("Reviews", &self.reviews),
            ("Glossary", &self.glossary),
            ("Synonyms", &self.synonyms),
            ("Pins", &self.pins),
        ]
    }
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Changes {
    /// Elements that are only in the new set, in the order they have there.
    pub added: Vec<Entry>,
    /// Elements that are only in the old set, in the order they have there.
    pub removed: Vec<Entry>,
    /// Elements that are in both sets but differ, in the new set's order.
    pub changed: Vec<Changed>,
}

impl Changes {
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// An element of a set; in a difference, one that's in only one of the two.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub id: Box<str>,
    pub name: Box<str>,
    /// The id of the element's export.
    pub export: Arc<str>,
    /// The element as written in the export.
    pub value: Json,
}

/// An element that's in both sets but differs.
#[derive(Debug, Clone, Serialize)]
pub struct Changed {
    /// The element's identity in the new set.
    pub id: Box<str>,
    pub name: Box<str>,
    pub export: Arc<str>,
    /// The id in the old set, if it changed while the product's name and URL didn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_id: Option<Box<str>>,
    /// The id of the element's export in the old set, if it moved to another export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_export: Option<Arc<str>>,
    /// How the evidence changed; only for products.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The fields that differ, by name.
    pub fields: Vec<FieldChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The sources were reviewed, or sources were added and none removed.
    Gained,
    /// The review was withdrawn, or sources or the date were removed and nothing was added.
    Lost,
    /// The date or the sources changed.
    Renewed,
}

impl Evidence {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gained => "gained",
            Self::Lost => "lost",
            Self::Renewed => "renewed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    pub field: String,
    /// `None` if the field was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// `None` if the field was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// If both values are arrays: the elements that are only in the new one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Value>,
    /// If both values are arrays: the elements that are only in the old one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Value>,
}

impl FieldChange {
    /// The field's name, or what stands for it if the element isn't an object.
    fn name(&self) -> &str {
        if self.field.is_empty() { "value" } else { &self.field }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CategoryCount {
    pub name: Box<str>,
    pub old: usize,
    pub new: usize,
}

/// JSON text that is serialised unchanged.
#[derive(Debug, Clone)]
pub struct Json(Bytes);

impl Json {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

const NAMED_EXPORTS: usize = 5;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub old_software: usize,
    pub new_software: usize,
    /// Products with reviewed sources in the old set.
    pub old_reviewed: usize,
    /// Products with reviewed sources in the new set.
    pub new_reviewed: usize,
    pub exports: Counts,
    /// The number of changed products includes renamed and moved ones.
    pub software: Counts,
    /// Products whose id changed.
    pub renamed: usize,
    pub moved: usize,
    pub evidence_gained: usize,
    pub evidence_lost: usize,
    pub evidence_renewed: usize,
    /// Category descriptions.
    pub categories: Counts,
    pub reviews: Counts,
    pub glossary: Counts,
    pub synonyms: Counts,
    pub pins: Counts,
    /// The exports whose products differ, by id.
    pub by_export: Vec<ExportCounts>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub added: usize,
    pub removed: usize,
    pub changed: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportCounts {
    pub export: Arc<str>,
    #[serde(flatten)]
    pub counts: Counts,
}

impl Counts {
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} added, {} removed, {} changed", self.added, self.removed, self.changed)
    }
}

impl fmt::Display for Summary {
    /// One line, such as `2 products added, 0 removed, 1 changed (1 with new evidence); reviews: 1
    /// added, 0 removed, 0 changed; in demo, qhse`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { added, removed, changed } = self.software;
        let noun = agreeing(added, "product", "products");
        write!(f, "{added} {noun} added, {removed} removed, {changed} changed")?;
        let details = [
            (self.evidence_gained, "with new evidence"),
            (self.evidence_lost, "with evidence lost"),
            (self.evidence_renewed, "with changed evidence"),
            (self.renamed, "with a new id"),
            (self.moved, "moved to another export"),
        ];
        let details: Vec<_> =
            details.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if !details.is_empty() {
            write!(f, " ({})", details.join(", "))?;
        }
        let sections = [
            ("exports", self.exports),
            ("categories", self.categories),
            ("reviews", self.reviews),
            ("glossary", self.glossary),
            ("synonyms", self.synonyms),
            ("pins", self.pins),
        ];
        for (name, counts) in sections.into_iter().filter(|(_, counts)| !counts.is_none()) {
            write!(f, "; {name}: {counts}")?;
        }
        let named: Vec<_> = self.by_export.iter().take(NAMED_EXPORTS).map(|of| &*of.export).collect();
        if !named.is_empty() {
            write!(f, "; in {}", named.join(", "))?;
        }
        match self.by_export.len().saturating_sub(NAMED_EXPORTS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
