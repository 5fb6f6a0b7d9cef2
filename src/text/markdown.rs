//! Escapes text for Markdown.

use std::fmt::Write as _;

use crate::text::printable::printable;

/// Escapes a text so that Markdown and HTML show it literally.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in printable(text).chars() {
        match c {
            '\t' => escaped.push(' '),
            '&' | '<' | '>' | '"' | '*' | '_' | '`' | '[' | ']' | '|' | '~' | '#' | '@' | '\\' | '$' | '!' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn texts_are_no_markup() {
        assert_eq!(escape("<b>a|b</b>"), "&#60;b&#62;a&#124;b&#60;/b&#62;");
        assert_eq!(escape("@all #1\n[x](y)"), r"&#64;all &#35;1&#92;u{a}&#91;x&#93;(y)");
        assert_eq!(escape("C++ (fast), 50 %"), "C++ (fast), 50 %");
    }
}
