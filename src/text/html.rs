//! Escapes text for HTML and XML, both in templates (`askama.toml` names `Html`) and in markup that
//! code assembles.

use std::fmt;

use askama::filters::Escaper;

/// The templates' escaper.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Html;

impl Escaper for Html {
    fn write_escaped_str<W: fmt::Write>(&self, mut html: W, text: &str) -> fmt::Result {
        escaped(text).try_for_each(|piece| html.write_str(piece))
    }
}

/// Escapes text for an element or a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    push_escaped(&mut html, text);
    html
}

pub(crate) fn push_escaped(html: &mut String, text: &str) {
    html.extend(escaped(text));
}

pub(crate) const fn is_special(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')
}

/// The text in pieces, with its special characters escaped.
fn escaped(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = text.bytes().position(is_special).unwrap_or(text.len());
        let piece;
        if end > 0 {
            (piece, text) = text.split_at(end);
            return Some(piece);
        }
        let special = *text.as_bytes().first()?;
        text = &text[1..];
        Some(match special {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        })
    })
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;

    #[derive(Template)]
    #[template(source = "<i title=\"{{ text }}\">{{ number }}</i>", ext = "html")]
    struct Shown<'a> {
        text: &'a str,
        number: u64,
    }

    #[test]
    fn templates_and_code_escape_text_the_same_way() {
        let text = "<b> \"it's\" & ünï";
        assert_eq!(escape(text), "&lt;b&gt; &quot;it&#39;s&quot; &amp; ünï");
        let shown = Shown { text, number: 7 }.render().expect("rendered");
        assert_eq!(shown, format!("<i title=\"{}\">7</i>", escape(text)));
    }
}
