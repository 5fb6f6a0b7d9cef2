//! A product's history: a section of its page, and a page of its own.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde_json::value::RawValue;

use super::call::{Call, Calls};
use super::edition::Edition;
use super::frame::{Frame, Section};
use super::language::{PageLanguage, Texts};
use super::links::{Address, PAGE, of_software};
use super::pager::{Pager, offset};
use super::{attribute, respond};
use crate::catalogue::StoredProduct;
use crate::catalogue::resource::{HistoryEntry, PropertyChange};
use crate::http::extract::query::RawQuery;
use crate::http::extract::{PathId, Preferred, Snapshot};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::{self, PageRequest};
use crate::text::shorten::shortened;

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
            "url" => t.website,
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

/// A value on one line: strings as they are, arrays joined by commas, anything else as JSON.
fn value(json: &RawValue) -> String {
    let text = |json: &RawValue| serde_json::from_str(json.get()).unwrap_or_else(|_| json.get().to_owned());
    let elements: Option<Vec<&RawValue>> = serde_json::from_str(json.get()).ok();
    let line = match elements {
        Some(elements) => elements.into_iter().map(text).collect::<Vec<_>>().join(", "),
        None => text(json),
    };
    shortened(&line, VALUE_CHARS).into_owned()
}

pub(super) async fn get_history(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    PathId(id): PathId,
    uri: Uri,
) -> Result<Response, ApiError> {
    let of = Arc::clone(&state);
    let show = move |_| {
        let (t, site) = (language.texts(), &of.site);
        let edition = site.edition(language, &snapshot.catalogue, of_texts.as_ref());
        let query = RawQuery::parse(uri.query().unwrap_or_default());
        let address = Address::read(history_of(site.base_in(language), &id), &query, &[PAGE]);
        let page = PageRequest { limit: CHANGES, offset: offset(address.page(), CHANGES) };
        let Some(history) = service::list_history(&snapshot, &id, page)? else {
            return Err(ApiError::SoftwareNotFound(id));
        };
        let stored = service::read_software(&snapshot, &id)?;
        let product = stored.as_ref().map(StoredProduct::read).transpose().map_err(ApiError::internal)?;
        let name = product.as_ref().map_or(Cow::Borrowed(&*id), |product| shortened(&product.item.name, VALUE_CHARS));
        let title = format!("{}{} {name}", t.history, t.colon);
        let mut frame = Frame::new(site, language, &snapshot).titled(&title).described(&title);
        frame.section = Section::Products;
        frame.address = history_of("", &id);
        let call = Call::of("/v1/software/{}/history", "software.history", &id).with("limit", CHANGES);
        let view = HistoryPage {
            frame,
            t,
            name: &name,
            href: product.is_some().then(|| of_software(site.base_in(language), &id)),
            since: history.since,
            entries: Entries { edition, entries: history.data },
            pager: Pager::new(t, history.pagination, &address, false),
            calls: Calls::new(t, site, &[call]),
        };
        respond::html(StatusCode::OK, t, &view)
    };
    state.search(show).await?
}

pub(super) fn history_of(base: &str, id: &str) -> String {
    format!("{}/history", of_software(base, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_on_a_line() {
        let value = |json: &str| value(&RawValue::from_string(json.to_owned()).expect("JSON"));
        assert_eq!(value("\"a\\nb\""), "a\nb");
        assert_eq!(value("[\"a\",2.50,[\"l\",\"u\"]]"), "a, 2.50, [\"l\",\"u\"]");
        assert_eq!(value("1.50"), "1.50");
        assert_eq!(value(&format!("\"{}\"", "é".repeat(500))).chars().count(), VALUE_CHARS + 1);
    }
}
