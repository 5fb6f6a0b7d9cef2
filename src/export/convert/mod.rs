//! Converts a parsed document to the directory's values, with advice on what can't be used as is.
//!
//! The schema has already been checked. Here, a word that's too long to be searched is an error;
//! almost everything else is a warning. Records that lack an essential property are dropped.

mod blemish;
mod entry;
mod evidence;
mod host;
mod property;
mod software;
mod translation;

pub(super) use property::is_web;
pub use property::write_compact;

use std::ops::Range;

use self::blemish::Blemishes;
use super::finding::{Fault, Faults};
use super::id_prefix::PREFIX_CHARS;
use super::near_miss::NearMiss;
use super::pointer::Path;
use super::text::{Kind, Value};
use super::{Code, Export, Section, SectionKind, Sections, is_id_prefix, prefix_ids};
use crate::record::{
    Attribute, CalendarDate, Category, Corrections, ENVELOPE, GlossaryTerm, Pin, Review, Software, SynonymGroup,
};

pub(super) struct Contents {
    /// What the envelope says, without the elements of its arrays.
    pub(super) envelope: Export,
    pub(super) software: Vec<Entry<Product>>,
    pub(super) categories: Vec<Entry<Category>>,
    pub(super) reviews: Vec<Entry<Opinion>>,
    pub(super) glossary: Vec<Entry<Term>>,
    pub(super) synonyms: Vec<Entry<SynonymGroup>>,
    pub(super) pins: Vec<Entry<PinnedProducts>>,
    pub(super) attributes: Vec<Entry<Attribute>>,
    pub(super) sections: Sections,
}

/// An element of one of the envelope's arrays.
pub(super) struct Entry<T> {
    pub(super) index: usize,
    /// The location of the element's identifying value.
    pub(super) key: Range<usize>,
    pub(super) value: T,
}

/// A record that has at least an id.
pub(super) struct Product {
    pub(super) id: Box<str>,
    /// `None` if the record lacks something essential.
    pub(super) software: Option<Software>,
    pub(super) url: Range<usize>,
    pub(super) name: Range<usize>,
}

/// A review, and the location of its product's id.
pub(super) struct Opinion {
    pub(super) review: Review,
    pub(super) software_id: Range<usize>,
}

/// A glossary term, and the locations of its related terms.
pub(super) struct Term {
    pub(super) term: GlossaryTerm,
    pub(super) related: Vec<Range<usize>>,
}

/// A pin, and the locations of its products' ids.
pub(super) struct PinnedProducts {
    pub(super) pin: Pin,
    pub(super) software: Vec<Range<usize>>,
}

pub(super) struct Reader {
    faults: Faults,
    blemishes: Blemishes,
    today: CalendarDate,
}

/// Reads a document. The root may be invalid or not an object.
pub(super) fn read(root: Value<'_>, today: CalendarDate) -> (Contents, Faults) {
    let mut reader = Reader::new(today);
    let path = Path::Root;
    reader.near_misses(&mut NearMiss::new(&ENVELOPE), root, path);
    let text = |key| root.get(key).and_then(|value| value.as_str());
    let mut envelope = Export {
        name: text("name").unwrap_or_default().into(),
        license: text("license").unwrap_or_default().into(),
        as_of: text("as_of").map(Into::into),
        description: text("description").filter(|text| !text.trim().is_empty()).map(Into::into),
        ..Export::default()
    };
    if let Some(value) = root.get("name") {
        reader.blemishes.look(value, path.member("name"), &envelope.name);
    }
    if let Some(value) = root.get("as_of") {
        reader.date(value, path.member("as_of"));
    }
    envelope.language = reader.language(root);
    envelope.id_prefix = reader.id_prefix(root).unwrap_or_default();
    envelope.corrections = reader.corrections(root);
    let software = reader.software(root);
    envelope.language = envelope.language.or_else(|| translation::detected(&software));
    let attributes = reader.attributes(root, envelope.language.as_ref());
    let categories = reader.categories(root);
    let reviews = reader.reviews(root);
    let glossary = reader.glossary(root);
    let synonyms = reader.synonyms(root);
    let pins = reader.pins(root);
    let sections = SectionKind::ALL.map(|kind| Section::of(root, kind));
    if let Some(list) = root.get("software").filter(|list| list.kind() == Kind::Array)
        && sections.iter().all(|section| section.len() == 0)
    {
        let help = "add the records, or remove the file; an export that lost its records would also look like this";
        reader.report(Code::NoRecords, list, path.member("software"), "the export has no records", help);
    }
    let contents = Contents { envelope, software, categories, reviews, glossary, synonyms, pins, attributes, sections };
    reader.blemishes.report(&mut reader.faults);
    (contents, reader.faults)
}

