//! The complete difference between two sets: applying it to the old set yields the new one.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Summary;

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
        [&self.exports, &self.software, &self.categories, &self.reviews, &self.glossary, &self.synonyms, &self.pins]
            .iter()
            .all(|changes| changes.is_empty())
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

/// An element that's in only one of the sets.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub id: Box<str>,
    pub name: Box<str>,
    /// The id of the element's export.
    pub export: Box<str>,
    /// The element as written in the export.
    pub value: Json,
}

/// An element that's in both sets but differs.
#[derive(Debug, Clone, Serialize)]
pub struct Changed {
    /// The element's identity in the new set.
    pub id: Box<str>,
    pub name: Box<str>,
    pub export: Box<str>,
    /// The id in the old set, if it changed while the product's name and URL didn't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_id: Option<Box<str>>,
    /// The id of the element's export in the old set, if it moved to another export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_export: Option<Box<str>>,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CategoryCount {
    pub name: Box<str>,
    pub old: usize,
    pub new: usize,
}

/// JSON text that is serialised unchanged.
#[derive(Debug, Clone)]
pub struct Json(pub(super) Bytes);

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
