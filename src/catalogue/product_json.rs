//! A product's JSON: the item that lists show, and the members that a single product has in
//! addition.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::quality::FixedState;
use serde::Serialize;

use super::quality::Rating;
use crate::catalogue::resource::{
    CategoryRef, CategoryResource, DetailFields, ExportRef, Members, SoftwareDetail, SoftwareItem,
};
use crate::export::Export;
use crate::record::{Language, Software, canonical};
use crate::text::shorten::{LIST_CHARS, in_list, is_longer};

/// A product from another export that has the same website, and that export's id.
pub(super) type SameAs<'m> = (Cow<'m, Software>, &'m str);

/// The maximum number of categories that lists show per product.
pub const LIST_CATEGORIES: usize = 10;

/// A product's JSON as stored.
#[derive(Debug)]
pub struct ProductJson {
    /// The product as lists show it, a JSON object that starts with the id.
    pub(super) item: Vec<u8>,
    /// The members of a single product's object that its item doesn't have, as a JSON object. If
    /// the item is shortened, these are all members.
    pub(super) detail: Vec<u8>,
    pub(super) is_shortened: bool,
    /// A hash of the product's content, but not of its export's name, licence and date, because
    /// changing those would change every record in the export at once.
    pub content_hash: u64,
}

impl ProductJson {
    /// `same_as` contains the best of the products with the same website. `language` is the
    /// language of the product's own text.
    pub(super) fn new<'c>(
        software: &Software,
        language: Option<&Language>,
        shown: Rating,
        categories: impl Iterator<Item = &'c CategoryResource>,
        export: &Export,
        same_as: &[SameAs<'_>],
    ) -> Result<Self, serde_json::Error> {
        let computed = match (&software.rating, shown.value) {
            (None, Some(rating)) => Some(serde_json::value::to_raw_value(&rating)?),
            _ => None,
        };
        let categories: Vec<_> = categories.map(CategoryRef::from).collect();
        let mut item = SoftwareItem {
            id: Cow::Borrowed(&software.id),
            name: Cow::Borrowed(&software.name),
            tagline: software.tagline.as_deref().map(Cow::Borrowed),
            category: categories.first().map(|category| category.name.clone()),
            categories,
            rating: software.rating.as_ref().map(|rating| &*rating.text).or(computed.as_deref()),
            review_count: shown.review_count,
            website: Cow::Borrowed(&software.url),
            vendor: software.vendor.as_deref().map(Cow::Borrowed),
            offering_type: software.offering_type.as_str().into(),
            evidence_status: software.evidence_status.as_str().into(),
            evidence_checked_on: software.evidence_checked_on.as_deref().map(Cow::Borrowed),
            language: language.map(Cow::Borrowed),
            untranslated: Vec::new(),
        };
        let mut fields = DetailFields::new(software, shown.source, export, same_as);
        let is_shortened = is_shortened(&item);
        let write = |item: &SoftwareItem<'_>| {
            if !is_shortened {
                return Ok((serde_json::to_vec(item)?, None));
            }
            let mut short = item.clone();
            shorten(&mut short);
            Ok::<_, serde_json::Error>((serde_json::to_vec(&short)?, Some(serde_json::to_vec(item)?)))
        };
        let (stored, whole) = write(&item)?;
        let detail = serde_json::to_vec(&fields)?;
        let detail = whole.as_ref().map(|item| joined(item, &detail)).unwrap_or(detail);
        // How numbers are written and the order of additional properties don't count as content.
        let rating = item.rating.map(|rating| canonical(rating.get()));
        let rewritten = match rating {
            Some(Cow::Owned(rating)) => Some(serde_json::value::RawValue::from_string(rating)?),
            _ => None,
        };
        item.rating = rewritten.as_deref().or(item.rating);
        let (content, whole_content) = if rewritten.is_some() { write(&item)? } else { (stored.clone(), whole) };
        let Members(additional) = std::mem::replace(&mut fields.additional_properties, Members(Vec::new()));
        let mut additional: Vec<_> = additional.iter().map(|(name, json)| (&**name, canonical(json.get()))).collect();
        additional.sort_unstable();
        // Neither does what the record has in common with its whole export.
        fields.export = ExportRef { id: fields.export.id, ..ExportRef::default() };
        fields.corrections_url = None;
        let content = [content, whole_content.unwrap_or_default(), serde_json::to_vec(&(fields, additional))?];
        let content_hash = hash(&content.each_ref().map(Vec::as_slice));
        let item = stored;
        Ok(Self { item, detail, is_shortened, content_hash })
    }

    /// All of the product's members, as a JSON object.
    pub fn whole(&self) -> Vec<u8> {
        if self.is_shortened { self.detail.clone() } else { joined(&self.item, &self.detail) }
    }

    pub(super) fn detail_hash(&self) -> u64 {
        hash(&[&self.item, &self.detail])
    }
}

