//! The names of terms in a cluster's index.

use crate::search::Term;

/// The longest name in bytes; a longer one is replaced by its hash. OpenSearch takes 32,766.
const LONGEST: usize = 256;

/// Stands in place of a dot, which a feature's name can't have. No term has this character.
const DOT: char = '\u{1f}';

/// Marks a name that is a hash.
const HASHED: char = '#';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermField {
    /// Features, each with its weighted frequency.
    Terms,
    /// Whole names, words of names and beginnings of these: all as frequent as one word of a name.
    Names,
}

/// The field that has terms of this kind.
pub(super) const fn field(term: &Term) -> TermField {
    match term {
        Term::Name(_) | Term::NamePrefix(_) | Term::NameWord(_) => TermField::Names,
        Term::Word(_)
        | Term::Compound(_)
        | Term::Prefix(_)
        | Term::Concept(_)
        | Term::AlternativeTo(_)
        | Term::Category(_) => TermField::Terms,
    }
}

/// The stem of a word, which the field `stems` has too: a filter can name any number of them.
pub(super) fn stem(term: &Term) -> Option<String> {
    if let Term::Word(stem) = term { Some(format!("{stem:x}")) } else { None }
}

/// The name of a term in its field: its text behind a letter for the kind.
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

/// The id of a product's document: a hash, for an id may have more bytes than OpenSearch takes.
pub(super) fn document_id(id: &str) -> String {
    blake3::hash(id.as_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_distinct_and_without_dots() {
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
