//! Proposes attributes: properties that no export declares but most products have, with values of
//! one type.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::HashSet;

use super::ParsedExport;
use super::property::{LISTED_VALUES, Properties};
use super::values::location_of;
use crate::export::budget::PROPERTY_CHARS;
use crate::export::finding::Findings;
use crate::export::{Code, Finding};
use crate::record::{Attribute, AttributeType, Attributes, MAX_ATTRIBUTES, Property};
use crate::text::shorten::is_longer;

/// A property isn't worth a filter if fewer products than this have it.
const FEWEST_PRODUCTS: usize = 10;

/// Maximum number of proposals.
const MOST: usize = 10;

/// The types from narrowest to widest: dates are also text.
const NARROWEST_FIRST: [AttributeType; AttributeType::ALL.len()] =
    [AttributeType::Boolean, AttributeType::Number, AttributeType::Date, AttributeType::Text];

/// A property across all documents.
#[derive(Debug, Default)]
struct Candidate {
    products: usize,
    /// The first product that has the property: document and index.
    first: (usize, usize),
    /// How many values don't fit each type.
    misfits: [usize; AttributeType::ALL.len()],
    /// Hashes of the property's values. More than [`LISTED_VALUES`] of them are too many to list.
    values: HashSet<u64>,
}

pub(super) fn advise(
    exports: &[ParsedExport<'_>],
    properties: &Properties,
    attributes: &Attributes,
    findings: &mut Findings,
) {
    let mut proposed: Vec<_> = candidates(properties, attributes)
        .into_iter()
        .filter(|(_, of)| of.products >= FEWEST_PRODUCTS && of.products * 2 >= properties.products)
        .filter_map(|(name, of)| Some((name, of.kind()?, of)))
        .collect();
    proposed.sort_by_key(|(_, _, of)| Reverse(of.products));
    proposed.truncate(MOST.min(MAX_ATTRIBUTES - attributes.len()));
    for (name, kind, of) in proposed {
        findings.add(Code::UndeclaredAttribute, exports[of.first.0].file.shared_path(), || Finding {
            code: Code::UndeclaredAttribute,
            location: location_of(exports, of.first, name),
            message: format!(
                "{} of {} products have `{name}`, but readers can't filter by it: it isn't declared as an attribute",
                of.products, properties.products
            ),
            help: format!(
                "if they should, add this to an export's `attributes`: {}",
                Attribute::new(name, &label(name), kind).declaration()
            ),
            related: Vec::new(),
        });
    }
}

/// The properties that could be attributes but aren't declared, by name.
fn candidates<'p>(properties: &'p Properties, attributes: &Attributes) -> BTreeMap<&'p str, Candidate> {
    let is_possible = |name: &str| {
        attributes.number(name).is_none()
            && Property::of_software(name).is_none()
            && !name.contains(':')
            && !is_longer(name, PROPERTY_CHARS)
    };
    let mut candidates: BTreeMap<&str, Candidate> = BTreeMap::new();
    for (number, document) in properties.documents.iter().enumerate() {
        let possible = document.iter().filter(|(name, property)| property.products > 0 && is_possible(name));
        for (name, property) in possible {
            let first = Candidate { first: (number, property.first), ..Candidate::default() };
            let candidate = candidates.entry(name).or_insert(first);
            candidate.products += property.products;
            for (count, misfits) in candidate.misfits.iter_mut().zip(property.misfits) {
                *count += misfits.count;
            }
            candidate.values.extend(&property.values);
        }
    }
    candidates
}

impl Candidate {
    /// The type of its values, if a filter would be useful: products share a few text values, or
    /// the values have an order.
    fn kind(&self) -> Option<AttributeType> {
        let kind = NARROWEST_FIRST.into_iter().find(|kind| self.misfits[*kind as usize] == 0)?;
        let values = self.values.len();
        let is_shared = kind.is_ordered() || (values <= LISTED_VALUES && values * 2 <= self.products);
        (values > 1 && is_shared).then_some(kind)
    }
}

/// Turns a property's name into a label: `price_per_seat` becomes `Price per seat`.
fn label(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.trim().chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => name.to_owned(),
    }
}
