//! Documents as they're stored in a cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::catalogue::{
    CatalogueBuildError, Collation, Merged, MergedProduct, ObjectWriter, ProductPlace, ProductVersion,
};
use crate::record::{Attribute, Attributes, Language};

/// The maximum length of a document's id in bytes.
const MAX_KEY_BYTES: usize = 512;
/// Starts the keys that are hashes.
pub(super) const HASHED: &str = "blake3:";
/// Separates an attribute value's key and the value as written.
pub(super) const SEPARATOR: char = '\0';
/// How many bytes of a name's collation key are stored.
const MAX_NAME_BYTES: usize = 256;
/// The member that a product's document has in addition to the product itself.
const INTERNAL: &str = "directory";

/// A document and what's compared to find out if it has changed.
#[derive(Debug)]
pub(super) struct Document {
    /// The document's id in the index.
    pub(super) key: String,
    pub(super) source: Vec<u8>,
    pub(super) hash: u64,
    /// What the change log says about it, if it's a product.
    pub(super) version: Option<ProductVersion>,
}

/// A record's id as a document's id: a hash if it's too long.
pub(super) fn key(id: &str) -> Cow<'_, str> {
    if id.len() <= MAX_KEY_BYTES && !id.starts_with(HASHED) {
        return id.into();
    }
    format!("{HASHED}{}", blake3::hash(id.as_bytes()).to_hex()).into()
}

pub(super) fn hash(source: &[u8]) -> u64 {
    let mut start = [0; 8];
    start.copy_from_slice(&blake3::hash(source).as_bytes()[..8]);
    u64::from_be_bytes(start)
}

/// The field with an attribute's values.
pub(super) fn values_field(property: &str) -> String {
    format!("{INTERNAL}.values.{}", values_name(property))
}

/// Dots and other symbols have a meaning in field names.
fn values_name(property: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if (1..=64).contains(&property.len()) && property.bytes().all(is_plain) {
        return property.into();
    }
    format!("hash-{}", &blake3::hash(property.as_bytes()).to_hex()[..16]).into()
}

/// What searches need besides the product itself. It's the last member of a product's document.
#[derive(Debug, Serialize)]
struct Internal<'p> {
    key: &'p str,
    /// The content hash in the change log, as 16 hexadecimal digits.
    content: String,
    /// The collation key of the name, in hexadecimal.
    name: String,
    quality: i64,
    /// The evidence date, if it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_on: Option<String>,
    /// The date of the oldest check of a single property, if it's older.
    #[serde(skip_serializing_if = "Option::is_none")]
    older_evidence: Option<String>,
    values: BTreeMap<Cow<'p, str>, Vec<String>>,
    #[serde(flatten)]
    texts: Texts<'p>,
    /// A hash of the document without this member, as 16 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

/// Texts by how they're analysed.
#[derive(Debug, Default, Serialize)]
struct Texts<'p> {
    /// English translations and the values of attributes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    text: Vec<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    german: Vec<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    french: Vec<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other: Vec<Cow<'p, str>>,
}

impl<'p> Texts<'p> {
    /// The texts in this language. English text is only listed if it's a translation.
    fn in_language(&mut self, language: &str) -> &mut Vec<Cow<'p, str>> {
        match language {
            "en" => &mut self.text,
            "de" => &mut self.german,
            "fr" => &mut self.french,
            _ => &mut self.other,
        }
    }
}

/// A product's document: the product as the API returns it, and what searches need besides.
pub(super) fn product(
    merged: &Merged,
    product: &MergedProduct<'_>,
    collation: &Collation,
) -> Result<Document, CatalogueBuildError> {
    let json = merged.json(product)?;
    let (software, key) = (&product.software, key(&product.software.id));
    let mut name = collation.key(&software.name);
    name.truncate(MAX_NAME_BYTES);
    let mut texts = Texts::default();
    let own = merged.language(product).map(Language::primary);
    if let Some(own) = own.filter(|own| *own != "en") {
        let one = [Some(&software.name), software.tagline.as_ref(), software.description.as_ref()];
        let many = [&software.aliases, &software.tags, &software.features, &software.categories];
        let all = one.into_iter().flatten().chain(many.into_iter().flatten());
        texts.in_language(own).extend(all.map(|text| Cow::Borrowed(&**text)));
    }
    let categories = merged.categories(&product.row.categories);
    for (language, name) in categories.flat_map(|category| category.translations.of("name")) {
        texts.in_language(language.primary()).push(name.into());
    }
    for (language, _, text) in software.translations.iter() {
        texts.in_language(language.primary()).push(text.into());
    }
    let searched = merged.attributes.searched().flat_map(|attribute| attribute.values_of(software).into_owned());
    texts.text.extend(searched.map(|value| Cow::Owned(value.into())));
    let oldest = software.oldest_evidence();
    let mut internal = Internal {
        key: &key,
        content: format!("{:016x}", json.content_hash),
        name: hex::encode(name),
        quality: product.quality(),
        checked_on: product.row.evidence_checked_on.map(|day| day.to_string()),
        older_evidence: oldest.filter(|_| oldest != product.row.evidence_checked_on).map(|day| day.to_string()),
        values: values(&merged.attributes, product),
        texts,
        hash: None,
    };
    let whole = json.whole();
    let hash = hash(&[&whole[..], &serde_json::to_vec(&internal)?].concat());
    internal.hash = Some(format!("{hash:016x}"));
    let mut source = ObjectWriter::new(Vec::with_capacity(whole.len() * 2));
    source.members(&whole);
    source.member(INTERNAL, &internal)?;
    let (id, evidence_checked_on) = (software.id.clone(), product.row.evidence_checked_on);
    let version = ProductVersion { id, hash: json.content_hash, evidence_checked_on, place: ProductPlace::default() };
    Ok(Document { key: key.into_owned(), source: source.finish(), hash, version: Some(version) })
}

