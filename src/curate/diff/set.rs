//! One side of a comparison: a set of exports whose records are stored as written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Entry, Json};
use crate::catalogue::Catalogue;
use crate::export::{Export, prefix_ids};
use crate::record::{EvidenceStatus, Ids, identity};

/// The sections of an envelope. Its other members are compared as the export's own fields.
const SECTIONS: [&str; 6] = ["software", "categories", "reviews", "glossary", "synonyms", "pins"];

/// A set of valid exports. Contains their documents and a few fields of each record.
#[derive(Debug, Default)]
pub struct Set {
    pub(super) exports: Vec<Entry>,
    pub(super) software: Vec<Record>,
    pub(super) categories: Vec<Entry>,
    pub(super) reviews: Vec<Entry>,
    pub(super) glossary: Vec<Entry>,
    pub(super) synonyms: Vec<Entry>,
    pub(super) pins: Vec<Entry>,
}

#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("the export `{export}` can't be compared")]
    Document {
        export: String,
        #[source]
        error: serde_json::Error,
    },
    #[error("the export `{export}`'s document can't be read")]
    Read {
        export: String,
        #[source]
        error: io::Error,
    },
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) entry: Entry,
    pub(super) url: Box<str>,
    pub(super) status: EvidenceStatus,
    /// The names of its categories, each category only once.
    pub(super) categories: Vec<Box<str>>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    evidence_status: EvidenceStatus,
    #[serde(borrow)]
    category: Option<&'a RawValue>,
    #[serde(borrow)]
    categories: Option<&'a RawValue>,
}

impl Set {
    /// Builds a set from valid exports, or from the valid part of a set.
    pub fn of<'e>(exports: impl Iterator<Item = (&'e Export, io::Result<Bytes>)>) -> Result<Self, SetError> {
        Self::read(exports.map(|(export, document)| {
            let id = &export.id;
            let document = document.map_err(|error| SetError::Read { export: id.to_string(), error })?;
            Ok((&**id, &*export.id_prefix, document))
        }))
    }

    pub fn from_catalogue(catalogue: &Catalogue) -> Result<Self, SetError> {
        Self::read(catalogue.tables.exports.iter().map(|export| {
            let id = &*export.resource.id;
            let read = || {
                let mut document = Vec::new();
                export.open(catalogue)?.json()?.read_to_end(&mut document)?;
                Ok(document.into())
            };
            let document = read().map_err(|error| SetError::Read { export: id.to_owned(), error })?;
            Ok((id, export.resource.id_prefix.as_deref().unwrap_or_default(), document))
        }))
    }

    /// Builds a set from the id, prefix and document of each valid export. The prefix, which may be
    /// empty, is prepended to product and review ids, as it is when they're served.
    pub fn read<'d>(
        documents: impl IntoIterator<Item = Result<(&'d str, &'d str, Bytes), SetError>>,
    ) -> Result<Self, SetError> {
        let mut set = Self::default();
        for document in documents {
            let (id, prefix, document) = document?;
            set.push(id, prefix, &document)?;
        }
        set.name_ids();
        Ok(set)
    }

    /// Assigns categories and glossary terms the ids that they're served under.
    fn name_ids(&mut self) {
        for items in [&mut self.categories, &mut self.glossary] {
            let ids = Ids::of(items.iter().map(|item| &*item.name));
            for item in items {
                item.id = ids.id(&item.name).into();
            }
        }
    }

    pub fn has_export(&self, id: &str) -> bool {
        self.exports.iter().any(|export| &*export.id == id)
    }

    fn push(&mut self, id: &str, prefix: &str, document: &Bytes) -> Result<(), SetError> {
        let fault = |error| SetError::Document { export: id.to_owned(), error };
        let mut members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(document).map_err(fault)?;
        let export: Arc<str> = id.into();
        let sections = SECTIONS.map(|name| members.remove(name));
        let (software_start, reviews_start) = (self.software.len(), self.reviews.len());
        for (section, value) in SECTIONS.into_iter().zip(sections) {
            // A section that isn't an array only triggers a warning, and has no records.
            let elements = value.and_then(|value| serde_json::from_str::<Vec<&RawValue>>(value.get()).ok());
            for element in elements.unwrap_or_default() {
                let json = Json(document.slice_ref(element.get().as_bytes()));
                self.element(section, &export, json).map_err(fault)?;
            }
        }
        if !prefix.is_empty() {
            let software = self.software[software_start..].iter_mut().map(|record| &mut record.entry.id);
            // The name of a review is its product's id.
            let reviews = self.reviews[reviews_start..].iter_mut().map(|review| (&mut review.id, &mut review.name));
            let (reviews, references) = reviews.unzip();
            prefix_ids(prefix, software.collect(), reviews, references);
        }
        let own = serde_json::to_vec(&members).map_err(fault)?;
        let name = members.get("name").and_then(|name| serde_json::from_str::<String>(name.get()).ok());
        let name = name.unwrap_or_default().into();
        self.exports.push(Entry { id: id.into(), name, export, value: Json(own.into()) });
        Ok(())
    }

    fn element(&mut self, section: &str, export: &Arc<str>, json: Json) -> Result<(), serde_json::Error> {
        let export = Arc::clone(export);
        if section == "software" {
            self.software.push(Record::read(json, export)?);
            return Ok(());
        }
        let value: serde_json::Value = serde_json::from_slice(&json.0)?;
        let text = |key: &str| value.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let entry = |id: &str, name: &str| Entry { id: id.into(), name: name.into(), export, value: json };
        match section {
            "categories" => self.categories.push(entry("", text("name"))),
            "reviews" => self.reviews.push(entry(text("id"), text("software_id"))),
            "glossary" => self.glossary.push(entry("", text("term"))),
            "pins" => {
                let pin = pin(&value);
                self.pins.push(entry(&pin, &pin));
            }
            _ => {
                let group = synonyms(&value);
                self.synonyms.push(entry(&group, &group));
            }
        }
        Ok(())
    }
}

