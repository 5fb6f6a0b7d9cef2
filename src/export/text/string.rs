//! Unescapes JSON strings.

/// Unescapes the text between a string's quotes. Tolerates errors that the parser has reported: an
/// unpaired surrogate becomes U+FFFD, and an unknown escape becomes the character after `\`.
pub(super) fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (c, length) = escape(&rest[at..]);
        text.push(c);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text
}

/// The character that an escape stands for, and the escape's length in bytes.
fn escape(raw: &str) -> (char, usize) {
    let Some(letter) = raw[1..].chars().next() else { return ('\\', 1) };
    let c = match letter {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode(raw),
        other => other,
    };
    (c, 1 + letter.len_utf8())
}

fn unicode(raw: &str) -> (char, usize) {
    let Some(unit) = code_unit(raw) else { return ('u', 2) };
    if let Some(c) = char::from_u32(unit) {
        return (c, 6);
    }
    let low = raw.get(6..).and_then(code_unit).filter(|low| is_low_surrogate(*low));
    match low {
        Some(low) if is_high_surrogate(unit) => {
            let c = char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            (c.unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The UTF-16 code unit of the `\uXXXX` escape at the start of `raw`.
pub(super) fn code_unit(raw: &str) -> Option<u32> {
    let digits = raw.strip_prefix("\\u")?.get(..4)?;
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

pub(super) const fn is_high_surrogate(unit: u32) -> bool {
    matches!(unit, 0xd800..=0xdbff)
}

pub(super) const fn is_low_surrogate(unit: u32) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_stand_for_their_characters() {
        assert_eq!(unescape(r#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"#), "a\"\\/\u{8}\u{c}\n\r\té😀z");
    }

    #[test]
    fn an_unpaired_surrogate_becomes_the_replacement_character() {
        assert_eq!(unescape(r"\ud83d\n\ude00\ud83d\ud83d\ude00"), "\u{fffd}\n\u{fffd}\u{fffd}😀");
    }
}
