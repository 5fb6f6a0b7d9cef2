//! Plans searches by name.

use super::identity;
use super::plan::{Alternative, MatchKind, Plan, Rerank, Term, WordGroup};
use crate::text::analyse::{Gap, compound, words};

/// Plans a search by name: every query word must be the beginning of a word in the name or an
/// alias. Neighbouring words may be written as one word. A name without words is found only as a
/// whole. Returns `None` if the text is blank.
pub fn plan(text: &str) -> Option<Plan> {
    let typed = words(text);
    let name = identity::name(text, &typed);
    let mut groups = Vec::with_capacity(typed.len());
    for (at, word) in typed.iter().enumerate() {
        let mut alternatives = vec![
            Alternative { kind: MatchKind::Name, term: Term::NameWord(word.folded.as_str().into()), weight: 1.0 },
            Alternative { kind: MatchKind::Prefix, term: Term::NamePrefix(word.folded.as_str().into()), weight: 0.5 },
        ];
        for second in [at, at + 1] {
            let Some(first) = second.checked_sub(1) else { continue };
            let Some(next) = typed.get(second).filter(|next| matches!(next.gap, Gap::Joined | Gap::Space)) else {
                continue;
            };
            let joined = compound(&typed[first], next);
            alternatives.push(Alternative {
                kind: MatchKind::Name,
                term: Term::NameWord(joined.as_str().into()),
                weight: 1.0,
            });
            alternatives.push(Alternative {
                kind: MatchKind::Prefix,
                term: Term::NamePrefix(joined.into()),
                weight: 0.5,
            });
        }
        groups.push(WordGroup { alternatives, required: true, indispensable: false });
    }
    if typed.is_empty() && !text.trim().is_empty() {
        let alternatives = vec![Alternative { kind: MatchKind::Name, term: name.clone(), weight: 1.0 }];
        groups.push(WordGroup { alternatives, required: true, indispensable: false });
    }
    let names = vec![name];
    (!groups.is_empty()).then(|| Plan { groups, names, rerank: Rerank::ShortestName, ..Plan::default() })
}
