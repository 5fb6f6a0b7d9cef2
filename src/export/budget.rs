//! Budgets that bound what an export can cost, in time, memory and length of its report. The exports that are known stay
//! far below: 46 terms in a group, 5 groups for a term, 60 characters in a word, 81,380 in a text.

use crate::record::slug;
use crate::text::analyse;
use crate::text::shorten::is_longer;

/// Longest text or key, in characters.
pub(super) const TEXT_CHARS: usize = 1_000_000;
/// Longest word of a searched text, in characters.
pub(super) const WORD_CHARS: usize = 500;
/// Longest id of a product, in characters. Lists have ids and URLs whole.
pub(super) const ID_CHARS: usize = 500;
/// Longest URL of a product's website or of a licence, in characters.
pub(super) const URL_CHARS: usize = 2_000;
/// Longest name of a category or glossary term, in characters.
pub(super) const LABEL_CHARS: usize = 500;
/// Longest property of an attribute, in characters.
pub(super) const PROPERTY_CHARS: usize = 100;
/// Longest id made from such a name, in bytes.
const SLUG_BYTES: usize = 2_000;
/// Longest number, in characters as written.
pub(super) const NUMBER_CHARS: usize = 1_000;
/// Most terms in one list of a synonym group.
pub(super) const GROUP_TERMS: usize = 200;
/// Most synonym groups that expand one term, over all exports.
pub(super) const TERM_GROUPS: usize = 20;
/// Most queries in one pin.
pub(super) const PIN_QUERIES: usize = 100;
/// Most pinned queries over all exports.
pub(super) const PINNED_QUERIES: usize = 10_000;
/// Findings of one code that are kept for one file; further ones are counted.
pub(super) const KEPT_FINDINGS: usize = 100;

/// Longest part of a finding: message, remedy, pointer or note, in bytes.
const FINDING_BYTES: usize = 600;

/// Cuts a part of a finding to its limit.
pub(super) fn shortened(mut text: String) -> String {
    if text.len() > FINDING_BYTES {
        text.truncate(text.floor_char_boundary(FINDING_BYTES));
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Why a category or glossary term can't have this name, if it can't.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    // Nearly every name is short with an ASCII letter, and making a slug takes longer.
    if name.len() <= 100 && name.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    if is_longer(name, LABEL_CHARS) {
        return Some("has at most 500 characters");
    }
    match slug(name).len() {
        0 => Some("needs a letter or a digit"),
        1..=SLUG_BYTES => None,
        _ => Some("has at most 500 characters, ligatures written out"),
    }
}

/// The length of the first word that is too long, in characters.
pub(super) fn overlong_word(text: &str) -> Option<usize> {
    // No word has a space, and few texts need a closer look.
    if text.split(' ').all(|run| run.len() <= WORD_CHARS) {
        return None;
    }
    // A text that is too long as a whole has a finding already.
    if text.chars().nth(TEXT_CHARS).is_some() {
        return None;
    }
    let lengths = analyse::places(text).into_iter().map(|place| text[place].chars().count());
    lengths.into_iter().find(|length| *length > WORD_CHARS)
}
