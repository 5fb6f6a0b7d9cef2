//! Splits names into pieces, because a name's parts may be written together or separately.

use std::ops::Range;

use super::plan::Term;
use crate::text::analyse::{Word, name_key, words};
use crate::text::stem::Stems;

/// If a name has more pieces than this, only the first ones are joined. This limits the number of
/// terms.
const MOST_PIECES: usize = 6;

/// The maximum number of pieces in a run that becomes a term.
const MOST_JOINED: usize = 4;

/// A part of a word between two boundaries: a change of case (`Open|Street|Map`) or between letters
/// and digits (`4|HANA`).
#[derive(Debug)]
struct Piece {
    folded: String,
    starts_word: bool,
    ends_word: bool,
}

/// Adds a term for each run of pieces that isn't a word in the name: either whole words written as
/// one (`bettercodehub`), or part of a word.
pub(super) fn add_runs(text: &str, words: &[Word], stems: &Stems, mut add: impl FnMut(Term)) {
    let pieces = pieces(text, words);
    for start in 0..pieces.len() {
        let mut joined = String::new();
        let mut words = 0;
        for (length, piece) in (1..).zip(&pieces[start..]).take(MOST_JOINED) {
            joined.push_str(&piece.folded);
            words += usize::from(piece.ends_word);
            if pieces[start].starts_word && piece.ends_word {
                if words > 1 {
                    add(Term::Compound(stems.of(&joined).into()));
                }
            } else if length > 1 || joined.len() > 1 || joined.bytes().all(|byte| byte.is_ascii_digit()) {
                add(inner(&joined, stems));
            }
        }
    }
}

/// The term for part of a word.
pub(super) fn inner(folded: &str, stems: &Stems) -> Term {
    Term::Inner(stems.of(folded).into())
}

fn pieces(text: &str, words: &[Word]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut end = 0;
    for word in words {
        // In scripts that don't separate words, the analysed words overlap.
        if word.start < end || pieces.len() >= MOST_PIECES {
            break;
        }
        end = word.end;
        let ranges = piece_ranges(&text[word.start..word.end]);
        for (at, range) in ranges.iter().enumerate() {
            let folded = match &ranges[..] {
                [_] => word.folded.clone(),
                _ => folded(&text[word.start + range.start..word.start + range.end]),
            };
            pieces.push(Piece { folded, starts_word: at == 0, ends_word: at + 1 == ranges.len() });
        }
    }
    pieces.truncate(MOST_PIECES);
    pieces
}

fn folded(part: &str) -> String {
    name_key(&words(part))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Capital,
    Letter,
    Digit,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_uppercase() => Self::Capital,
            _ if c.is_alphabetic() => Self::Letter,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Other,
        }
    }
}

/// A word's pieces, as byte ranges. The last of several capitals belongs to the next piece:
/// `GIS|Quick`.
fn piece_ranges(word: &str) -> Vec<Range<usize>> {
    let classes: Vec<_> = word.char_indices().map(|(at, c)| (at, Class::of(c))).collect();
    let mut bounds = vec![0];
    for (at, pair) in (1..).zip(classes.windows(2)) {
        let next = classes.get(at + 1).map(|(_, class)| *class);
        let is_bound = match (pair[0].1, pair[1].1) {
            (Class::Letter, Class::Capital | Class::Digit)
            | (Class::Capital, Class::Digit)
            | (Class::Digit, Class::Letter | Class::Capital) => true,
            (Class::Capital, Class::Capital) => next == Some(Class::Letter),
            _ => false,
        };
        if is_bound {
            bounds.push(pair[1].0);
        }
    }
    bounds.push(word.len());
    bounds.windows(2).map(|bounds| bounds[0]..bounds[1]).collect()
}

/// How long a part of a Korean word can be, in syllables, to become a term anywhere in the word.
/// Longer parts become terms only at the end of the word.
const SYLLABLES: Range<usize> = 2..5;

/// Parts have to start within this many syllables of a Korean word. This limits the number of
/// terms.
const MOST_SYLLABLES: usize = 12;

