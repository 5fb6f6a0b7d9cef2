//! Lists of common English words and function words.

use std::sync::LazyLock;

use foldhash::HashSet;

/// One word per line, lower case, sorted: sizes 10 to 40 of SCOWL, a source of spell checkers' word
/// lists (<http://wordlist.aspell.net>), American and British, excluding names, abbreviations and
/// contractions. Its licence is in `COPYRIGHT` in the same folder.
static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("words.txt").lines().collect());

/// Function words: Snowball's English stop words (snowballstem.org/algorithms/english/stop.txt)
/// without contractions, plus the modal verbs.
const FUNCTION_WORDS: &str = include_str!("function_words.txt");

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
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| function_words().collect());
    WORDS.contains(folded)
}

/// All function words, sorted.
pub fn function_words() -> impl Iterator<Item = &'static str> {
    FUNCTION_WORDS.lines()
}

#[cfg(test)]
mod tests {
    use super::{function_words, is_common, is_function_word};

    #[test]
    fn function_words_are_sorted_lower_case_words() {
        assert!(function_words().is_sorted() && function_words().count() == 129);
        assert!(function_words().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
        assert!(is_function_word("the") && !is_function_word("audit") && !is_function_word(""));
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
