//! Limits the synonym groups per term, because a search for the term tries the concepts of all its
//! groups as alternatives.

use std::collections::HashMap;

use super::ParsedExport;
use crate::export::budget::TERM_GROUPS;
use crate::export::finding::Findings;
use crate::export::{Code, Finding, SectionKind};
use crate::record::SynonymGroup;
use crate::text::analyse::words;
use crate::text::stem::Stems;

/// Counts each term's groups across all exports, and marks groups over the limit as skipped.
pub(super) fn check(exports: &mut [ParsedExport<'_>], findings: &mut Findings) {
    let stems = Stems::default();
    let mut groups_of: HashMap<String, usize> = HashMap::new();
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
