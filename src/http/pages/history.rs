//! A product's history: a section of its page, and a page of its own.

use std::borrow::Cow;
use std::collections::BTreeMap;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::value::RawValue;

use super::call::{Call, Calls};
use super::edition::Edition;
use super::frame::{Frame, Section};
use super::language::Texts;
use super::links::{Address, Base, PAGE, of_software, segment};
use super::pager::{Pager, offset};
use super::visit::Visit;
use super::{attribute, respond};
use crate::catalogue::StoredProduct;
use crate::catalogue::resource::{HistoryEntry, PropertyChange};
use crate::http::extract::PathId;
use crate::http::problem::ApiError;
use crate::service::{self, PageRequest};
use crate::text::shorten::{is_longer, shortened};

/// How many changes a page shows.
const CHANGES: u32 = 20;

/// How much of a value is shown, in characters.
const VALUE_CHARS: usize = 300;

#[derive(Debug, Template)]
#[template(path = "history.html")]
struct HistoryPage<'a> {
    frame: Frame<'a>,
    t: &'static Texts,
    name: &'a str,
    /// The product's page; `None` if it has been removed.
    href: Option<String>,
    since: Option<&'a str>,
    entries: Entries<'a>,
    pager: Option<Pager>,
    calls: Calls,
}

/// Entries of a history, newest first.
#[derive(Debug, Template)]
#[template(path = "parts/history.html")]
pub(super) struct Entries<'a> {
    pub(super) edition: Edition<'a>,
    pub(super) entries: Vec<HistoryEntry<'a>>,
}

impl Entries<'_> {
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn t(&self) -> &'static Texts {
        self.edition.t
    }

    fn label<'c>(&'c self, change: &'c PropertyChange<'_>) -> &'c str {
        let (t, attributes) = (self.edition.t, &self.edition.catalogue.tables.attributes);
        if let Some(number) = attributes.number(change.property) {
            return attribute::name(t, self.edition.language, attributes.get(number)).0;
        }
        match change.property {
            "name" => t.by_name,
            "url" => t.website,
            "description" => t.about,
            "sources" => t.sources,
            "evidence" => t.claim_sources,
            "evidence_status" => t.evidence,
            "evidence_checked_on" => t.checked_on,
            "rating" => t.rating,
            "review_count" => t.reviews,
            "offering_type" => t.kind,
            "pricing" => t.pricing,
            "repository" => t.repository,
            "features" => t.features,
            "alternative_to" => t.alternative_to,
            "aliases" => t.also_called,
            "categories" => t.categories,
            "export" => t.export,
            other => other,
        }
    }
}

/// How much is shown of what two long values have in common, in characters.
const COMMON_CHARS: usize = 30;

/// A change's old and new value on one line each. Long values start shortly before they differ.
fn values(change: &PropertyChange<'_>) -> (Option<String>, Option<String>) {
    let lines = [change.from, change.to].map(|value| value.map(line));
    let common = match &lines {
        [Some(from), Some(to)] => from.chars().zip(to.chars()).take_while(|(a, b)| a == b).count(),
        _ => 0,
    };
    let is_long = lines.iter().flatten().any(|line| is_longer(line, VALUE_CHARS));
    let skipped = if is_long { common.saturating_sub(COMMON_CHARS) } else { 0 };
    let [from, to] = lines.map(|line| {
        let start = if skipped > 0 { "…" } else { "" };
        let rest: String = start.chars().chain(line?.chars().skip(skipped)).collect();
        Some(shortened(&rest, VALUE_CHARS).into_owned())
    });
    (from, to)
}

/// A value on one line: arrays joined by commas, and objects as their names and values.
fn line(json: &RawValue) -> String {
    let json = json.get();
    let line = match json.as_bytes().first() {
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json).map(|of| of.into_iter().map(line).collect()),
        Some(b'{') => serde_json::from_str::<BTreeMap<String, &RawValue>>(json)
            .map(|of| of.into_iter().map(|(name, value)| format!("{name}: {}", line(value))).collect()),
        _ => serde_json::from_str(json).map(|text: String| vec![text]),
    };
    line.map_or_else(|_| json.to_owned(), |parts: Vec<_>| parts.join(", "))
}

pub(super) async fn get_history(visit: Visit, PathId(id): PathId) -> Result<Response, ApiError> {
    visit.on_pool(|visit, _| show(visit, id)).await
}

fn show(visit: &Visit, id: String) -> Result<Response, ApiError> {
    let (t, edition) = (visit.t(), visit.edition());
    let address = history_of(edition.base, &id).reading(&visit.query, &[PAGE]);
    let page = PageRequest { limit: CHANGES, offset: offset(address.page(), CHANGES) };
    let Some(history) = service::list_history(&visit.snapshot, &id, page)? else {
        return Err(ApiError::SoftwareNotFound(id));
    };
    let stored = service::read_software(&visit.snapshot, &id)?;
    let product = stored.as_ref().map(StoredProduct::read).transpose().map_err(ApiError::internal)?;
    let name = product.as_ref().map_or(Cow::Borrowed(&*id), |product| shortened(&product.item.name, VALUE_CHARS));
    let title = format!("{}{} {name}", t.history, t.colon);
    let mut frame = visit.frame().titled(&title).described(&title).at(address.path());
    frame.section = Section::Products;
    let call = Call::of("/v1/software/{}/history", "software.history", &id).with("limit", CHANGES);
    let view = HistoryPage {
        frame,
        t,
        name: &name,
        href: product.is_some().then(|| of_software(edition.base, &id)),
        since: history.since,
        entries: Entries { edition, entries: history.data },
        pager: Pager::new(t, history.pagination, &address, false),
        calls: Calls::new(t, visit.site(), &[call]),
    };
    respond::html(StatusCode::OK, t, &view)
}

pub(in crate::http) fn history_of(base: Base<'_>, id: &str) -> Address {
    Address::record(base.page(&format!("/software/{}/history", segment(id))), base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_on_a_line() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).expect("JSON");
        let shown = |from: &str, to: &str| {
            let (from, to) = (raw(from), raw(to));
            values(&PropertyChange { property: "p", from: Some(&from), to: Some(&to), truncated: false })
        };
        let pair = |from: &str, to: &str| (Some(from.to_owned()), Some(to.to_owned()));
        assert_eq!(shown("\"a\\nb\"", "1.50"), pair("a\nb", "1.50"));
        assert_eq!(shown("[\"a\",2.50,[\"l\",\"u\"]]", "{\"a\":[{\"b\":\"c\"}]}"), pair("a, 2.50, l, u", "a: b: c"));
        let [short, long] = [40, 500].map(|count| format!("\"{}", "é".repeat(count)));
        let (from, to) = shown(&format!("{long}a\""), &format!("{long}b\""));
        assert_eq!((from, to), pair(&format!("…{}a", "é".repeat(30)), &format!("…{}b", "é".repeat(30))));
        assert_eq!(shown(&format!("{short}a\""), "\"\"").0.map(|from| from.chars().count()), Some(41));
        assert_eq!(shown(&format!("{long}\""), "\"\"").0.map(|from| from.chars().count()), Some(VALUE_CHARS + 1));
    }
}
