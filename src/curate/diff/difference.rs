//! The complete difference of two sets: applied to the old set it makes the new one.

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Summary;

/// The difference of two sets of exports.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Difference {
    /// The counts.
    pub summary: Summary,
    /// Exports; their fields are the members of the envelope without its sections.
    pub exports: Changes,
    /// Products, by id.
    pub software: Changes,
    /// Descriptions of categories, by the category's id.
    pub categories: Changes,
    /// Categories with another number of products, in the order of their names.
    pub category_counts: Vec<CategoryCount>,
    /// Reviews, by id; the name is the id of the product.
    pub reviews: Changes,
    /// Glossary terms, by the term's id.
    pub glossary: Changes,
    /// Groups of synonyms, which are only added and removed.
    pub synonyms: Changes,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        [&self.exports, &self.software, &self.categories, &self.reviews, &self.glossary, &self.synonyms]
            .iter()
            .all(|changes| changes.is_empty())
    }
}

/// The changes of a section.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Changes {
    /// Elements that only the new set has, in its order.
    pub added: Vec<Entry>,
    /// Elements that only the old set has, in its order.
    pub removed: Vec<Entry>,
    /// Elements of both that differ, in the order of the new set.
    pub changed: Vec<Changed>,
}

impl Changes {
    /// Whether nothing differs.
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// An element that one set has.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// Its identity.
    pub id: Box<str>,
    pub name: Box<str>,
    /// The id of its export.
    pub export: Box<str>,
    /// The element as the export writes it.
    pub value: Json,
}

/// An element that differs.
#[derive(Debug, Clone, Serialize)]
pub struct Changed {
    /// Its identity in the new set.
    pub id: Box<str>,
    pub name: Box<str>,
    /// The id of its export in the new set.
    pub export: Box<str>,
    /// Its id in the old set, where that was another: a product with the same name and URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_id: Option<Box<str>>,
    /// Its export in the old set, where that was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_export: Option<Box<str>>,
    /// The change of a product's evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The fields that differ, by name.
    pub fields: Vec<FieldChange>,
}

/// How the evidence of a product changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The sources were reviewed; or sources were added, and none removed.
    Gained,
    /// The review was taken back; or sources or the date were removed, and none added.
    Lost,
    /// Another date, or other sources.
    Renewed,
}

impl Evidence {
    /// The value as JSON has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gained => "gained",
            Self::Lost => "lost",
            Self::Renewed => "renewed",
        }
    }
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// Its old value; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// Its new value; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// The elements that only the new one of two arrays has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Value>,
    /// The elements that only the old one of two arrays has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Value>,
}

/// The number of products in a category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CategoryCount {
    /// The category's name.
    pub name: Box<str>,
    /// Products in the old set.
    pub old: usize,
    /// Products in the new set.
    pub new: usize,
}

/// A JSON text, serialised as it is.
#[derive(Debug, Clone)]
pub struct Json(pub(super) Bytes);

impl Json {
    /// The text.
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