impl Record {
    fn read(json: Json, export: Arc<str>) -> Result<Self, serde_json::Error> {
        let head: Head<'_> = serde_json::from_slice(&json.0)?;
        // Values of other types only trigger warnings; they don't count as categories.
        let main = head.category.and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let others = head.categories.and_then(|value| serde_json::from_str::<Vec<String>>(value.get()).ok());
        let mut categories: Vec<Box<str>> = Vec::new();
        for name in main.into_iter().chain(others.unwrap_or_default()) {
            if categories.iter().all(|known| identity(known) != identity(&name)) {
                categories.push(name.into());
            }
        }
        let (url, status) = (head.url.into(), head.evidence_status);
        let (id, name) = (head.id.into(), head.name.into());
        Ok(Self { entry: Entry { id, name, export, value: json }, url, status, categories })
    }
}

/// A pin as one line: `ptw, permit to work → id, id`.
fn pin(pin: &serde_json::Value) -> String {
    let texts = |key: &str| {
        let texts = pin.get(key).and_then(serde_json::Value::as_array).into_iter().flatten();
        texts.filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(", ")
    };
    format!("{} → {}", texts("queries"), texts("software"))
}

/// A synonym group as one line: `a = b`, `a, b → c`, or `a, b (ambiguous)`.
fn synonyms(group: &serde_json::Value) -> String {
    let terms = |key: &str, separator: &str| {
        let terms = group.get(key)?.as_array()?.iter().map(|term| term.as_str().unwrap_or_default());
        Some(terms.collect::<Vec<_>>().join(separator))
    };
    let one_way = || Some(format!("{} → {}", terms("from", ", ")?, group.get("to")?.as_str()?));
    let ambiguous = || Some(format!("{} (ambiguous)", terms("ambiguous", ", ")?));
    terms("terms", " = ").or_else(one_way).or_else(ambiguous).unwrap_or_else(|| group.to_string())
}
