//! A preview: the page with the candidate's findings and changes, in English as the commands print
//! them, and its state for the script that polls it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::frame::Frame;
use super::language::PageLanguage;
use super::respond;
use crate::http::preview::{Comparison, Preview, Report, Status};
use crate::http::problem::ApiError;
use crate::http::response;
use crate::http::state::AppState;
use crate::text::count::counted;
use crate::text::printable;

#[derive(Debug, Template)]
#[template(path = "preview.html")]
struct PreviewPage<'a> {
    frame: Frame<'a>,
    preview: &'a Preview,
    report: Report,
    status: Status,
}

impl PreviewPage<'_> {
    fn warnings(&self) -> String {
        counted(self.report.findings.warnings, "warning")
    }
}

fn preview(state: &AppState) -> Result<&Preview, ApiError> {
    state.site.config.preview.as_deref().ok_or(ApiError::RouteNotFound)
}

pub(super) async fn get_page(State(state): State<Arc<AppState>>, language: PageLanguage) -> Result<Response, ApiError> {
    let shown = Arc::clone(&state);
    // Hashing and writing all findings and changes takes time.
    let write = move || write(&shown, language, StatusCode::OK);
    state.search(move |_| write()).await?
}

/// The page, also shown while there's nothing else to show.
pub(super) fn write(state: &AppState, language: PageLanguage, status: StatusCode) -> Result<Response, ApiError> {
    let (t, preview) = (language.texts(), preview(state)?);
    let page = PreviewPage {
        frame: Frame::bare(&state.site, language).titled(t.what_changes).at("/preview"),
        preview,
        report: preview.report(&state.directory),
        status: preview.status(&state.directory),
    };
    respond::html(status, t, &page)
}

/// The preview's state, for the script.
pub(super) async fn get_status(State(state): State<Arc<AppState>>) -> Result<Response, ApiError> {
    let shown = Arc::clone(&state);
    let status = move || Ok::<_, ApiError>(preview(&shown)?.status(&shown.directory));
    let status = state.search(move |_| status()).await??;
    Ok(response::uncached(response::json(serde_json::to_vec(&status).map_err(ApiError::internal)?)))
}
