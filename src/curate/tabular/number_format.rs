//! Converts a workbook's numbers to the text they're displayed as, if their format adds anything.

/// The number as shown, if the format adds anything to it: leading zeros (`00000`), a percent sign,
/// or a unit (`0.00 "EUR"`).
pub(super) fn shown(number: f64, format: &str) -> Option<String> {
    // Formats for negative numbers and zero come after semicolons.
    let format = format.split(';').next().unwrap_or_default();
    if !format.is_empty() && format.bytes().all(|byte| byte == b'0') {
        let is_whole = number >= 0.0 && number.fract() == 0.0;
        return is_whole.then(|| format!("{number:0>width$}", width = format.len()));
    }
    if format.trim_end().ends_with('%') {
        // Rounded, because 0.07 times 100 is 7.000000000000001 in floating point.
        let percent = (number * 100.0 * 1e9).round() / 1e9;
        return Some(format!("{percent}%"));
    }
    let (before, behind) = literals(format)?;
    let text = format!("{before}{number}{behind}");
    (!before.is_empty() || !behind.is_empty()).then_some(text)
}

/// The literal text before and after the digits; `None` for a date format.
fn literals(format: &str) -> Option<(String, String)> {
    let (mut before, mut behind) = (String::new(), String::new());
    let mut has_digits = false;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let place = if has_digits { &mut behind } else { &mut before };
        match c {
            '"' => place.extend(chars.by_ref().take_while(|c| *c != '"')),
            // A currency such as `[$€-407]`. Colours and conditions aren't text.
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                let currency = inner.strip_prefix('$').and_then(|inner| inner.split('-').next());
                place.push_str(currency.unwrap_or_default());
            }
            '\\' => place.extend(chars.next()),
            // A space as wide as the next character, and a character that is repeated to fill the
            // cell.
            '_' | '*' => drop(chars.next()),
            '0' | '#' | '?' => has_digits = true,
            '€' | '$' | '£' | '¥' => place.push(c),
            ' ' => place.push(' '),
            'y' | 'm' | 'd' | 'h' | 's' | 'Y' | 'M' | 'D' | 'H' | 'S' | 'E' | 'e' | '@' => return None,
            _ => {}
        }
    }
    let is_text = |text: &str| text.chars().any(|c| !c.is_whitespace());
    let kept = |text: String| if is_text(&text) { text } else { String::new() };
    has_digits.then(|| (kept(before).trim_start().to_owned(), kept(behind).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn text_added_by_a_number_format_is_kept() {
        for (number, format, expected) in [
            (42.0, "00000", Some("00042")),
            (0.25, "0%", Some("25%")),
            (0.07, "0.0%", Some("7%")),
            (1234.5, "#,##0.00 \"EUR\"", Some("1234.5 EUR")),
            (9.0, "#,##0.00\\ [$€-407]", Some("9 €")),
            (9.0, "[$$-409]#,##0.00;[Red]-[$$-409]#,##0.00", Some("$9")),
            (4.5, "General", None),
            (4.5, "0.00", None),
            (4.5, "#,##0_);(#,##0)", None),
            (45_730.0, "yyyy-mm-dd", None),
            (1.5, "@", None),
        ] {
            assert_eq!(shown(number, format).as_deref(), expected, "{format}");
        }
    }
}
