//! Folds the different ways of typing the same text, in any script: case, width, composition, and
//! marks that may be omitted. Also classifies characters: marks, and scripts without spaces.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{compose, is_combining_mark};

/// The text's characters in lower case and compatibility form (NFKD), without the marks that
/// [may be ignored](is_ignorable_mark). All other marks are composed with the preceding character,
/// if Unicode has such a character.
pub(crate) fn folded(text: &str) -> impl Iterator<Item = char> {
    // Text in ASCII, which is most of it, only needs lower case.
    let (ascii, other) = if text.is_ascii() { (text, "") } else { ("", text) };
    let mut chars = other.nfkd().filter(|c| !is_ignorable_mark(*c)).peekable();
    let composed = std::iter::from_fn(move || {
        let mut c = chars.next()?;
        while let Some(both) = chars.peek().filter(|mark| is_combining_mark(**mark)).and_then(|mark| compose(c, *mark))
        {
            chars.next();
            c = both;
        }
        Some(c)
    });
    ascii.chars().map(|c| c.to_ascii_lowercase()).chain(composed.flat_map(char::to_lowercase))
}

/// Whether a mark may be omitted in writing: the accents of Latin, Greek and Cyrillic letters, the
/// points and vowel signs of Hebrew and Arabic, and marks that only change how a symbol looks. In
/// other scripts, marks make a different letter: the voicing of kana, Indic vowel signs, Thai tones.
fn is_ignorable_mark(c: char) -> bool {
    matches!(u32::from(c),
        0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0xFE20..=0xFE2F // diacritical marks
        | 0x0483..=0x0489 | 0x2DE0..=0x2DFF | 0xA66F..=0xA672 | 0xA674..=0xA67D | 0xA69E..=0xA69F // Cyrillic
        | 0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7 | 0xFB1E // Hebrew
        | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC | 0x06DF..=0x06E4 // Arabic
        | 0x06E7..=0x06E8 | 0x06EA..=0x06ED | 0x0897..=0x089F | 0x08CA..=0x08E1 | 0x08E3..=0x08FF
        | 0x20D0..=0x20F0 // for symbols
        | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF) // variation selectors
}

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

#[cfg(test)]
mod tests {
    fn folded(text: &str) -> String {
        super::folded(text).collect()
    }

    #[test]
    fn case_width_and_accents_are_folded() {
        for (text, expected) in [
            ("Évaluation", "evaluation"),
            ("E\u{301}VALUATION", "evaluation"),
            ("Ünïcödé ＡＢＣ ﬁ", "unicode abc fi"),
            ("Ἀθῆναι", "αθηναι"),
            ("ёлка", "елка"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("1\u{fe0f}\u{20e3}", "1"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn marks_that_make_a_different_letter_are_kept() {
        for (one, other) in
            [("バス", "ハス"), ("パス", "バス"), ("काम", "कम"), ("ป่า", "ป้า"), ("ខ្មែរ", "ខមរ"), ("မြန်", "မန")]
        {
            assert_ne!(folded(one), folded(other));
        }
        assert_eq!(folded("ﾊﾞｽ"), "バス");
        assert_eq!(folded("ハ\u{3099}ス"), "バス");
        assert_eq!(folded("किताब"), "किताब");
    }
}
