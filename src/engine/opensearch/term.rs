//! Term names in a cluster's index.

use crate::search::Term;

/// The maximum length of a name, in bytes. Longer names are replaced with their hash; OpenSearch's
/// limit is 32,766.
const LONGEST: usize = 256;

/// Stands for a dot, which a feature's name can't contain. No term contains this character.
const DOT: char = '\u{1f}';

const HASHED: char = '#';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermField {
    /// Features with their weighted frequencies.
    Terms,
    /// Full names, words in names, prefixes of either, ids, websites and pinned queries. All have
    /// the frequency of a single word in a name.
    Names,
}

pub(super) const fn field(term: &Term) -> TermField {
    match term {
        Term::Name(_) | Term::NamePrefix(_) | Term::NameWord(_) | Term::Identity(_) | Term::Pinned { .. } => {
            TermField::Names
        }
        Term::Word(_)
        | Term::Compound(_)
        | Term::Inner(_)
        | Term::Prefix(_)
        | Term::Concept(_)
        | Term::AlternativeTo(_)
        | Term::Topic(_)
        | Term::Category(_) => TermField::Terms,
    }
}

/// The stem, if the term is a word. Stems are also in the `stems` field, because a filter on that
/// field can list any number of them.
pub(super) fn stem(term: &Term) -> Option<String> {
    if let Term::Word(stem) = term { Some(format!("{stem:x}")) } else { None }
}

/// The term's name in its field: a letter for its kind, then its text.
pub(super) fn name(term: &Term) -> String {
    let mut name = String::with_capacity(24);
    term.write(&mut name);
    if name.len() > LONGEST {
        let kind = name.chars().next().unwrap_or_default();
        return format!("{kind}{HASHED}{}", blake3::hash(name.as_bytes()).to_hex());
    }
    if name.contains('.') {
        name = name.chars().map(|c| if c == '.' { DOT } else { c }).collect();
    }
    name
}

/// A product's document id, which is a hash because product ids may be too long for OpenSearch.
pub(super) fn document_id(id: &str) -> String {
    blake3::hash(id.as_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_distinct_and_contain_no_dots() {
        let long = |end: &str| Term::Compound(format!("{}{end}", "a".repeat(5000)).into());
        let terms = [
            Term::Word(0x7b),
            Term::Prefix("7b".into()),
            Term::Compound(".net".into()),
            Term::Compound("net".into()),
            long("b"),
            long("c"),
        ];
        let names: Vec<_> = terms.iter().map(name).collect();
        assert_eq!(names[0], "w7b");
        assert!(names.iter().all(|name| !name.contains('.') && name.len() <= LONGEST), "{names:?}");
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), terms.len());
    }
}
