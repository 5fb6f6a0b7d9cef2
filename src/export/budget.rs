//! Budgets that limit how much time, memory and report space an export can use. Known exports need
//! far less: at most 46 terms in a group, 5 groups per term, 60 characters in a word, and 81,380 in
//! a string.

use crate::record::slug;
use crate::text::analyse;
use crate::text::shorten::is_longer;

/// The longest string or key, in characters.
pub(super) const TEXT_CHARS: usize = 1_000_000;
/// The longest word in searched text, in characters.
pub(super) const WORD_CHARS: usize = 500;
/// The longest name of a category or glossary term, in characters.
pub(super) const LABEL_CHARS: usize = 500;
/// The longest name of an attribute's property, in characters.
pub(super) const PROPERTY_CHARS: usize = 100;
/// The highest `max_age_days` of an attribute: about a century.
pub(super) const MAX_AGE_DAYS: u16 = 36_500;
/// The longest id derived from the name of a category or term, in bytes.
const SLUG_BYTES: usize = 2_000;
/// The longest number, in characters as written.
pub(super) const NUMBER_CHARS: usize = 1_000;
/// The maximum number of terms in one list of a synonym group.
pub(super) const GROUP_TERMS: usize = 200;
/// The maximum number of synonym groups that expand one term, across all exports.
pub(super) const TERM_GROUPS: usize = 20;
/// The maximum number of queries in one pin.
pub(super) const PIN_QUERIES: usize = 100;
/// The maximum number of pinned queries across all exports.
pub(super) const PINNED_QUERIES: usize = 10_000;
/// How many findings with the same code are reported per file; the rest are only counted.
pub(super) const KEPT_FINDINGS: usize = 100;

/// The longest part of a finding: message, fix, pointer or note, in bytes.
const FINDING_BYTES: usize = 600;

/// Shortens a part of a finding that exceeds the limit.
pub(super) fn shortened(mut text: String) -> String {
    if text.len() > FINDING_BYTES {
        text.truncate(text.floor_char_boundary(FINDING_BYTES));
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Why a category or glossary term can't have this name; `None` if it can.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    // Nearly every name is short and has an ASCII letter. Checking that is faster than deriving a
    // slug.
    if name.len() <= 100 && name.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    if is_longer(name, LABEL_CHARS) {
        return Some("can have at most 500 characters");
    }
    match slug(name).len() {
        0 => Some("needs a letter or a digit"),
        1..=SLUG_BYTES => None,
        _ => Some("can have at most 500 characters after ligatures are expanded"),
    }
}

/// The length of the first word that's too long, in characters.
pub(super) fn overlong_word(text: &str) -> Option<usize> {
    // Words contain no spaces, so most text passes this check without a closer look.
    if text.as_bytes().split(|byte| *byte == b' ').all(|run| run.len() <= WORD_CHARS) {
        return None;
    }
    // A string that's too long as a whole has already been reported.
    if text.chars().nth(TEXT_CHARS).is_some() {
        return None;
    }
    let lengths = analyse::places(text).into_iter().map(|place| text[place].chars().count());
    lengths.into_iter().find(|length| *length > WORD_CHARS)
}
