//! Attributes of the set: each is declared alike wherever it is, and records have values of its type.

use foldhash::HashMap;

use super::ParsedExport;
use super::values::location_of;
use crate::export::convert::{Entry, Product};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::{Attribute, AttributeType, Attributes, BUILT_IN, MAX_ATTRIBUTES};

/// The most properties of a document whose values are looked at.
const MAX_PROPERTIES: usize = 1_000;

/// How many values of another type a finding names.
const EXAMPLES: usize = 3;

/// The products of a document with values that aren't of a type: their number and the first few.
#[derive(Debug, Clone, Copy, Default)]
struct Misfits {
    count: usize,
    first: [usize; EXAMPLES],
}

/// The values of the properties of documents, by document and property: what is no value of each type. A property may be declared by a later document.
#[derive(Debug, Default)]
pub(super) struct PropertyTypes(Vec<HashMap<Box<str>, [Misfits; AttributeType::ALL.len()]>>);

impl PropertyTypes {
    /// Adds a product of a document. Products must come in the order of the set.
    pub(super) fn push(&mut self, number: usize, entry: &Entry<Product>) {
        let Some(software) = &entry.value.software else { return };
        if self.0.len() <= number {
            self.0.resize_with(number + 1, HashMap::default);
        }
        let properties = &mut self.0[number];
        for (property, json) in &software.additional_properties {
            if !properties.contains_key(property) {
                if properties.len() == MAX_PROPERTIES {
                    continue;
                }
                properties.insert(property.clone(), Default::default());
            }
            let Some(misfits) = properties.get_mut(property) else { continue };
            let fits = AttributeType::fitting(json.get());
            for misfits in misfits.iter_mut().zip(fits).filter_map(|(misfits, fits)| (!fits).then_some(misfits)) {
                if let Some(place) = misfits.first.get_mut(misfits.count) {
                    *place = entry.index;
                }
                misfits.count += 1;
            }
        }
    }
}

/// Reports declarations that differ or are too many, which are skipped, and values of another type.
pub(super) fn check(exports: &mut [ParsedExport<'_>], types: &PropertyTypes, findings: &mut Findings) {
    let attributes = declared(exports, findings);
    for (number, properties) in types.0.iter().enumerate() {
        for (_, attribute) in attributes.iter().skip(BUILT_IN.len()) {
            let Some(misfits) = properties.get(&attribute.property) else { continue };
            let Misfits { count, first } = misfits[attribute.kind as usize];
            if count > 0 {
                report_misfits(exports, number, attribute, (count, &first[..count.min(EXAMPLES)]), findings);
            }
        }
    }
}

fn declared(exports: &mut [ParsedExport<'_>], findings: &mut Findings) -> Attributes {
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
                    findings.add(Code::DifferingAttribute, export.file.shared_path(), || Finding {
                        code: Code::DifferingAttribute,
                        location: location(),
                        message: format!("the attribute `{property}` is declared in another way than before"),
                        help: "declare it with the same label, type and unit everywhere, or only once: a declaration is for all exports"
                            .to_owned(),
                        related: vec![Related {
                            location: of.location(SectionKind::Attributes, earlier.index, "property", &earlier.key),
                            note: "first declared here".to_owned(),
                        }],
                    });
                }
                continue;
            }
            if attributes.number(property).is_none() && attributes.len() == MAX_ATTRIBUTES {
                skipped.push(*index);
                findings.add(Code::TooManyAttributes, export.file.shared_path(), || Finding {
                    code: Code::TooManyAttributes,
                    location: location(),
                    message: format!(
                        "`{property}` is one attribute too many; a directory has {MAX_ATTRIBUTES} at most"
                    ),
                    help: "declare only what readers filter by; all other properties are returned, too".to_owned(),
                    related: Vec::new(),
                });
                continue;
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
    findings.add(Code::WrongAttributeValue, exports[number].file.shared_path(), || Finding {
        code: Code::WrongAttributeValue,
        location: location(*index),
        message: match count {
            1 => format!("the value of `{property}` is not {wanted}, so the product isn't found by it"),
            _ => format!("{count} values of `{property}` are not {wanted}, so the products aren't found by them"),
        },
        help: format!("write {wanted}, or declare the attribute with another type"),
        related: others
            .iter()
            .map(|index| Related { location: location(*index), note: "and here".to_owned() })
            .collect(),
    });
}

const fn wanted(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::Text => "a text of at most 500 characters or a list of them",
        AttributeType::Number => "a number",
        AttributeType::Boolean => "true or false",
        AttributeType::Date => "a day that exists, as \"YYYY-MM-DD\"",
    }
}
