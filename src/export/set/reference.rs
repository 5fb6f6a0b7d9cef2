//! What refers to other elements of the set: reviews without a product, pins, and synonym groups.

use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::ParsedExport;
use crate::export::budget::{PINNED_QUERIES, TERM_GROUPS};
use crate::export::finding::Findings;
use crate::export::{Code, Finding, Related, SectionKind, SourceFile};
use crate::record::{Pin, SynonymGroup};
use crate::text::analyse::words;
use crate::text::append;
use crate::text::count::{agreeing, counted};
use crate::text::stem::Stems;

#[derive(Debug, Clone, Copy)]
pub(super) struct Products {
    /// Whether every file could be read, so that anything missing really doesn't exist.
    pub(super) is_complete: bool,
    /// Whether every element of `software` has an id.
    pub(super) all_have_ids: bool,
}

impl Products {
    /// The code for a review whose product doesn't exist or is left out.
    pub(super) const fn orphan_code(self, product_exists: bool) -> Code {
        if !product_exists && self.is_complete && self.all_have_ids {
            Code::UnknownSoftware
        } else {
            Code::ReviewWithoutProduct
        }
    }

    /// Reports a review. If that's only a consequence of another finding, the new finding also
    /// represents `others` more reviews of the same product in the same file.
    pub(super) fn report(self, orphan: &Orphan<'_>, others: usize, findings: &mut Findings) {
        let id = orphan.product;
        let code = self.orphan_code(orphan.product_exists);
        let (mut message, help) = match (orphan.product_exists, code) {
            (true, _) => {
                (format!("this review is left out because its product `{id}` is left out"), "fix the product's record")
            }
            (false, Code::UnknownSoftware) => {
                (format!("there is no product `{id}` in the directory"), "correct `software_id`, or remove the review")
            }
            (false, _) if self.is_complete => (
                format!("there is no product `{id}` among the products with a valid id"),
                "fix the products without a valid id first",
            ),
            (false, _) => (
                format!("there is no product `{id}` in the files that could be read"),
                "fix the files that couldn't be read first",
            ),
        };
        if others > 0 {
            append(
                &mut message,
                format_args!(
                    "; {} {} about this product",
                    counted(others, "more review"),
                    agreeing(others, "is", "are")
                ),
            );
        }
        findings.add(code, orphan.file.shared_path(), || {
            let pointer = SectionKind::Reviews.pointer(orphan.index, "software_id");
            let location = orphan.file.location(orphan.place.clone(), pointer);
            Finding { code, location, message, help: help.to_owned(), related: Vec::new() }
        });
    }
}

pub(super) struct Orphan<'o> {
    pub(super) file: &'o SourceFile,
    pub(super) index: usize,
    /// The location of the product's id in the review.
    pub(super) place: Range<usize>,
    pub(super) product: &'o str,
    /// Whether the product exists but is left out.
    pub(super) product_exists: bool,
}

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
                findings.add(Code::TooManyGroups, export.file.shared_path(), || Finding {
                    code: Code::TooManyGroups,
                    location: export.location(SectionKind::Synonyms, entry.index, key, &entry.key),
                    message: format!("`{term}` is in more than {TERM_GROUPS} synonym groups"),
                    help: "merge the groups whose terms mean the same thing, and remove the term from the others"
                        .to_owned(),
                    related: Vec::new(),
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
