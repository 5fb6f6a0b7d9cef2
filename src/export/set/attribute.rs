//! The attributes of the whole set: declarations that contradict each other, and proposals for more.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::ParsedExport;
use super::property::{EXAMPLES, LISTED_VALUES, Misfits, Properties};
use super::values::location_of;
use crate::export::budget::PROPERTY_CHARS;
use crate::export::convert::Entry;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, SectionKind};
use crate::record::{Attribute, AttributeType, Attributes, BUILT_IN, MAX_ATTRIBUTES, MAX_VALUES, Property};
use crate::text::count::Grouped;
use crate::text::shorten::is_longer;

/// Reports declarations that differ or exceed the limit, and skips them. Also reports values of the
/// wrong type, and attributes with too many values. Returns the directory's attributes.
pub(super) fn check(exports: &mut [ParsedExport<'_>], properties: &Properties, findings: &mut Findings) -> Attributes {
    let attributes = declared(exports, properties, findings);
    for (number, document) in properties.documents.iter().enumerate() {
        for (_, attribute) in attributes.iter().skip(BUILT_IN.len()) {
            let Some(property) = document.get(&attribute.property) else { continue };
            let Misfits { count, first } = property.misfits[attribute.kind as usize];
            if count > 0 {
                report_misfits(exports, number, attribute, (count, &first[..count.min(EXAMPLES)]), findings);
            }
        }
    }
    attributes
}

fn declared(exports: &mut [ParsedExport<'_>], properties: &Properties, findings: &mut Findings) -> Attributes {
    let mut attributes = Attributes::default();
    let mut first: HashMap<Box<str>, (usize, usize)> = HashMap::default();
    for number in 0..exports.len() {
        let mut skipped = Vec::new();
        let export = &exports[number];
        for (at, Entry { index, key, value }) in export.contents.attributes.iter().enumerate() {
            if !export.is_served(SectionKind::Attributes, *index) {
                continue;
            }
            let location = || export.location(SectionKind::Attributes, *index, "property", key);
            let property = &value.property;
            if let Some((of, at)) = first.get(property) {
                let (of, earlier) = (&exports[*of], &exports[*of].contents.attributes[*at]);
                if !earlier.value.is_declared_like(value) {
                    skipped.push(*index);
                    findings.add(Code::DifferingAttribute, export.file.shared_path(), |code| {
                        let message = format!("this declaration of the attribute `{property}` differs from an earlier one");
                        let help = "declare it with the same label, type and unit everywhere, or only once: a declaration \
                                    applies to all exports";
                        let first = of.location(SectionKind::Attributes, earlier.index, "property", &earlier.key);
                        Finding::new(code, location(), message, help).with_related(first, "first declared here")
                    });
                }
                continue;
            }
            if attributes.number(property).is_none() && attributes.len() == MAX_ATTRIBUTES {
                skipped.push(*index);
                findings.add(Code::TooManyAttributes, export.file.shared_path(), |code| {
                    let message = format!(
                        "the attribute `{property}` exceeds the limit; a directory can have at most {MAX_ATTRIBUTES}"
                    );
                    let help = "declare only what readers filter by; other properties are still returned";
                    Finding::new(code, location(), message, help)
                });
                continue;
            }
            if properties.has_too_many_values(property) {
                findings.add(Code::TooManyValues, export.file.shared_path(), |code| {
                    let message = format!("`{property}` has more than {} distinct values", Grouped(MAX_VALUES));
                    let help = "every value takes up memory: declare something that readers filter by, such as groups of \
                                these values; single values can be found by searching";
                    Finding::new(code, location(), message, help)
                });
            }
            first.insert(property.clone(), (number, at));
            attributes.declare(value.clone());
        }
        for index in skipped {
            exports[number].contents.sections[SectionKind::Attributes as usize].skip(index);
        }
    }
    attributes
}

fn report_misfits(
    exports: &[ParsedExport<'_>],
    number: usize,
    attribute: &Attribute,
    (count, first): (usize, &[usize]),
    findings: &mut Findings,
) {
    let (property, wanted) = (&attribute.property, wanted(attribute.kind));
    let location = |index: usize| location_of(exports, (number, index), property);
    let [index, others @ ..] = first else { return };
    findings.add(Code::WrongAttributeValue, exports[number].file.shared_path(), |code| {
        let message = match count {
            1 => format!("the value of `{property}` isn't {wanted}, so filters and counts ignore it"),
            _ => format!("{count} values of `{property}` aren't {wanted}, so filters and counts ignore them"),
        };
        let help = format!("write {wanted}, or declare the attribute with another type");
        let finding = Finding::new(code, location(*index), message, help);
        others.iter().fold(finding, |finding, index| finding.with_related(location(*index), "and here"))
    });
}

const fn wanted(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::Text => "a string of at most 500 characters or a list of such strings",
        AttributeType::Number => "a number",
        AttributeType::Boolean => "true or false",
        AttributeType::Date => "a date that exists, as \"YYYY-MM-DD\"",
    }
}

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
        findings.add(Code::UndeclaredAttribute, exports[of.first.0].file.shared_path(), |code| {
            let message = format!(
                "{} of {} products have `{name}`, but readers can't filter by it: it isn't declared as an attribute",
                of.products, properties.products
            );
            let declaration = Attribute::new(name, &label(name), kind).declaration();
            let help = format!("if they should, add this to an export's `attributes`: {declaration}");
            Finding::new(code, location_of(exports, of.first, name), message, help)
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
