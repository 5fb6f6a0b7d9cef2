//! The news feed as an Atom document (RFC 4287). Text from records is always escaped, so it can't
//! become markup.

use std::io;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::config::HttpConfig;
use crate::catalogue::resource::UnknownValue;
use crate::service::{News, NewsKind};
use crate::text::append;

/// The feed's timestamp if the log has no entries.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

#[derive(Debug)]
pub(super) struct Feed<'f> {
    pub(super) config: &'f HttpConfig,
    /// The query string of the feed's own URL, without the question mark; empty for the feed of all
    /// categories.
    pub(super) query: &'f str,
    /// The feed's categories as named in the query; empty means all.
    pub(super) categories: &'f [String],
    /// The categories that don't exist.
    pub(super) unknown: &'f [UnknownValue],
    /// When the feed last changed (RFC 3339, UTC); empty if unknown.
    pub(super) changed_at: &'f str,
    pub(super) news: &'f [News],
}

type Xml = Writer<Vec<u8>>;

impl Feed<'_> {
    pub(super) fn document(&self) -> io::Result<Vec<u8>> {
        let mut xml = Writer::new(Vec::new());
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
        xml.create_element("feed")
            .with_attribute(("xmlns", "http://www.w3.org/2005/Atom"))
            .write_inner_content(|xml| self.write_content(xml))?;
        Ok(xml.into_inner())
    }

    fn write_content(&self, xml: &mut Xml) -> io::Result<()> {
        let HttpConfig { site_title, .. } = self.config;
        let of = self.categories.join(", ");
        let title = if of.is_empty() { format!("{site_title}: news") } else { format!("{site_title}: news in {of}") };
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        let changed_at = if self.changed_at.is_empty() { UNKNOWN_TIME } else { self.changed_at };
        text(xml, "id", &urn(&["feed", self.config.base(), &of]))?;
        text(xml, "title", &title)?;
        if !self.unknown.is_empty() {
            let unknown: Vec<_> = self.unknown.iter().map(unknown_category).collect();
            text(xml, "subtitle", &unknown.join(" "))?;
        }
        text(xml, "updated", changed_at)?;
        link(xml, "self", "application/atom+xml", &format!("{}/feed.atom{query}", self.config.base()))?;
        link(xml, "alternate", "text/html", &format!("{}/", self.config.base()))?;
        xml.create_element("author").write_inner_content(|xml| text(xml, "name", self.config.publisher()))?;
        self.news.iter().try_for_each(|news| {
            xml.create_element("entry").write_inner_content(|xml| self.write_entry(xml, news))?;
            Ok(())
        })
    }

    fn write_entry(&self, xml: &mut Xml, news: &News) -> io::Result<()> {
        let (kind, title) = match (news.kind, &news.evidence_checked_on) {
            (NewsKind::Added, _) => ("added", news.name.clone()),
            (NewsKind::EvidenceRenewed, Some(day)) => ("renewed", format!("{}: evidence checked on {day}", news.name)),
            (NewsKind::EvidenceRenewed, None) => ("renewed", format!("{}: evidence checked", news.name)),
        };
        let page = utf8_percent_encode(&news.id, NON_ALPHANUMERIC);
        text(xml, "id", &urn(&[kind, &news.id, &news.at]))?;
        text(xml, "title", &title)?;
        text(xml, "updated", &news.at)?;
        text(xml, "published", &news.at)?;
        link(xml, "alternate", "text/html", &format!("{}/software/{page}", self.config.base()))?;
        for (id, name) in &news.categories {
            xml.create_element("category")
                .with_attribute(("term", &*legal(id)))
                .with_attribute(("label", &*legal(name)))
                .write_empty()?;
        }
        text(xml, "rights", &news.license)?;
        if !news.changed.is_empty() {
            text(xml, "content", &format!("Changed: {}", news.changed.join(", ")))?;
        }
        news.tagline.iter().try_for_each(|tagline| text(xml, "summary", tagline))
    }
}

fn unknown_category(UnknownValue { value, nearest, .. }: &UnknownValue) -> String {
    let nearest = if nearest.is_empty() { String::new() } else { format!(" Similar: {}.", nearest.join(", ")) };
    format!("There is no category {value:?}.{nearest}")
}

fn text(xml: &mut Xml, element: &str, content: &str) -> io::Result<()> {
    xml.create_element(element).write_text_content(BytesText::new(&legal(content)))?;
    Ok(())
}

fn link(xml: &mut Xml, relation: &str, media_type: &str, address: &str) -> io::Result<()> {
    xml.create_element("link")
        .with_attribute(("rel", relation))
        .with_attribute(("type", media_type))
        .with_attribute(("href", address))
        .write_empty()?;
    Ok(())
}

/// Replaces the characters that XML can't contain even when escaped (XML 1.0, 2.2).
pub(super) fn legal(text: &str) -> String {
    let is_legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if is_legal(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// A URN made from these parts: a version 8 UUID (RFC 9562) that's the same on every server.
fn urn(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // Hashes the lengths too, so no two lists produce the same bytes.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut urn = "urn:uuid:".to_owned();
    for (at, byte) in bytes.iter().enumerate() {
        let hyphen = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
        append(&mut urn, format_args!("{hyphen}{byte:02x}"));
    }
    urn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_cannot_become_markup() {
        let hostile = "<script>alert(1)</script> ]]> & \"q\" \u{0}\u{1b}\u{fffe} &lt;b&gt;";
        let news = News {
            kind: NewsKind::Added,
            at: "2026-01-01T00:00:00Z".to_owned(),
            id: "a/b\"><x>".to_owned(),
            name: hostile.to_owned(),
            tagline: Some(hostile.to_owned()),
            categories: vec![("\"><evil x=\"".to_owned(), hostile.to_owned())],
            evidence_checked_on: None,
            license: "https://example.org/?a&b".to_owned(),
            changed: vec![hostile.to_owned(), "pricing".to_owned()],
        };
        let config = HttpConfig::default();
        let categories = ["<b>".to_owned()];
        let feed = Feed {
            config: &config,
            query: "category=%3Cb%3E",
            categories: &categories,
            unknown: &[],
            changed_at: "",
            news: &[news],
        };
        let document = String::from_utf8(feed.document().expect("in memory")).expect("UTF-8");
        for markup in ["<script", "<x>", "<evil", "<b>", "\u{0}", "\u{1b}", "\u{fffe}"] {
            assert!(!document.contains(markup), "{markup:?}: {document}");
        }
        let mut reader = quick_xml::Reader::from_str(&document);
        reader.config_mut().check_end_names = true;
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Eof => break,
                Event::Empty(tag) | Event::Start(tag) => {
                    tag.attributes().for_each(|it| drop(it.expect("an attribute")));
                }
                _ => {}
            }
        }
        assert!(document.contains(", pricing</content>"), "{document}");
        assert!(document.contains("/software/a%2Fb%22%3E%3Cx%3E\""), "{document}");
        assert!(document.contains(&format!("<updated>{UNKNOWN_TIME}</updated>")));
    }

    #[test]
    fn urns_differ_if_any_part_does() {
        let one = urn(&["added", "a", "b"]);
        assert_eq!((one.len(), &one[23..24], one == urn(&["added", "a", "b"])), (45, "8", true));
        assert_ne!(one, urn(&["added", "ab", ""]));
    }
}
