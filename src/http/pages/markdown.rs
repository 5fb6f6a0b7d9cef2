//! Turns an operator's Markdown into HTML. HTML in it is shown as text, and only safe links work.

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::links::Base;
use crate::http::face::is_link;

/// Markdown as HTML, and as plain text.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) html: String,
    pub(super) plain: String,
    /// The first heading.
    pub(super) title: Option<String>,
}

/// Renders Markdown. Links to paths start with `base`.
pub(super) fn render(markdown: &str, base: Base<'_>) -> Rendered {
    let (mut plain, mut title, mut heading, mut links) = (String::new(), None, None, Vec::new());
    let events = Parser::new(markdown).filter_map(|event| {
        match &event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) | Event::Code(text) => plain.push_str(text),
            Event::Start(Tag::Heading { .. }) => heading = Some(plain.len()),
            Event::End(end) => {
                if let TagEnd::Heading(_) = end {
                    title = title.take().or(heading.take().map(|start: usize| plain[start..].trim().to_owned()));
                }
                if !matches!(end, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link) {
                    plain.push(' ');
                }
            }
            Event::SoftBreak | Event::HardBreak => plain.push(' '),
            _ => {}
        }
        Some(match event {
            Event::Start(Tag::Link { link_type, dest_url, id, .. }) => {
                let is_path = dest_url.starts_with('/');
                let url = if is_path { base.of_own_link(&dest_url) } else { Some(dest_url.to_string()) };
                links.push(is_link(&dest_url) && url.is_some());
                let dest_url = url.unwrap_or_default().into();
                return links.last()?.then(|| Event::Start(Tag::Link { link_type, dest_url, title: "".into(), id }));
            }
            Event::End(TagEnd::Link) if links.pop() != Some(true) => return None,
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => return None,
            Event::Start(Tag::List(None)) => Event::Html("<ul class=\"bullets\">".into()),
            Event::Start(Tag::List(Some(start))) => {
                Event::Html(format!("<ol class=\"bullets\" start=\"{start}\">").into())
            }
            Event::Start(Tag::Item) => Event::Html("<li>".into()),
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            event => event,
        })
    });
    let mut html = String::new();
    push_html(&mut html, events);
    plain.truncate(plain.trim_end().len());
    Rendered { html, plain, title }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVED: Base<'_> = Base { path: "/de", is_published: false };

    #[test]
    fn html_and_unsafe_links_are_shown_as_text() {
        let page = render(
            "# Über *uns*\n\nA **b** [c](/pages/d) [e](javascript:1) <b onclick=1>f</b> ![g](https://h.example/i.png)\n\n\
             <script>1</script>\n\n- j\n- <https://k.example/?a&b>",
            SERVED,
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
