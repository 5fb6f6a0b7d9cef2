//! Feeds of searches, as Atom (RFC 4287) and JSON Feed 1.1 documents. They aren't part of the API or
//! the OpenAPI document; programs use `/v1/changes` instead. Text from records is always escaped, so
//! it can't become markup.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use axum::routing::get;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use serde_json::json;

use crate::catalogue::resource::UnknownValue;
use crate::http::api::software::check_attributes;
use crate::http::config::HttpConfig;
use crate::http::extract::query::{FromParameters, Parameters, Query, RawQuery};
use crate::http::extract::{Served, Snapshot};
use crate::http::middleware::FEEDS;
use crate::http::pages::links::of_software;
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::service::parameter::Values;
use crate::service::parameter::definition::{CATEGORY, FILTERS, IDS, SEARCH_Q};
use crate::service::{self, FeedEntry, FeedKind, SoftwareFilter, Stop};
use crate::text::append;

struct GetFeed {
    q: Option<String>,
    filter: SoftwareFilter,
}

impl FromParameters for GetFeed {
    const PARAMETERS: Parameters = &[&[&SEARCH_Q, &IDS], &FILTERS];

    fn read(values: &mut Values<'_>) -> Self {
        Self { q: values.query(&SEARCH_Q), filter: SoftwareFilter::from_values(values) }
    }
}

pub(in crate::http) fn router() -> Router<Arc<AppState>> {
    FEEDS.into_iter().fold(Router::new(), |router, feed| router.route(feed, get(get_feed)))
}

async fn get_feed(
    State(state): State<Arc<AppState>>,
    snapshot: Snapshot,
    Query(GetFeed { q, filter }): Query<GetFeed>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let served = Served::Snapshot(snapshot.clone());
    check_attributes(&served, &filter, &[], None)?;
    let (config, is_json) = (Arc::clone(&state), uri.path() == FEEDS[1]);
    let write = move |stop: Stop| {
        let query = uri.query().unwrap_or_default();
        let entries = service::list_feed(&snapshot, q.as_deref(), &filter, &stop)?;
        let feed = Feed {
            unknown: &service::unknown_values(&snapshot.catalogue, None, &filter),
            config: &config.config,
            query,
            subject: &subject(query),
            changed_at: snapshot.changes.changed_at(),
            since: snapshot.past.since(&snapshot.changes),
            entries: &entries,
        };
        if is_json { feed.json().map_err(ApiError::internal) } else { feed.atom().map_err(ApiError::internal) }
    };
    let kind = if is_json { "application/feed+json" } else { "application/atom+xml; charset=utf-8" };
    Ok(response::of_type(kind, state.search(write).await??))
}

/// What a query asks for, in words: `permit, category: audits`.
fn subject(query: &str) -> String {
    let query = RawQuery::parse(query);
    let text = |bytes| String::from_utf8_lossy(bytes);
    let pairs = query.pairs().map(|(name, value)| match text(name) {
        name if name == SEARCH_Q.name || name == CATEGORY.name => text(value).into_owned(),
        name => format!("{name}: {}", text(value)),
    });
    pairs.collect::<Vec<_>>().join(", ")
}

/// The feed's timestamp if the log has no entries.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00Z";

#[derive(Debug)]
struct Feed<'f> {
    config: &'f HttpConfig,
    /// The query string of the feed's own URL, without the question mark; empty for the feed of all
    /// products.
    query: &'f str,
    /// What the feed is about, in words; empty for the feed of all products.
    subject: &'f str,
    /// The filter's values that don't exist.
    unknown: &'f [UnknownValue],
    /// When the feed last changed (RFC 3339, UTC); empty if unknown.
    changed_at: &'f str,
    /// Since when no change is missing (RFC 3339, UTC); empty if unknown.
    since: &'f str,
    entries: &'f [FeedEntry],
}

type Xml = Writer<Vec<u8>>;

