//! Ids of categories and glossary terms, which are derived from their names.

use std::collections::{BTreeMap, BTreeSet};

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::text::fold::folded;

/// A name as an id: lower case, no accents, and each run of characters other than letters, digits
/// and their marks replaced with one `-`. Letters of any script are kept. `+` and `#` after a letter
/// or digit and a dot before the first letter are spelled out: `c-plus-plus`, `c-sharp`, `dot-net`.
/// Empty for a name without a letter or digit.
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for part in Parts::of(name) {
        match part {
            Part::Spelled(word) => {
                separate(&mut slug);
                slug.push_str(word);
                slug.push('-');
            }
            Part::Text(text) => push_text(&mut slug, text),
            Part::Symbol(symbol) => push_text(&mut slug, symbol.encode_utf8(&mut [0; 4])),
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The key that two names share if they're the same name: the [`slug`] with symbols kept (Unicode
/// categories S and No, and the symbols that a slug spells out). It equals the slug if the name has
/// no symbols.
pub fn identity(name: &str) -> String {
    let mut identity = String::with_capacity(name.len());
    let mut is_after_symbol = false;
    for part in Parts::of(name) {
        match part {
            Part::Spelled(word) => {
                identity.push(SYMBOL);
                identity.push_str(word);
                is_after_symbol = false;
            }
            Part::Text(text) if is_after_symbol => {
                let words = text.trim_start_matches(|c: char| !c.is_alphanumeric());
                push_text(&mut identity, words);
                is_after_symbol = false;
            }
            Part::Text(text) => push_text(&mut identity, text),
            Part::Symbol(symbol) => {
                // White space around a symbol that separates words makes no difference.
                is_after_symbol = !folded(symbol.encode_utf8(&mut [0; 4])).any(char::is_alphanumeric);
                if is_after_symbol {
                    identity.truncate(identity.trim_end_matches('-').len());
                }
                identity.push(SYMBOL);
                identity.push(symbol);
            }
        }
    }
    identity.truncate(identity.trim_end_matches('-').len());
    identity
}

/// The id that earlier versions derived from a name, without symbols and without combining marks in
/// any script.
pub fn former_slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        if c.is_alphanumeric() { slug.push(c) } else { separate(&mut slug) }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The ids of all names of one kind. They depend on the names, but not on their order.
#[derive(Debug)]
pub struct Ids(BTreeMap<String, String>);

impl Ids {
    /// Gives each name its slug as its id. If several names share a slug, the name without symbols
    /// gets the slug itself, and each of the other ids ends in six hexadecimal digits of a BLAKE3
    /// hash of the name's identity.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut by_slug: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in names {
            by_slug.entry(slug(name)).or_default().insert(identity(name));
        }
        let mut ids = BTreeMap::new();
        for (slug, identities) in &by_slug {
            for identity in identities {
                let mut id = slug.clone();
                if identities.len() > 1 && identity != slug {
                    let hash = blake3::hash(identity.as_bytes()).to_hex();
                    id = format!("{slug}-{}", &hash[..6]);
                    if by_slug.contains_key(&id) {
                        id = format!("{slug}-{hash}");
                    }
                }
                ids.insert(identity.clone(), id);
            }
        }
        Self(ids)
    }

    /// The id of the given name.
    pub fn id(&self, name: &str) -> String {
        self.0.get(&identity(name)).cloned().unwrap_or_else(|| slug(name))
    }
}

/// Marks a symbol in an [`identity`]. Slugs never contain this character.
const SYMBOL: char = '\0';

enum Part<'n> {
    Text(&'n str),
    /// The word for a symbol.
    Spelled(&'static str),
    Symbol(char),
}

/// Splits a name at its symbols.
struct Parts<'n> {
    name: &'n str,
    at: usize,
}

impl<'n> Parts<'n> {
    const fn of(name: &'n str) -> Self {
        Self { name, at: 0 }
    }

    /// The symbol at this position, if there is one.
    fn symbol(&self, at: usize, c: char) -> Option<Part<'n>> {
        if c.is_ascii_alphanumeric() || c == ' ' {
            return None;
        }
        let (before, after) = (&self.name[..at], &self.name[at + c.len_utf8()..]);
        let word = match c {
            '+' | '＋' => Some("plus"),
            '#' | '＃' | '♯' => Some("sharp"),
            '.' | '．' => {
                let is_first = after.starts_with(char::is_alphabetic) && !before.contains(char::is_alphanumeric);
                return is_first.then_some(Part::Spelled("dot"));
            }
            _ => None,
        };
        let letter = before.trim_end_matches(['+', '＋', '#', '＃', '♯']).chars().next_back();
        match word {
            Some(word) if letter.is_some_and(|c| c.is_alphanumeric() || is_combining_mark(c)) => {
                Some(Part::Spelled(word))
            }
            _ => is_symbol(c).then_some(Part::Symbol(c)),
        }
    }
}