pub(super) fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    for part in parts {
        hasher.write(part);
    }
    hasher.finish()
}

/// Whether lists shorten the product's text or omit categories.
fn is_shortened(item: &SoftwareItem<'_>) -> bool {
    let texts = [Some(&item.name), item.tagline.as_ref(), item.vendor.as_ref()];
    item.categories.len() > LIST_CATEGORIES || texts.into_iter().flatten().any(|text| is_longer(text, LIST_CHARS))
}

/// Shortens a product's text the way lists do, and drops further categories.
pub fn shorten(item: &mut SoftwareItem<'_>) {
    item.categories.truncate(LIST_CATEGORIES);
    for text in [Some(&mut item.name), item.tagline.as_mut(), item.vendor.as_mut()].into_iter().flatten() {
        if let Cow::Owned(cut) = in_list(text) {
            *text = cut.into();
        }
    }
}

/// What's between an object's braces. The object must be written the way serde does, without white
/// space around it.
pub(super) fn members(object: &[u8]) -> &[u8] {
    if let [b'{', members @ .., b'}'] = object { members } else { &[] }
}

/// Composes a JSON object from values and from other objects' members, at the end of a buffer.
#[derive(Debug)]
pub struct ObjectWriter<B> {
    buffer: B,
    is_empty: bool,
}

impl<B: AsMut<Vec<u8>>> ObjectWriter<B> {
    pub fn new(mut buffer: B) -> Self {
        buffer.as_mut().push(b'{');
        Self { buffer, is_empty: true }
    }

    fn next(&mut self) -> &mut Vec<u8> {
        let json = self.buffer.as_mut();
        if !std::mem::replace(&mut self.is_empty, false) {
            json.push(b',');
        }
        json
    }

    /// Adds another object's members. It mustn't be empty.
    pub fn members(&mut self, object: &[u8]) {
        self.next().extend_from_slice(members(object));
    }

    /// Adds a member whose name doesn't need escaping.
    pub fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), serde_json::Error> {
        serde_json::to_writer(self.name(name), value)
    }

    /// Adds a member, given its value's JSON.
    pub fn json_member(&mut self, name: &str, json: &[u8]) {
        self.name(name).extend_from_slice(json);
    }

    /// Adds a member's name. The caller writes its value.
    pub fn name(&mut self, name: &str) -> &mut Vec<u8> {
        let json = self.next();
        for part in ["\"", name, "\":"] {
            json.extend_from_slice(part.as_bytes());
        }
        json
    }

    pub fn finish(mut self) -> B {
        self.buffer.as_mut().push(b'}');
        self.buffer
    }
}

fn joined(item: &[u8], detail: &[u8]) -> Vec<u8> {
    let mut object = ObjectWriter::new(Vec::with_capacity(item.len() + detail.len()));
    object.members(item);
    object.members(detail);
    object.finish()
}

impl SoftwareDetail<'_> {
    /// The product as a response body, `{"data":{…}}`.
    pub fn to_body(&self) -> Result<Vec<u8>, serde_json::Error> {
        let item = SoftwareItem { untranslated: Vec::new(), ..self.item.clone() };
        let (item, detail) = (serde_json::to_vec(&item)?, serde_json::to_vec(&self.detail)?);
        let mut body = ObjectWriter::new(Vec::with_capacity(item.len() + detail.len() + 64));
        let mut object = ObjectWriter::new(body.name("data"));
        object.members(&item);
        object.members(&detail);
        if !self.item.untranslated.is_empty() {
            object.member("untranslated", &self.item.untranslated)?;
        }
        object.finish();
        Ok(body.finish())
    }
}
