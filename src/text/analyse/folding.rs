//! Normal forms of words: case, composition, accents, and scripts without spaces.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::text::fold::folded;

/// Converts to composed lower case and drops `&`.
pub(super) fn normal(word: &str) -> String {
    if word.is_ascii() {
        let mut word = word.to_ascii_lowercase();
        word.retain(|c| c != '&');
        return word;
    }
    word.chars().filter(|c| *c != '&').flat_map(char::to_lowercase).nfc().collect()
}

/// Folds [marks and compatibility forms](folded). Also folds letters that don't decompose but that people
/// write without the stroke or ligature if their keyboard lacks them.
pub(super) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut letters = String::with_capacity(word.len());
    for c in folded(word) {
        match c {
            'ß' => letters.push_str("ss"),
            'æ' => letters.push_str("ae"),
            'œ' => letters.push_str("oe"),
            'ø' => letters.push('o'),
            'đ' | 'ð' => letters.push('d'),
            'ł' => letters.push('l'),
            'þ' => letters.push_str("th"),
            'ı' => letters.push('i'),
            'ς' => letters.push('σ'),
            c => letters.push(c),
        }
    }
    letters
}

/// Whether a character belongs to a script that doesn't put spaces between words.
pub(super) fn is_unseparated(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF        // Thai, Lao
        | 0x1000..=0x109F      // Myanmar
        | 0x1780..=0x17FF      // Khmer
        | 0x3040..=0x30FF      // Hiragana, Katakana
        | 0x3400..=0x4DBF      // CJK extension A
        | 0x4E00..=0x9FFF      // CJK unified ideographs
        | 0xF900..=0xFAFF      // CJK compatibility ideographs
        | 0xFF66..=0xFF9F      // half-width Katakana and its voicing marks
        | 0x20000..=0x3FFFF) // CJK extensions B and up
}

/// Whether a character belongs to the letter before it.
pub(super) fn is_mark(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}')
}
