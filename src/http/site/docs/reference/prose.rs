//! Converts descriptions from Markdown to HTML: paragraphs, and code in backticks.

use crate::text::html::escape;

pub(super) fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    paragraphs.flat_map(|paragraph| ["<p>".to_owned(), line(paragraph), "</p>\n".to_owned()]).collect()
}

pub(super) fn line(text: &str) -> String {
    let mark = |(index, part): (usize, &str)| {
        let part = escape(part);
        if index % 2 == 1 { format!("<code>{part}</code>") } else { part }
    };
    text.split('`').enumerate().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::paragraphs;

    #[test]
    fn code_is_marked_and_markup_escaped() {
        assert_eq!(paragraphs("a <b> `c<d`\n\ne"), "<p>a &lt;b&gt; <code>c&lt;d</code></p>\n<p>e</p>\n");
        assert_eq!(paragraphs(""), "");
    }
}