impl Contents {
    /// Prepends the prefix to all product and review ids. Product ids in reviews and pins get it only
    /// if the product is in this document; otherwise they're already full ids.
    pub(super) fn prefix_ids(&mut self) {
        let Self { envelope, software, reviews, pins, .. } = self;
        if envelope.id_prefix.is_empty() {
            return;
        }
        let (mut review_ids, mut references) = (Vec::new(), Vec::new());
        for Opinion { review, .. } in reviews.iter_mut().map(|entry| &mut entry.value) {
            review_ids.push(&mut review.id);
            references.push(&mut review.software_id);
        }
        references.extend(pins.iter_mut().flat_map(|entry| &mut entry.value.pin.software));
        let products = software.iter_mut().map(|entry| &mut entry.value.id).collect();
        prefix_ids(&envelope.id_prefix, products, review_ids, references);
        for product in software.iter_mut().map(|entry| &mut entry.value) {
            if let Some(software) = &mut product.software {
                software.id.clone_from(&product.id);
            }
        }
    }
}

impl Reader {
    fn new(today: CalendarDate) -> Self {
        Self { faults: Faults::default(), blemishes: Blemishes::default(), today }
    }

    /// Reads the id prefix. If it can't be used, ignores it with a warning, as other optional
    /// properties are.
    fn id_prefix(&mut self, root: Value<'_>) -> Option<Box<str>> {
        let value = root.get("id_prefix")?;
        let prefix = value.as_str().filter(|text| is_id_prefix(text));
        if prefix.is_none() && !matches!(value.kind(), Kind::Null | Kind::Invalid) {
            let message = format!(
                "`id_prefix` must be 1 to {PREFIX_CHARS} ASCII letters, digits and `. _ : ~ -`, but is {}, so it isn't \
                 used",
                value.describe()
            );
            let help = "write a short prefix such as \"dpg:\", or leave it out";
            self.report(Code::EntryLeftOut, value, Path::Root.member("id_prefix"), message, help);
        }
        prefix.map(Into::into)
    }

    /// Reads where corrections are suggested. If the address can't be used, ignores it with a
    /// warning.
    fn corrections(&mut self, root: Value<'_>) -> Option<Corrections> {
        let value = root.get("corrections")?;
        let why = match Corrections::parse(value.as_str().as_deref()?) {
            Ok(corrections) => return Some(corrections),
            Err(why) => why,
        };
        let message = format!("`corrections` isn't used: {why}");
        let help = "write an address such as \"https://example.org/issues/new?title={name}\" or \
                    \"mailto:editors@example.org?subject={id}\", or leave it out";
        self.report(Code::EntryLeftOut, value, Path::Root.member("corrections"), message, help);
        None
    }

    fn report(
        &mut self,
        code: Code,
        value: Value<'_>,
        path: Path<'_>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.faults.report(code, value, path, message, help);
    }

    /// Suggests known keys instead of unknown ones that resemble them.
    fn near_misses(&mut self, known: &mut NearMiss, object: Value<'_>, path: Path<'_>) {
        let mut present = None;
        for (key, value) in object.members() {
            let name = key.as_str().unwrap_or_default();
            let Some(meant) = known.meant(&name, value) else { continue };
            // If the object has the known key too, the similar key isn't a misspelling: a `source`
            // next to `sources` means something else.
            let present = present.get_or_insert_with(|| known.present(object));
            let is_news = !present.contains(&meant) && !known.is_required(meant, object);
            if is_news && self.faults.count(Code::NearMissKey, &key.span()) {
                let meant = meant.name;
                let message = format!("the directory doesn't know the property `{name}`, but it knows `{meant}`");
                let help = format!("if you mean `{meant}`, rename it; otherwise leave it: it's returned as is");
                self.faults.keep(Fault::new(Code::NearMissKey, key.span(), path.member(&name), message, help));
            }
        }
    }
}
