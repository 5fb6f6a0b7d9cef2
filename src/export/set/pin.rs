//! Checks pins across the set: products that aren't in any export, queries pinned twice, too many
//! queries.

use foldhash::{HashMap, HashSet};

use super::ParsedExport;
use crate::export::budget::PINNED_QUERIES;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind};
use crate::record::Pin;

/// The ids of all pinned products.
pub(super) fn products(exports: &[ParsedExport<'_>]) -> HashSet<Box<str>> {
    let pins = exports.iter().flat_map(|export| &export.contents.pins);
    pins.flat_map(|entry| entry.value.pin.software.iter().cloned()).collect()
}

/// `unknown` contains the ids that no product has.
pub(super) fn check(exports: &mut [ParsedExport<'_>], unknown: &HashSet<Box<str>>, findings: &mut Findings) {
    unknown_products(exports, unknown, findings);
    let mut first = HashMap::default();
    for (at, export) in exports.iter_mut().enumerate() {
        let mut skipped = Vec::new();
        for entry in &export.contents.pins {
            if !export.is_served(SectionKind::Pins, entry.index) {
                continue;
            }
            let file = export.file.shared_path();
            let location = || export.location(SectionKind::Pins, entry.index, "queries", &entry.key);
            for query in &entry.value.pin.queries {
                let (number, index, earlier) =
                    first.entry(Pin::key(query)).or_insert_with(|| (at, entry.index, location()));
                if (*number, *index) != (at, entry.index) {
                    findings.add(Code::OverlappingPins, file, || Finding {
                        code: Code::OverlappingPins,
                        location: location(),
                        message: format!("`{query}` is pinned twice; the products pinned first come first"),
                        help: "merge the pins, or remove the query from one of them".to_owned(),
                        related: vec![Related { location: earlier.clone(), note: "and here".to_owned() }],
                    });
                }
            }
            if first.len() > PINNED_QUERIES {
                skipped.push(entry.index);
                findings.add(Code::TooManyPins, file, || Finding {
                    code: Code::TooManyPins,
                    location: location(),
                    message: format!("more than {PINNED_QUERIES} queries are pinned"),
                    help: "keep only the pins for the most frequent queries".to_owned(),
                    related: Vec::new(),
                });
            }
        }
        for index in skipped {
            export.contents.sections[SectionKind::Pins as usize].skip(index);
        }
    }
}

fn unknown_products(exports: &[ParsedExport<'_>], unknown: &HashSet<Box<str>>, findings: &mut Findings) {
    for export in exports {
        for entry in &export.contents.pins {
            for (id, place) in entry.value.pin.software.iter().zip(&entry.value.software) {
                if !unknown.contains(id) {
                    continue;
                }
                findings.add(Code::UnknownPinnedSoftware, export.file.shared_path(), || Finding {
                    code: Code::UnknownPinnedSoftware,
                    location: export.location(SectionKind::Pins, entry.index, "software", place),
                    message: format!("the pinned product `{id}` isn't in the directory"),
                    help: "correct the id, or remove it from the pin".to_owned(),
                    related: Vec::new(),
                });
            }
        }
    }
}
