//! Turns an operator's Markdown into HTML. HTML in it is shown as text, and only safe links work.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::http::face::is_link;
use crate::text::append;
use crate::text::html::{escape, push_escaped};

/// Markdown as HTML, and as plain text.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) plain: String,
    /// The first heading.
    pub(super) title: Option<String>,
}

/// Renders Markdown. Links to paths start with `base`.
pub(super) fn render(markdown: &str, base: &str) -> Rendered {
    let mut to = Rendered::default();
    let (mut heading, mut links) = (None, Vec::new());
    for event in Parser::new(markdown) {
        match event {
            Event::Start(tag) => {
                let html = match tag {
                    Tag::Paragraph => "<p>".to_owned(),
                    Tag::Heading { level, .. } => {
                        heading = Some(to.plain.len());
                        format!("<{level}>")
                    }
                    Tag::BlockQuote(_) => "<blockquote>".to_owned(),
                    Tag::CodeBlock(_) => "<pre><code>".to_owned(),
                    Tag::List(None) => "<ul class=\"bullets\">".to_owned(),
                    Tag::List(Some(start)) => format!("<ol class=\"bullets\" start=\"{start}\">"),
                    Tag::Item => "<li>".to_owned(),
                    Tag::Emphasis => "<em>".to_owned(),
                    Tag::Strong => "<strong>".to_owned(),
                    Tag::Link { dest_url, .. } => {
                        links.push(is_link(&dest_url));
                        let base = if dest_url.starts_with('/') { base } else { "" };
                        if is_link(&dest_url) {
                            format!("<a href=\"{}\">", escape(&format!("{base}{dest_url}")))
                        } else {
                            String::new()
                        }
                    }
                    _ => String::new(),
                };
                to.html.push_str(&html);
            }
            Event::End(tag) => {
                let html = match tag {
                    TagEnd::Paragraph => "</p>\n",
                    TagEnd::Heading(level) => {
                        let text = heading.take().map(|start| to.plain[start..].trim().to_owned());
                        to.title = to.title.take().or(text);
                        append(&mut to.html, format_args!("</{level}>\n"));
                        ""
                    }
                    TagEnd::BlockQuote(_) => "</blockquote>\n",
                    TagEnd::CodeBlock => "</code></pre>\n",
                    TagEnd::List(true) => "</ol>\n",
                    TagEnd::List(false) => "</ul>\n",
                    TagEnd::Item => "</li>\n",
                    TagEnd::Emphasis => "</em>",
                    TagEnd::Strong => "</strong>",
                    TagEnd::Link if links.pop() == Some(true) => "</a>",
                    _ => "",
                };
                to.html.push_str(html);
                if html.ends_with('\n') || html.is_empty() {
                    to.plain.push(' ');
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                push_escaped(&mut to.html, &text);
                to.plain.push_str(&text);
            }
            Event::Code(text) => {
                append(&mut to.html, format_args!("<code>{}</code>", escape(&text)));
                to.plain.push_str(&text);
            }
            Event::SoftBreak => {
                to.html.push('\n');
                to.plain.push(' ');
            }
            Event::HardBreak => {
                to.html.push_str("<br>\n");
                to.plain.push(' ');
            }
            Event::Rule => to.html.push_str("<hr>\n"),
            // Only with extensions, which are off.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }
    to.plain.truncate(to.plain.trim_end().len());
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_and_unsafe_links_are_shown_as_text() {
        let page = render(
            "# Über *uns*\n\nA **b** [c](/pages/d) [e](javascript:1) <b onclick=1>f</b> ![g](https://h.example/i.png)\n\n\
             <script>1</script>\n\n- j\n- <https://k.example/?a&b>",
            "/de",
        );
        assert_eq!(page.title.as_deref(), Some("Über uns"));
        for part in [
            "<h1>Über <em>uns</em></h1>",
            "<a href=\"/de/pages/d\">c</a> e &lt;b onclick=1&gt;f&lt;/b&gt; g</p>",
            "&lt;script&gt;1&lt;/script&gt;",
            "<ul class=\"bullets\"><li>j</li>",
            "<a href=\"https://k.example/?a&amp;b\">",
        ] {
            assert!(page.html.contains(part), "{part}: {}", page.html);
        }
        assert!(!page.html.contains("<script") && !page.html.contains("<img"), "{}", page.html);
        assert!(page.plain.starts_with("Über uns A b c e"), "{}", page.plain);
    }
}