impl Feed<'_> {
    /// The feed as a JSON Feed.
    fn json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let items: Vec<_> = self.entries.iter().map(|entry| self.item(entry)).collect();
        serde_json::to_vec(&json!({
            "version": "https://jsonfeed.org/version/1.1",
            "title": self.title(),
            "home_page_url": self.home_page(),
            "feed_url": self.address("/feed.json"),
            "description": self.description(),
            "authors": [{"name": self.config.publisher()}],
            "items": items,
        }))
    }

    fn item(&self, entry: &FeedEntry) -> serde_json::Value {
        let tags: Vec<_> = entry.categories.iter().map(|(_, name)| name).collect();
        let mut item = json!({
            "id": entry_id(entry),
            "url": self.page(entry),
            "title": title(entry),
            "content_text": content(entry),
            "date_published": entry.at,
            "tags": tags,
        });
        if let Some(tagline) = &entry.tagline {
            item["summary"] = tagline.as_str().into();
        }
        item
    }

    fn atom(&self) -> io::Result<Vec<u8>> {
        let mut xml = Writer::new(Vec::new());
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
        xml.create_element("feed")
            .with_attribute(("xmlns", "http://www.w3.org/2005/Atom"))
            .write_inner_content(|xml| self.write_content(xml))?;
        Ok(xml.into_inner())
    }

    fn title(&self) -> String {
        let HttpConfig { site_title, .. } = self.config;
        let subject = if self.subject.is_empty() { "news" } else { self.subject };
        format!("{site_title}: {subject}")
    }

    fn description(&self) -> String {
        let since = if self.since.is_empty() { String::new() } else { format!("Complete since {}.", self.since) };
        let unknown = self.unknown.iter().map(|UnknownValue { parameter, value, nearest }| {
            let nearest = if nearest.is_empty() { String::new() } else { format!(" Similar: {}.", nearest.join(", ")) };
            format!("There is no {parameter} {value:?}.{nearest}")
        });
        unknown.chain([since]).collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }

    fn address(&self, path: &str) -> String {
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        format!("{}{path}{query}", self.config.base())
    }

    /// The page with the search's results. Pages can't select products by id.
    fn home_page(&self) -> String {
        let has_id = self.query.split('&').any(|pair| pair.starts_with("id="));
        if has_id { format!("{}/", self.config.base()) } else { self.address("/") }
    }

    fn page(&self, entry: &FeedEntry) -> String {
        of_software(self.config.absolute(), &entry.id)
    }

    fn write_content(&self, xml: &mut Xml) -> io::Result<()> {
        let changed_at = if self.changed_at.is_empty() { UNKNOWN_TIME } else { self.changed_at };
        text(xml, "id", &urn(&["feed", self.config.base(), self.subject]))?;
        text(xml, "title", &self.title())?;
        text(xml, "subtitle", &self.description())?;
        text(xml, "updated", changed_at)?;
        link(xml, "self", "application/atom+xml", &self.address("/feed.atom"))?;
        link(xml, "alternate", "text/html", &self.home_page())?;
        xml.create_element("author").write_inner_content(|xml| text(xml, "name", self.config.publisher()))?;
        self.entries.iter().try_for_each(|entry| {
            xml.create_element("entry").write_inner_content(|xml| self.write_entry(xml, entry))?;
            Ok(())
        })
    }

    fn write_entry(&self, xml: &mut Xml, entry: &FeedEntry) -> io::Result<()> {
        text(xml, "id", &entry_id(entry))?;
        text(xml, "title", &title(entry))?;
        text(xml, "updated", &entry.at)?;
        text(xml, "published", &entry.at)?;
        link(xml, "alternate", "text/html", &self.page(entry))?;
        for (id, name) in &entry.categories {
            xml.create_element("category")
                .with_attribute(("term", &*legal(id)))
                .with_attribute(("label", &*legal(name)))
                .write_empty()?;
        }
        if !entry.license.is_empty() {
            text(xml, "rights", &entry.license)?;
        }
        text(xml, "content", &content(entry))?;
        entry.tagline.iter().try_for_each(|tagline| text(xml, "summary", tagline))
    }
}

fn title(FeedEntry { kind, name, evidence_checked_on, .. }: &FeedEntry) -> String {
    match (kind, evidence_checked_on) {
        (FeedKind::Added, _) => name.clone(),
        (FeedKind::Started, _) => format!("{name}: matches now"),
        (FeedKind::Changed, _) => format!("{name}: changed"),
        (FeedKind::EvidenceRenewed, Some(day)) => format!("{name}: evidence checked on {day}"),
        (FeedKind::EvidenceRenewed, None) => format!("{name}: evidence checked"),
        (FeedKind::Stopped, _) => format!("{name}: no longer matches"),
        (FeedKind::Removed, _) => format!("{name}: removed"),
    }
}

fn content(FeedEntry { kind, changed, .. }: &FeedEntry) -> String {
    let what = match kind {
        FeedKind::Added => "Added.",
        FeedKind::Started => "Matches now.",
        FeedKind::Stopped => "No longer matches.",
        FeedKind::Removed => "Removed.",
        FeedKind::Changed | FeedKind::EvidenceRenewed if changed.is_empty() => "Changed.",
        FeedKind::Changed | FeedKind::EvidenceRenewed => return format!("Changed: {}", changed.join(", ")),
    };
    if changed.is_empty() { what.to_owned() } else { format!("{what} Changed: {}", changed.join(", ")) }
}

/// The same in every feed, so that a reader who follows several searches sees a change once.
fn entry_id(entry: &FeedEntry) -> String {
    let kind = match entry.kind {
        FeedKind::Added => "added",
        FeedKind::Started => "started",
        FeedKind::Changed => "changed",
        FeedKind::EvidenceRenewed => "renewed",
        FeedKind::Stopped => "stopped",
        FeedKind::Removed => "removed",
    };
    urn(&[kind, &entry.id, &entry.at])
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
pub(in crate::http) fn legal(text: &str) -> String {
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
        let entry = FeedEntry {
            kind: FeedKind::Started,
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
        let feed = Feed {
            config: &config,
            query: "category=%3Cb%3E",
            subject: "<b>",
            unknown: &[],
            changed_at: "",
            since: "",
            entries: &[entry],
        };
        let json: serde_json::Value = serde_json::from_slice(&feed.json().expect("JSON")).expect("JSON");
        assert_eq!((&json["items"][0]["summary"], &json["title"]), (&hostile.into(), &feed.title().into()));
        let document = String::from_utf8(feed.atom().expect("in memory")).expect("UTF-8");
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
