//! Recognises a query's intent: `alternative to Slack`, `Jira vs Asana`, `audit software not
//! spreadsheets`.

use std::ops::Range;

use super::alternatives::MOST_WORDS;
use super::cue::{Subject, subjects};
use crate::text::analyse::{Gap, Word};
use crate::text::punctuation::is_dash;

/// Intent words, sorted. They describe the kind of answer (a program, a good one, another one)
/// rather than its subject, so they don't count if other words match something.
pub(crate) const WORDS: [&str; 25] = [
    "alternative",
    "alternatives",
    "apps",
    "best",
    "clone",
    "competitor",
    "competitors",
    "equivalent",
    "equivalents",
    "free",
    "instead",
    "like",
    "replace",
    "replacement",
    "replacements",
    "replaces",
    "similar",
    "software",
    "something",
    "substitute",
    "substitutes",
    "tools",
    "top",
    "versus",
    "vs",
];

/// Whether a folded word names a kind of product but, unlike `tools`, can also be part of a
/// product's description (`a merge tool`). Such words are optional.
pub(super) fn is_kind(folded: &str) -> bool {
    matches!(folded, "app" | "tool")
}

/// Whether a word expresses intent rather than being part of another word: `rogue-like`.
pub(crate) fn is_intent_word(text: &str, word: &Word) -> bool {
    word.gap != Gap::Joined
        && !text[word.end..].starts_with(is_dash)
        && WORDS.binary_search(&word.folded.as_str()).is_ok()
}

/// A query's possible intents. Which of them is meant depends on the index, because only names that
/// are in the index can be subjects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Intent {
    /// The names of products to replace; for each cue, the longest comes first.
    pub(super) subjects: Vec<Subject>,
    pub(super) compared: Option<[Range<usize>; 2]>,
    pub(super) excluded: Option<Excluded>,
}

/// A name or word after a `not`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excluded {
    /// Index of the `not`.
    pub(super) not: usize,
    pub(super) words: Range<usize>,
    /// Whether the word is written `NOT`, as a search operator. Otherwise, only a name is excluded.
    pub(super) is_certain: bool,
}

impl Intent {
    pub(super) fn of(text: &str, words: &[Word]) -> Self {
        Self { subjects: subjects(words), compared: compared(words), excluded: excluded(text, words) }
    }
}

fn is(words: &[Word], at: usize, any: &[&str]) -> bool {
    words.get(at).is_some_and(|word| any.contains(&word.folded.as_str()))
}

/// The words on both sides of a query's only `vs`, if both sides are short enough to be names.
fn compared(words: &[Word]) -> Option<[Range<usize>; 2]> {
    let mut all = (0..words.len()).filter(|at| is(words, *at, &["versus", "vs"]));
    let (at, None) = (all.next()?, all.next()) else { return None };
    let sides = [0..at, at + 1..words.len()];
    sides.iter().all(|side| (1..=MOST_WORDS).contains(&side.len())).then_some(sides)
}

/// The exclusion after the last `not`, if other words precede it.
fn excluded(text: &str, words: &[Word]) -> Option<Excluded> {
    let not = words.iter().rposition(|word| word.folded == "not").filter(|at| *at > 0)?;
    let is_certain = &text[words[not].start..words[not].end] == "NOT";
    let words = not + 1..words.len().min(if is_certain { not + 2 } else { words.len() });
    ((1..=MOST_WORDS).contains(&words.len())).then_some(Excluded { not, words, is_certain })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analyse::words;

    fn intent(text: &str) -> Intent {
        Intent::of(text, &words(text))
    }

    #[test]
    fn words_are_sorted_for_binary_search() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn two_names_are_compared() {
        assert_eq!(intent("jira vs asana").compared, Some([0..1, 2..3]));
        assert_eq!(intent("power bi versus tableau").compared, Some([0..2, 3..4]));
        for text in ["vs code", "a vs b vs c", "jira vs"] {
            assert_eq!(intent(text).compared, None, "{text}");
        }
    }

    #[test]
    fn a_not_between_words_excludes_what_follows_it() {
        let excluded = |text| intent(text).excluded.map(|of| (of.not, of.words, of.is_certain));
        assert_eq!(excluded("audit NOT legacy tools"), Some((1, 2..3, true)));
        assert_eq!(excluded("crm not acme cloud"), Some((1, 2..4, false)));
        for text in ["not acme", "audit not", "whether or not a b c d e"] {
            assert_eq!(excluded(text), None, "{text}");
        }
    }
}
