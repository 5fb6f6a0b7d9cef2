//! Suggestions below the search box, rendered for the script as options of a listbox.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::edition::Edition;
use super::language::Texts;
use super::links::of_term;
use super::respond;
use super::visit::Visit;
use crate::catalogue::resource::Suggestions;
use crate::http::problem::ApiError;
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
    fn term(&self, term: &str) -> String {
        of_term(self.edition.base, term)
    }
}

pub(super) async fn get_suggestions(visit: Visit) -> Result<Response, ApiError> {
    let q = String::from_utf8_lossy(visit.query.first("q").unwrap_or_default());
    let q: String = q.chars().take(MAX_QUERY_CHARACTERS).collect();
    let suggest = move |visit: &Visit, stop: &Stop| {
        let (t, edition, budget) = (visit.t(), visit.edition(), service::budget(&visit.snapshot, stop));
        let found = service::suggest(&visit.snapshot, &q, LIMIT, edition.language, &budget)?;
        respond::html(StatusCode::OK, t, &Options { edition, t, found })
    };
    visit.on_pool(suggest).await
}
