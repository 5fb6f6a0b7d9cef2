//! Descriptions in Markdown: paragraphs, and code in backticks.

use askama::Template;

#[derive(Debug, Template)]
#[template(path = "docs/prose.html")]
pub(in crate::http::pages::docs) struct Prose {
    /// Each paragraph's parts, alternating between prose and code.
    paragraphs: Vec<Vec<(String, bool)>>,
    is_block: bool,
}

impl Prose {
    pub(super) fn paragraphs(text: &str) -> Self {
        let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
        Self { paragraphs: paragraphs.map(marked).collect(), is_block: true }
    }

    /// Text within a paragraph.
    pub(in crate::http::pages::docs) fn line(text: &str) -> Self {
        Self { paragraphs: vec![marked(text)], is_block: false }
    }
}

fn marked(text: &str) -> Vec<(String, bool)> {
    text.split('`').enumerate().map(|(at, part)| (part.to_owned(), at % 2 == 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_marked_and_markup_escaped() {
        let html = |text| Prose::paragraphs(text).render().expect("rendered");
        assert_eq!(html("a <b> `c<d`\n\ne"), "<p>a &lt;b&gt; <code>c&lt;d</code></p>\n<p>e</p>\n");
        assert_eq!(html(""), "");
    }
}
