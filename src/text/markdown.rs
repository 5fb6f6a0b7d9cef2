//! Escapes text for Markdown.

use crate::text::append;
use crate::text::printable::printable;

/// Keeps GitHub and GitLab from linking text. They look for addresses, people and issues in the
/// rendered text, so character references wouldn't stop them.
const BREAK: &str = "<span></span>";

/// Escapes text so that Markdown and HTML show it literally, without links to addresses
/// (`https://`, `www.`), people (`@name`) or issues (`#12`).
pub(crate) fn escape(text: &str) -> String {
    let text = printable(text);
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let rest = rest.as_str();
        let is_reference = matches!(c, '@' | '#' | '!' | '$' | '~' | '&' | '%')
            && rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '"'));
        let is_address = c == ':' && rest.starts_with("//") || c == '.' && ends_with_www(&escaped);
        if is_address {
            escaped.push_str(BREAK);
        }
        match c {
            '\t' => escaped.push(' '),
            '&' | '<' | '>' | '"' | '*' | '_' | '`' | '[' | ']' | '|' | '~' | '#' | '@' | '\\' | '$' | '!' => {
                append(&mut escaped, format_args!("&#{};", u32::from(c)));
            }
            c => escaped.push(c),
        }
        if is_reference {
            escaped.push_str(BREAK);
        }
    }
    escaped
}

fn ends_with_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn escaped_text_is_not_markup() {
        assert_eq!(escape("<b>a|b</b>"), "&#60;b&#62;a&#124;b&#60;/b&#62;");
        assert_eq!(escape("@all #1\n[x](y)"), r"&#64;<span></span>all &#35;<span></span>1&#92;n&#91;x&#93;(y)");
        assert_eq!(escape("C++ (fast), 50 %"), "C++ (fast), 50 %");
    }

    #[test]
    fn escaped_text_contains_no_links() {
        for (text, escaped) in [
            ("see HTTPS://evil.example/x", "see HTTPS<span></span>://evil.example/x"),
            ("http://a.example, ftp://b.example", "http<span></span>://a.example, ftp<span></span>://b.example"),
            ("(www.evil.example) WWW.evil.example", "(www<span></span>.evil.example) WWW<span></span>.evil.example"),
            ("jo@example.org", "jo&#64;<span></span>example.org"),
            ("owner/repo#12, !3", "owner/repo&#35;<span></span>12, &#33;<span></span>3"),
            ("C#, R&D: a.b", "C&#35;, R&#38;<span></span>D: a.b"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }
}
