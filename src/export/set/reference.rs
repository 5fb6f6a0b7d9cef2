//! Pins, which refer to products, and limits on pins and synonym groups.

use foldhash::{HashMap, HashSet};

use super::ParsedExport;
use crate::export::budget::{PINNED_QUERIES, TERM_GROUPS};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, SectionKind};
use crate::record::{Pin, SynonymGroup};
use crate::text::analyse::words;
use crate::text::stem::Stems;

/// The ids of all pinned products.
pub(super) fn pinned_products(exports: &[ParsedExport<'_>]) -> HashSet<Box<str>> {
    let pins = exports.iter().flat_map(|export| &export.contents.pins);
    pins.flat_map(|entry| entry.value.pin.software.iter().cloned()).collect()
}

/// `unknown` contains the ids that no product has.
pub(super) fn check_pins(exports: &mut [ParsedExport<'_>], unknown: &HashSet<Box<str>>, findings: &mut Findings) {
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
                    findings.add(Code::OverlappingPins, file, |code| {
                        let message = format!("`{query}` is pinned twice; the products pinned first come first");
                        let help = "merge the pins, or remove the query from one of them";
                        Finding::new(code, location(), message, help).with_related(earlier.clone(), "and here")
                    });
                }
            }
            if first.len() > PINNED_QUERIES {
                skipped.push(entry.index);
                findings.add(Code::TooManyPins, file, |code| {
                    let message = format!("more than {PINNED_QUERIES} queries are pinned");
                    Finding::new(code, location(), message, "keep only the pins for the most frequent queries")
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
                findings.add(Code::UnknownPinnedSoftware, export.file.shared_path(), |code| {
                    let location = export.location(SectionKind::Pins, entry.index, "software", place);
                    let message = format!("the pinned product `{id}` isn't in the directory");
                    Finding::new(code, location, message, "correct the id, or remove it from the pin")
                });
            }
        }
    }
}

/// Counts each term's groups across all exports, and marks groups over the limit as skipped.
pub(super) fn check_synonyms(exports: &mut [ParsedExport<'_>], findings: &mut Findings) {
    let stems = Stems::default();
    let mut groups_of: HashMap<String, usize> = HashMap::default();
    for export in exports {
        let mut skipped = Vec::new();
        for entry in &export.contents.synonyms {
            let (key, terms) = match &entry.value {
                SynonymGroup::Equivalent(terms) => ("terms", terms),
                SynonymGroup::OneWay { from, .. } => ("from", from),
                SynonymGroup::Ambiguous(_) => continue,
            };
            if !export.is_served(SectionKind::Synonyms, entry.index) {
                continue;
            }
            let mut identities: Vec<_> = terms.iter().map(|term| (identity(term, &stems), term)).collect();
            identities.sort_unstable();
            identities.dedup_by(|a, b| a.0 == b.0);
            let beyond =
                identities.iter().find(|(identity, _)| groups_of.get(identity).is_some_and(|n| *n >= TERM_GROUPS));
            if let Some((_, term)) = beyond {
                skipped.push(entry.index);
                findings.add(Code::TooManyGroups, export.file.shared_path(), |code| {
                    let location = export.location(SectionKind::Synonyms, entry.index, key, &entry.key);
                    let message = format!("`{term}` is in more than {TERM_GROUPS} synonym groups");
                    let help = "merge the groups whose terms mean the same thing, and remove the term from the others";
                    Finding::new(code, location, message, help)
                });
            } else {
                for (identity, _) in identities {
                    *groups_of.entry(identity).or_default() += 1;
                }
            }
        }
        for index in skipped {
            export.contents.sections[SectionKind::Synonyms as usize].skip(index);
        }
    }
}

/// A term's identity in a search: the stems of its words, without `and`.
fn identity(term: &str, stems: &Stems) -> String {
    let words = words(term);
    let kept = words.iter().enumerate().filter(|(at, word)| *at == 0 || word.folded != "and");
    kept.map(|(_, word)| stems.of(&word.folded)).collect::<Vec<_>>().join(" ")
}
