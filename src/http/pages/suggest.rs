//! Suggestions below the search box, rendered for the script as options of a listbox.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;

use super::edition::Edition;
use super::language::{PageLanguage, Texts};
use super::links::{of_category, of_software, of_term};
use super::respond;
use crate::catalogue::resource::Suggestions;
use crate::http::extract::query::RawQuery;
use crate::http::extract::{Preferred, Snapshot};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::{self, MAX_QUERY_CHARACTERS, Stop};

/// The maximum number of suggestions of each kind, so that the results below stay visible.
const LIMIT: u32 = 4;

#[derive(Debug, Template)]
#[template(path = "parts/suggestions.html")]
struct Options<'a> {
    edition: Edition<'a>,
    t: &'static Texts,
    found: Suggestions<'a>,
}

impl Options<'_> {
    fn software(&self, id: &str) -> String {
        of_software(self.edition.base, id)
    }

    fn term(&self, term: &str) -> String {
        of_term(self.edition.base, term)
    }

    fn category(&self, id: &str) -> String {
        of_category(self.edition.base, id)
    }
}

pub(super) async fn get_suggestions(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    Preferred(of_texts): Preferred,
    snapshot: Snapshot,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = RawQuery::parse(uri.query().unwrap_or_default());
    let q = query.pairs().find(|(name, _)| *name == b"q").map(|(_, value)| String::from_utf8_lossy(value).into_owned());
    let q: String = q.unwrap_or_default().chars().take(MAX_QUERY_CHARACTERS).collect();
    let of = Arc::clone(&state);
    let suggest = move |stop: Stop| {
        let budget = service::budget(&snapshot, &stop);
        let found = service::suggest(&snapshot, &q, LIMIT, of_texts.as_ref(), &budget)?;
        let t = language.texts();
        let edition = of.site.edition(language, &snapshot.catalogue, of_texts.as_ref());
        respond::html(StatusCode::OK, t, &Options { edition, t, found })
    };
    state.search(suggest).await?
}
