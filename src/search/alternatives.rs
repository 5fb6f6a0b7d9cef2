//! Extracts the products that another product's text says it can replace: `a self-hosted
//! alternative to Slack and Microsoft Teams`, `a Trello clone`.

use crate::text::analyse::{Gap, Word, name_key};
use crate::text::is_listed;

/// Folded words, separated by spaces.
pub(super) type Words = &'static str;

/// Maximum number of words between a cue and the first name: `alternatives to proprietary services
/// such as Slack`.
const MOST_BETWEEN: usize = 4;

pub(super) const MOST_WORDS: usize = 4;

/// Maximum number of names in one list. Limits what hostile text can add to the index.
const MOST_NAMES: usize = 12;

/// Returns the [`name_key`]s of the products that the text says can be replaced. A word counts as
/// part of a name only if it has a capital letter or a digit.
pub(super) fn replaced(text: &str, words: &[Word]) -> Vec<String> {
    let mut keys = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_cue = is_cue(&word.folded);
        if is_cue && words.get(at + 1).is_some_and(is_preposition) {
            names_behind(text, words, at + 2, &mut keys);
        }
        if is_cue || (word.gap == Gap::Joined && word.folded == "like") {
            names_before(text, words, at, &mut keys);
        }
    }
    keys
}

/// Whether this folded word is a cue: a replaced product's name may come before the word, or after
/// the word and a [preposition](is_preposition).
fn is_cue(folded: &str) -> bool {
    is_listed("alternative alternatives clone equivalent replacement replacements substitute substitutes", folded)
}

fn is_preposition(word: &Word) -> bool {
    is_listed("to for of", &word.folded)
}

/// Adds the names in a list: `Slack, Microsoft Teams and Zulip`.
fn names_behind(text: &str, words: &[Word], from: usize, keys: &mut Vec<String>) {
    let mut at = from;
    while at < words.len() && !is_name(text, &words[at]) {
        if at - from == MOST_BETWEEN || !is_in_sentence(text, words, at) {
            return;
        }
        at += 1;
    }
    let most = keys.len() + MOST_NAMES;
    while at < words.len() && keys.len() < most && is_in_sentence(text, words, at) {
        if is_name(text, &words[at]) {
            let end = (at + 1..words.len())
                .take(MOST_WORDS - 1)
                .take_while(|next| is_one_name(text, words, *next) && is_name_part(text, &words[*next]))
                .last()
                .map_or(at + 1, |last| last + 1);
            keys.push(name_key(&words[at..end]));
            at = end;
        } else if matches!(words[at].folded.as_str(), "and" | "or") {
            at += 1;
        } else {
            return;
        }
    }
}

/// Adds the names that end right before a cue. It's unclear which words belong to the name (`Open
/// Source Trello clone`), so this adds every run of words that ends there.
fn names_before(text: &str, words: &[Word], cue: usize, keys: &mut Vec<String>) {
    for start in (0..cue).rev().take(MOST_WORDS) {
        if !is_name(text, &words[start]) || !is_one_name(text, words, start + 1) {
            break;
        }
        keys.push(name_key(&words[start..cue]));
    }
}

fn is_name(text: &str, word: &Word) -> bool {
    let written = &text[word.start..word.end];
    let is_article = matches!(word.folded.as_str(), "a" | "an" | "the" | "and" | "or" | "it" | "this");
    !is_article && written.contains(|c: char| c.is_uppercase() || c.is_ascii_digit())
}

/// Whether a word after the first may be part of a name: `Monday.com`, `Auth0`.
fn is_name_part(text: &str, word: &Word) -> bool {
    is_name(text, word) || text[..word.start].ends_with('.')
}

/// Whether the word at `at` continues the name before it, i.e. they're separated by only a space, a
/// hyphen or a dot.
fn is_one_name(text: &str, words: &[Word], at: usize) -> bool {
    matches!(&text[words[at - 1].end..words[at].start], " " | "-" | ".")
}

/// Whether the word at `at` is in the same sentence as the word before it, with no parenthesis
/// between them.
fn is_in_sentence(text: &str, words: &[Word], at: usize) -> bool {
    at == 0 || !text[words[at - 1].end..words[at].start].contains(['.', ';', ':', '!', '?', '(', ')', '\n', '–', '—'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analyse::words;

    fn replaced(text: &str) -> Vec<String> {
        super::replaced(text, &words(text))
    }

    #[test]
    fn names_after_a_cue_are_found() {
        assert_eq!(replaced("A self-hosted alternative to Slack."), ["slack"]);
        assert_eq!(
            replaced("Alternative to Trello, Microsoft Teams/Skype and Monday.com for teams, by Acme"),
            ["trello", "microsoftteams", "skype", "mondaycom"]
        );
        assert_eq!(replaced("drop-in replacement for proprietary services such as iCloud"), ["icloud"]);
    }

    #[test]
    fn names_before_a_cue_are_found() {
        assert_eq!(replaced("An Airtable alternative. It is free"), ["airtable"]);
        assert_eq!(replaced("Open Source Trello clone"), ["trello", "sourcetrello", "opensourcetrello"]);
        assert_eq!(replaced("YouTube-like videos"), ["youtube"]);
    }

    #[test]
    fn only_names_can_be_replaced() {
        for text in ["an alternative to paper", "Alternative to. Acme", "a clone", "I like Acme", "alternative to"] {
            assert_eq!(replaced(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_number_of_names_in_a_list_is_limited() {
        let text = format!("alternative to {}", "A1, ".repeat(100));
        assert_eq!(replaced(&text).len(), MOST_NAMES);
    }
}