/// The attributes' values, each as its key and as written.
fn values<'p>(attributes: &'p Attributes, product: &MergedProduct<'_>) -> BTreeMap<Cow<'p, str>, Vec<String>> {
    let mut all = BTreeMap::new();
    for (_, attribute) in attributes.iter() {
        let mut values: Vec<(String, Box<str>)> = Vec::new();
        for value in &*attribute.values_of(&product.software) {
            let Some(key) = attribute.kind.key(value) else { continue };
            if values.iter().all(|(other, _)| *other != key) {
                values.push((key, value.clone()));
            }
        }
        if !values.is_empty() {
            let values = values.into_iter().map(|(key, value)| format!("{key}{SEPARATOR}{value}"));
            all.insert(values_name(&attribute.property), values.collect());
        }
    }
    all
}

/// A value as written, from its form in the index.
pub(super) fn written(value: &str) -> &str {
    // The value contains as many separators as its key, so the middle one is between them.
    let separators: Vec<_> = value.match_indices(SEPARATOR).collect();
    separators.get(separators.len() / 2).map_or(value, |(at, _)| &value[at + SEPARATOR.len_utf8()..])
}

/// The kinds of documents in the directory's index.
pub(super) mod kind {
    pub(crate) const ATTRIBUTE: &str = "attribute";
    pub(crate) const CATEGORY: &str = "category";
    pub(crate) const TERM: &str = "term";
    pub(crate) const EXPORT: &str = "export";
    /// An export's synonym groups.
    pub(crate) const SYNONYMS: &str = "synonyms";
    /// An export's pins.
    pub(crate) const PINS: &str = "pins";
    /// A step of the change log.
    pub(crate) const STEP: &str = "step";
    pub(crate) const REVIEW: &str = "review";
    /// What's published, written last.
    pub(crate) const PUBLICATION: &str = "publication";
    /// A run of `--reindex` that hasn't finished.
    pub(crate) const PENDING: &str = "pending";
}

/// A document of the directory's index. The key is unique within its kind.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DirectoryDocument {
    pub(super) kind: String,
    pub(super) key: String,
    pub(super) data: Box<RawValue>,
    /// What a review can be found by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) review: Option<ReviewFields>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReviewFields {
    /// The key of the product's document.
    pub(super) software: String,
    pub(super) rating: u8,
    pub(super) verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) created_at_seconds: Option<i64>,
}

impl DirectoryDocument {
    pub(super) fn new(kind: &str, id: &str, data: &impl Serialize) -> Result<Self, serde_json::Error> {
        let key = key(&format!("{kind}:{id}")).into_owned();
        Ok(Self { kind: kind.to_owned(), key, data: to_raw_value(data)?, review: None })
    }

    pub(super) fn document(&self) -> Result<Document, serde_json::Error> {
        let mut source = serde_json::to_vec(self)?;
        let hash = hash(&source);
        source.pop();
        source.extend_from_slice(format!(",\"hash\":\"{hash:016x}\"}}").as_bytes());
        Ok(Document { key: self.key.clone(), source, hash, version: None })
    }
}

/// An attribute as stored: its declaration and what's known about its values.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredAttribute {
    /// The attribute's position.
    pub(super) number: usize,
    pub(super) attribute: Attribute,
    pub(super) products: u32,
    pub(super) ranges: Vec<Box<str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_become_hashes_and_no_id_can_be_taken_for_one() {
        assert_eq!(key("a/b c"), "a/b c");
        let long = "é".repeat(300);
        assert!(key(&long).starts_with(HASHED) && key(&long).len() < 80);
        assert_ne!(key(&key(&long)), key(&long));
    }

    #[test]
    fn values_are_read_back_as_written() {
        for (key, value) in [("iso9001", "ISO 9001"), ("", ""), ("a\0b", "A\0B")] {
            assert_eq!(written(&format!("{key}{SEPARATOR}{value}")), value);
        }
        assert_eq!(values_field("price"), "directory.values.price");
        assert!(values_field("a.b").starts_with("directory.values.hash-"));
    }
}
