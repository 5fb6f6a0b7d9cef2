//! Lists of common English words and function words.

use std::sync::LazyLock;

use foldhash::HashSet;

/// One word per line, lower case, sorted: sizes 10 to 40 of SCOWL, a source of spell checkers' word
/// lists (<http://wordlist.aspell.net>), American and British, excluding names, abbreviations and
/// contractions. Its licence is in `COPYRIGHT` in the same folder.
static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("words.txt").lines().collect());

/// Function words, sorted: Snowball's English stop words
/// (snowballstem.org/algorithms/english/stop.txt) without contractions, plus the modal verbs.
pub const FUNCTION_WORDS: [&str; 129] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "ought",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// Whether a folded word is any form of a common English word. Such words aren't taken for
/// misspellings or for the beginnings of other words.
pub fn is_common(folded: &str) -> bool {
    WORDS.contains(folded)
}

/// Names of places, peoples, languages and people, in the same format as [`WORDS`]: SCOWL's
/// upper-case words of sizes 10 to 50, except those that are common words, are too short to be
/// corrected, or contain other letters.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("names.txt").lines().collect());

/// Whether a folded word is a well-known name, which isn't taken for a misspelling.
pub fn is_name(folded: &str) -> bool {
    NAMES.contains(folded)
}

/// Whether a folded word is a function word. Such words count if a product contains them but aren't
/// required, and in a long query they don't count at all.
pub fn is_function_word(folded: &str) -> bool {
    FUNCTION_WORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{FUNCTION_WORDS, is_common};

    #[test]
    fn function_words_are_sorted_for_the_binary_search() {
        assert!(FUNCTION_WORDS.is_sorted());
    }

    #[test]
    fn common_words_are_recognised_in_every_form_and_misspellings_are_not() {
        for word in ["slack", "games", "desk", "organisation", "organization"] {
            assert!(is_common(word), "{word}");
        }
        for word in ["permt", "wrok", "managment", "kubernetes", "a1", ""] {
            assert!(!is_common(word), "{word}");
        }
    }
}