/// Adds the later parts of a Korean word, since compounds are written without spaces: `관리` in
/// `안전관리시스템`.
pub(super) fn add_later_parts(word: &Word, stems: &Stems, mut add: impl FnMut(Term)) {
    if word.folded.is_ascii() {
        return;
    }
    let starts: Vec<_> = word.spelling().char_indices().map(|(at, _)| at).collect();
    if starts.len() <= SYLLABLES.start || !word.spelling().chars().all(is_syllable) {
        return;
    }
    let end_of = |syllable: usize| starts.get(syllable).copied().unwrap_or(word.spelling().len());
    let count = starts.len().min(MOST_SYLLABLES);
    for first in 1..count {
        for length in SYLLABLES.start..=starts.len() - first {
            let is_last = first + length == starts.len();
            if SYLLABLES.contains(&length) || is_last {
                add(inner(&folded(&word.spelling()[starts[first]..end_of(first + length)]), stems));
            }
        }
    }
}

/// Whether a character is a Hangul syllable.
const fn is_syllable(c: char) -> bool {
    matches!(c, '가'..='힣')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> (Vec<String>, Vec<String>) {
        let (mut joined, mut inner) = (Vec::new(), Vec::new());
        add_runs(text, &words(text), &Stems::default(), |term| match term {
            Term::Compound(text) => joined.push(text.into()),
            Term::Inner(text) => inner.push(text.into()),
            other => panic!("{other:?}"),
        });
        (joined, inner)
    }

    #[test]
    fn words_are_split_where_the_case_changes_and_before_and_after_digits() {
        let pieces = |word: &'static str| piece_ranges(word).into_iter().map(|range| &word[range]).collect::<Vec<_>>();
        assert_eq!(pieces("OpenStreetMap"), ["Open", "Street", "Map"]);
        assert_eq!(pieces("phpMyAdmin"), ["php", "My", "Admin"]);
        assert_eq!(pieces("ArcGIS"), ["Arc", "GIS"]);
        assert_eq!(pieces("GISQuick"), ["GIS", "Quick"]);
        assert_eq!(pieces("iOS15Helper"), ["i", "OS", "15", "Helper"]);
        assert_eq!(pieces("4HANA"), ["4", "HANA"]);
        assert_eq!(pieces("ÉcoleÀ3"), ["École", "À", "3"]);
        for whole in ["linux", "HANA", "Beacon", "v", "3.5", "c++", "安全", "한글"] {
            assert_eq!(pieces(whole), [whole], "{whole}");
        }
    }

    #[test]
    fn whole_words_become_compounds_and_parts_of_words_become_inner_terms() {
        assert_eq!(runs("Better Code Hub").0, ["bettercod", "bettercodehub", "codehub"]);
        assert_eq!(runs("Better Code Hub").1, [""; 0]);
        let (joined, inner) = runs("S/4HANA Link");
        assert_eq!(joined, ["s4hana", "s4hanalink", "4hanalink"]);
        assert_eq!(inner, ["s4", "4", "hana", "hanalink"]);
        assert_eq!(runs("GitLab"), (vec![], vec!["git".into(), "lab".into()]));
        assert_eq!(runs("安全管理 GitLab"), (vec![], vec![]), "pairs of characters overlap");
    }

    #[test]
    fn the_number_of_terms_per_name_is_limited() {
        let name = "aB".repeat(5000);
        assert!(runs(&name).1.len() <= MOST_PIECES * MOST_JOINED);
        let name = "a ".repeat(5000);
        assert!(runs(&name).0.len() <= MOST_PIECES * MOST_JOINED);
    }

    #[test]
    fn later_parts_of_a_korean_word_are_terms() {
        let parts = |text: &str| {
            let mut parts = Vec::new();
            add_later_parts(&words(text)[0], &Stems::default(), |term| parts.push(term));
            parts
        };
        let inner = |part: &str| inner(&folded(part), &Stems::default());
        assert_eq!(parts("품질경영"), ["질경", "질경영", "경영"].map(inner));
        for none in ["안전", "audit", "école", "안전abc"] {
            assert_eq!(parts(none), [], "{none}");
        }
        assert!(parts(&"한".repeat(5000)).len() < MOST_SYLLABLES * 5);
    }
}
