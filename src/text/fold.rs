//! Folds the different ways of typing the same text, in any script: case, width, composition, and
//! marks that may be omitted.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{compose, is_combining_mark};

/// The text's characters in lower case and compatibility form (NFKD), without the marks that
/// [may be ignored](is_ignorable_mark). All other marks are composed with the preceding character,
/// if Unicode has such a character.
pub(crate) fn folded(text: &str) -> impl Iterator<Item = char> {
    let mut chars = text.nfkd().filter(|c| !is_ignorable_mark(*c)).peekable();
    let composed = std::iter::from_fn(move || {
        let mut c = chars.next()?;
        while let Some(both) = chars.peek().filter(|mark| is_combining_mark(**mark)).and_then(|mark| compose(c, *mark))
        {
            chars.next();
            c = both;
        }
        Some(c)
    });
    composed.flat_map(char::to_lowercase)
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
