//! Checks attributes across the set: all declarations of an attribute must agree, and records must
//! have values of its type.

use foldhash::HashMap;

use super::ParsedExport;
use super::property::{EXAMPLES, Misfits, Properties};
use super::values::location_of;
use crate::export::convert::Entry;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::{Attribute, AttributeType, Attributes, BUILT_IN, MAX_ATTRIBUTES, MAX_VALUES};
use crate::text::count::Grouped;

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
                    findings.add(Code::DifferingAttribute, export.file.shared_path(), || Finding {
                        code: Code::DifferingAttribute,
                        location: location(),
                        message: format!("this declaration of the attribute `{property}` differs from an earlier one"),
                        help: "declare it with the same label, type and unit everywhere, or only once: a declaration applies to all exports"
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
                        "the attribute `{property}` exceeds the limit; a directory can have at most {MAX_ATTRIBUTES}"
                    ),
                    help: "declare only what readers filter by; other properties are still returned".to_owned(),
                    related: Vec::new(),
                });
                continue;
            }
            if properties.has_too_many_values(property) {
                findings.add(Code::TooManyValues, export.file.shared_path(), || Finding {
                    code: Code::TooManyValues,
                    location: location(),
                    message: format!("`{property}` has more than {} distinct values", Grouped(MAX_VALUES)),
                    help: "every value takes up memory: declare something that readers filter by, such as groups of these values; single values can be found by searching"
                        .to_owned(),
                    related: Vec::new(),
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
    findings.add(Code::WrongAttributeValue, exports[number].file.shared_path(), || Finding {
        code: Code::WrongAttributeValue,
        location: location(*index),
        message: match count {
            1 => format!("the value of `{property}` isn't {wanted}, so filters and counts ignore it"),
            _ => format!("{count} values of `{property}` aren't {wanted}, so filters and counts ignore them"),
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
        AttributeType::Text => "a string of at most 500 characters or a list of such strings",
        AttributeType::Number => "a number",
        AttributeType::Boolean => "true or false",
        AttributeType::Date => "a date that exists, as \"YYYY-MM-DD\"",
    }
}
