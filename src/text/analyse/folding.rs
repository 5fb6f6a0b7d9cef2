//! Normal forms of words: case, composition, accents, and scripts without spaces.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Converts to composed lower case and drops `&`.
pub(super) fn normal(word: &str) -> String {
    if word.is_ascii() {
        let mut word = word.to_ascii_lowercase();
        word.retain(|c| c != '&');
        return word;
    }
    word.chars().filter(|c| *c != '&').flat_map(char::to_lowercase).nfc().collect()
}

/// Folds accents and compatibility forms. Also folds letters that don't decompose but that people
/// write without the stroke or ligature if their keyboard lacks them.
pub(super) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            c => folded.push(c),
        }
    }
    folded
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
        | 0xFF66..=0xFF9D      // half-width Katakana
        | 0x20000..=0x3FFFF) // CJK extensions B and up
}
