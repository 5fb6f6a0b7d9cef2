//! Normal forms of words: case, composition, accents, and scripts without spaces.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::text::fold::folded;

/// Converts to composed lower case. Drops `&`, the dots of an acronym, and zero-width joiners.
pub(super) fn normal(word: &str) -> String {
    let has_dots = has_dots(word);
    let is_kept = |c: &char| is_kept(*c, has_dots);
    if word.is_ascii() {
        let mut lower = word.to_ascii_lowercase();
        if has_dots || word.as_bytes().contains(&b'&') {
            lower.retain(|c| is_kept(&c));
        }
        return lower;
    }
    word.chars().filter(is_kept).flat_map(char::to_lowercase).nfc().collect()
}

/// Whether nothing is left of a word once it's [normal] and [folded](fold).
pub(super) fn is_dropped(word: &str) -> bool {
    let has_dots = has_dots(word);
    word.chars().filter(|c| is_kept(*c, has_dots)).all(|c| fold(c.encode_utf8(&mut [0; 4])).is_empty())
}

fn has_dots(word: &str) -> bool {
    word.as_bytes().contains(&b'.') && acronym(word).is_some()
}

const fn is_kept(c: char, has_dots: bool) -> bool {
    c != '&' && !(has_dots && c == '.') && !is_joiner(c)
}

/// The length of the dotted acronym at the start of the text, without its last dot: `E.H.S.`
pub(super) fn acronym(text: &str) -> Option<usize> {
    let (mut letters, mut end) = (0, 0);
    while let Some(c) = text[end..].chars().next().filter(|c| c.is_alphabetic() && !is_unseparated(*c)) {
        letters += 1;
        end += c.len_utf8();
        let mut next = text[end..].chars();
        match next.next() {
            Some('.') if next.next().is_some_and(char::is_alphabetic) => end += 1,
            Some(next) if next.is_alphanumeric() || is_combining_mark(next) => return None,
            _ => return (letters > 1).then_some(end),
        }
    }
    None
}

/// Whether a character only shapes its neighbours: zero-width joiners and the soft hyphen.
pub(super) const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}')
}

/// A letter's common form. `None` for characters that some people omit: apostrophes used as
/// letters, and the tatweel, which stretches Arabic words.
const fn common_form(c: char) -> Option<char> {
    Some(match c {
        'ʹ' | 'ʻ' | 'ʼ' | '\u{640}' => return None,
        'ς' => 'σ',
        'ى' | 'ی' => 'ي',
        'ک' => 'ك',
        'ך' => 'כ',
        'ם' => 'מ',
        'ן' => 'נ',
        'ף' => 'פ',
        'ץ' => 'צ',
        c => c,
    })
}

/// A word with `ä`, `ö`, `ü`, `ø` or `å`, as written by people whose keyboards lack these letters.
pub(super) fn spelled_out(spelling: &str) -> Option<String> {
    let mut spelled = String::with_capacity(spelling.len() + 2);
    for c in spelling.chars() {
        match c {
            'ä' => spelled.push_str("ae"),
            'ö' | 'ø' => spelled.push_str("oe"),
            'ü' => spelled.push_str("ue"),
            'å' => spelled.push_str("aa"),
            c => spelled.push(c),
        }
    }
    (spelled != spelling).then(|| fold(&spelled))
}

/// Folds [marks and compatibility forms](folded), as well as letters that don't decompose but that
/// people type without the stroke or ligature if their keyboards lack them.
pub(in crate::text) fn fold(word: &str) -> String {
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
            c => letters.extend(common_form(c)),
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
