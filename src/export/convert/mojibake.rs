//! Recognises mojibake: UTF-8 that was decoded as Windows-1252 or ISO 8859-1, and characters lost
//! in a conversion.

use std::ops::Range;

use encoding_rs::WINDOWS_1252;

/// Finds the first garbled character and what it stands for. Only considers sequences that don't
/// occur in any language: `É»`, for example, ends a French quotation.
pub(super) fn garbled(text: &str) -> Option<(Range<usize>, char)> {
    text.char_indices().find_map(|(start, first)| {
        let length = match first {
            'Â' | 'Ã' | 'Ä' | 'Å' => 2,
            'â' | 'ï' => 3,
            'ð' => 4,
            _ => return None,
        };
        // The bytes after the first are 80 to BF. Windows-1252 maps some of them to characters
        // outside of ISO 8859-1.
        let is_next = |c: char| matches!(c, '\u{80}'..='\u{bf}' | '\u{100}'..);
        if !text[start + first.len_utf8()..].starts_with(is_next) {
            return None;
        }
        let piece: String = text[start..].chars().take(length).collect();
        let end = start + piece.len();
        let meant = decoded(&piece).filter(|meant| is_likely(*meant, &piece, &text[end..]))?;
        Some((start..end, meant))
    })
}

/// Encodes text as Windows-1252 or ISO 8859-1 and decodes it as UTF-8. Returns the result if it's a
/// single character.
fn decoded(piece: &str) -> Option<char> {
    let (bytes, _, is_unmappable) = WINDOWS_1252.encode(piece);
    let bytes = if is_unmappable {
        piece.chars().map(|c| u8::try_from(c).ok()).collect::<Option<Vec<_>>>()?.into()
    } else {
        bytes
    };
    let mut chars = std::str::from_utf8(&bytes).ok()?.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// Whether a character is so common that the sequence is unlikely to be letters and punctuation
/// that happen to be adjacent.
fn is_likely(meant: char, piece: &str, behind: &str) -> bool {
    match meant {
        '\u{a0}'..='ÿ' | '\u{2010}'..='\u{203a}' | '€' | '™' | '←'..='⇿' | '\u{feff}' | '\u{1f000}'.. => true,
        // „Ä“ and Ä… occur in German text.
        'Ā'..='ſ' => {
            !piece.ends_with(['“', '”', '’', '…', '–', '—', '»', '›']) || behind.starts_with(char::is_alphabetic)
        }
        _ => false,
    }
}

/// Finds the first replacement character, unless the text is about it.
pub(super) fn lost(text: &str) -> Option<Range<usize>> {
    let start = text.find(char::REPLACEMENT_CHARACTER)?;
    let is_mention = text.contains("FFFD") || text.contains("eplacement character");
    (!is_mention).then_some(start..start + char::REPLACEMENT_CHARACTER.len_utf8())
}

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1252;

    use super::{garbled, lost};

    #[test]
    fn utf_8_decoded_as_another_encoding_is_found() {
        for meant in "äöüÄÖÜßéèàñçøåœ’“–…•€™©®°·→łąšČ😀\u{a0}\u{feff}".chars()
        {
            let utf_8 = meant.to_string();
            let (windows, _) = WINDOWS_1252.decode_without_bom_handling(utf_8.as_bytes());
            let latin_1: String = utf_8.bytes().map(char::from).collect();
            for piece in [&*windows, &latin_1] {
                let text = format!("Gr{piece}x");
                assert_eq!(garbled(&text), Some((2..2 + piece.len(), meant)), "{text:?}");
            }
        }
    }

    #[test]
    fn text_in_other_languages_is_left_alone() {
        for text in [
            "Größe, Über, „Ä“, Ä…",
            "« CAFÉ» «é…» NÃO São Ångström Å",
            "Île, français, naïve, âge, Țânțar, ROMÂNĂ",
            "Þetta er íslenska: ð, að",
            "Tiếng Việt: Ấ Ẫ Â Ã",
            "Zażółć gęślą jaźń, příliš žluťoučký",
            "安全管理 ✓ 😀 €5 ™",
        ] {
            assert_eq!(garbled(text), None, "{text}");
            assert_eq!(lost(text), None, "{text}");
        }
    }

    #[test]
    fn lost_characters_are_found_unless_the_text_is_about_them() {
        assert_eq!(lost("Gr\u{fffd}\u{fffd}e"), Some(2..5));
        assert_eq!(lost("shows \u{fffd} (U+FFFD) for it"), None);
        assert_eq!(lost("the replacement character \u{fffd}"), None);
    }
}
