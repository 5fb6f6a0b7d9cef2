//! The values of properties used for counts and filters, and how many products have each value.
//! Only the values are stored, because there are many products but few values.

use std::ops::Range;

use bytes::Bytes;
use foldhash::HashMap;

use super::ParsedExport;
use crate::export::convert::{Entry, Product};
use crate::export::text::{self, Value};
use crate::export::{Limits, Location, SectionKind};
use crate::record::Software;
use crate::text::append;

/// Maximum size of a record that is searched for a value's location.
const RECORD_BYTES: usize = 1 << 20;

pub(super) struct Property {
    pub(super) keys: &'static [&'static str],
    pub(super) noun: &'static str,
    values: fn(&Software) -> &[Box<str>],
}

pub(super) const CATEGORIES: Property =
    Property { keys: &["category", "categories"], noun: "category", values: |software| &software.categories };

pub(super) const PROPERTIES: [Property; 5] = [
    CATEGORIES,
    Property { keys: &["tags"], noun: "tag", values: |software| &software.tags },
    Property { keys: &["standards"], noun: "standard", values: |software| &software.standards },
    Property { keys: &["deployment"], noun: "deployment", values: |software| &software.deployment },
    Property { keys: &["languages"], noun: "language", values: |software| &software.languages },
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub(super) products: usize,
    /// The first product with the value: document and index.
    pub(super) first: (usize, usize),
}

/// Where each value is used, by its exact spelling.
pub(super) type Uses = HashMap<Box<str>, Use>;

#[derive(Debug, Default)]
pub(super) struct ValueUses([Uses; PROPERTIES.len()]);

impl ValueUses {
    /// Adds a product from a document. Products must come in set order.
    pub(super) fn push(&mut self, number: usize, entry: &Entry<Product>) {
        let Some(software) = &entry.value.software else { return };
        for (property, uses) in PROPERTIES.iter().zip(&mut self.0) {
            for name in (property.values)(software) {
                match uses.get_mut(name) {
                    Some(of) => of.products += 1,
                    None => drop(uses.insert(name.clone(), Use { products: 1, first: (number, entry.index) })),
                }
            }
        }
    }

    pub(super) fn by_property(&self) -> impl Iterator<Item = (&'static Property, &Uses)> {
        PROPERTIES.iter().zip(&self.0)
    }

    pub(super) const fn categories(&self) -> &Uses {
        let [categories, ..] = &self.0;
        categories
    }
}

/// Finds a property's value in a product's record, given the keys that it may have. Parses the record
/// again, which is cheaper than keeping the location for every product.
pub(super) fn location(
    exports: &[ParsedExport<'_>],
    product: (usize, usize),
    keys: &[&'static str],
    name: &str,
) -> Location {
    locate(exports, product, keys[0], |record| named(record, keys, name))
}

/// Finds a property in a product's record.
pub(super) fn location_of(exports: &[ParsedExport<'_>], product: (usize, usize), key: &str) -> Location {
    locate(exports, product, key, |record| Some((key, None, record.get(key)?.span())))
}

/// Finds something in a product's record. If it isn't found, or if the record is too large to search,
/// the location is the whole record's, with the pointer to `key`.
fn locate<'k>(
    exports: &[ParsedExport<'_>],
    (number, index): (usize, usize),
    key: &'k str,
    find: impl FnOnce(Value<'_>) -> Option<Found<'k>>,
) -> Location {
    let export = &exports[number];
    let span = export.contents.sections[SectionKind::Software as usize].span(index);
    let bytes = if span.len() <= RECORD_BYTES { export.file.part(span.clone()) } else { Bytes::new() };
    let (document, _) = text::parse(&bytes, Limits::default().max_depth);
    let found = document.as_ref().and_then(|document| find(document.root()));
    let (key, position, place) = found.unwrap_or((key, None, 0..span.len()));
    let mut pointer = SectionKind::Software.pointer(index, key);
    if let Some(position) = position {
        append(&mut pointer, format_args!("/{position}"));
    }
    export.file.location(span.start + place.start..span.start + place.end, pointer)
}

/// A value in a record: the property, the index if it's an array, and the range.
type Found<'k> = (&'k str, Option<usize>, Range<usize>);

fn named(record: Value<'_>, keys: &[&'static str], name: &str) -> Option<Found<'static>> {
    keys.iter().copied().find_map(|key| {
        let value = record.get(key)?;
        if value.is_text(name) {
            return Some((key, None, value.span()));
        }
        let element = value.elements().enumerate().find(|(_, element)| element.is_text(name));
        element.map(|(position, element)| (key, Some(position), element.span()))
    })
}