impl<'n> Iterator for Parts<'n> {
    type Item = Part<'n>;

    fn next(&mut self) -> Option<Part<'n>> {
        let start = self.at;
        for (offset, c) in self.name[start..].char_indices() {
            let at = start + offset;
            if let Some(symbol) = self.symbol(at, c) {
                if at > start {
                    self.at = at;
                    return Some(Part::Text(&self.name[start..at]));
                }
                self.at = at + c.len_utf8();
                return Some(symbol);
            }
        }
        self.at = self.name.len();
        (start < self.at).then(|| Part::Text(&self.name[start..]))
    }
}

fn is_symbol(c: char) -> bool {
    use GeneralCategory::{CurrencySymbol, MathSymbol, ModifierSymbol, OtherNumber, OtherSymbol};
    matches!(get_general_category(c), CurrencySymbol | MathSymbol | ModifierSymbol | OtherNumber | OtherSymbol)
}

fn push_text(slug: &mut String, text: &str) {
    for c in folded(text) {
        let is_after_letter = !slug.is_empty() && !slug.ends_with('-');
        if c.is_alphanumeric() || (is_combining_mark(c) && is_after_letter) {
            slug.push(c);
        } else {
            separate(slug);
        }
    }
}

fn separate(slug: &mut String) {
    if !slug.is_empty() && !slug.ends_with('-') {
        slug.push('-');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slug_folds_case_accents_and_punctuation_and_spells_symbols_out() {
        for (name, expected) in [
            ("Integrated management systems (QHSE/IMS)", "integrated-management-systems-qhse-ims"),
            ("  Évaluation -- des Risques!", "evaluation-des-risques"),
            ("安全 管理", "安全-管理"),
            ("***", ""),
            ("Health & Safety", "health-safety"),
            ("½ day", "1-2-day"),
            ("№ 5", "no-5"),
            ("C++", "c-plus-plus"),
            ("C#", "c-sharp"),
            ("Ｃ＃", "c-sharp"),
            ("F# & OCaml", "f-sharp-ocaml"),
            ("A+", "a-plus"),
            ("Notepad++ plugins", "notepad-plus-plus-plugins"),
            (".NET", "dot-net"),
            ("ASP.NET", "asp-net"),
            ("Issue #5", "issue-5"),
            ("+Plus", "plus"),
            ("v. 2", "v-2"),
        ] {
            assert_eq!(slug(name), expected, "{name}");
        }
    }

    #[test]
    fn marks_that_make_a_different_letter_are_kept() {
        assert_eq!(slug("バス 運行"), "バス-運行");
        assert_eq!(slug("ﾊﾞｽ"), slug("バス"));
        assert_ne!(slug("ป่า"), slug("ป้า"));
        assert_eq!(slug("किताब"), "किताब");
        assert_eq!(former_slug("バス"), former_slug("ハス"));
    }

    #[test]
    fn names_that_differ_only_in_symbols_get_different_ids_in_any_order() {
        let groups: [&[&str]; 8] = [
            &["C", "C++", "C#"],
            &["F#", "F"],
            &["NET", ".NET"],
            &["№", "No"],
            &["½", "1/2"],
            &["A | B", "A B"],
            &["C++", "C plus plus"],
            &["🔒 Security", "Security", "Security®"],
        ];
        for names in groups {
            let ids = Ids::of(names.iter().copied());
            let reversed = Ids::of(names.iter().rev().copied());
            let all: BTreeSet<_> = names.iter().map(|name| ids.id(name)).collect();
            assert_eq!(all.len(), names.len(), "{names:?}: {all:?}");
            for name in names {
                assert_eq!(ids.id(name), reversed.id(name));
            }
        }
        let ids = Ids::of(["№", "No"]);
        assert_eq!(ids.id("no"), "no");
        assert!(ids.id("№").starts_with("no-"), "{}", ids.id("№"));
        assert_eq!(Ids::of(["№"]).id("№"), "no", "nothing else has that id");
    }

    #[test]
    fn names_that_differ_only_in_case_accents_or_punctuation_share_an_identity() {
        for (one, other) in [
            ("Audit management", "audit-Management"),
            ("Health & Safety", "Health, safety"),
            ("Évaluation", "evaluation"),
            ("A | B", "A|B"),
            ("ﬁre", "fire"),
        ] {
            assert_eq!(identity(one), identity(other), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn the_same_identity_has_the_same_slug(name in r"[a-cA-C1+#. |½№é&-]{0,8}", other in r"[a-cA-C1+#. |½№é&-]{0,8}") {
            if identity(&name) == identity(&other) {
                prop_assert_eq!(slug(&name), slug(&other));
            }
            let slug = slug(&name);
            prop_assert_eq!(super::slug(&slug), &slug[..], "a slug is its own slug");
            prop_assert_eq!(identity(&slug), slug);
        }
    }
}
