//! A page's language, which is the first part of its path (`/de/software/moss`). Pages without one
//! are in the directory's own language.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::header::{CACHE_CONTROL, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::frame::own_language;
use super::language::{Language, PageLanguage};
use super::respond;
use crate::http::extract::ascii;
use crate::http::extract::query::RawQuery;
use crate::http::middleware::{RequestContext, SentUri, is_from_page, with_path};
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::service::parameter::definition::LANG;

/// Parts of the names of crawlers and of programs that fetch link previews. Most include a URL.
const CRAWLERS: [&str; 5] = ["bot", "crawl", "spider", "slurp", "://"];

/// Marks routes whose paths may start with a language. Stored as a request extension.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) enum Localised {
    Page,
    /// Part of a page, for its script.
    Part,
}

/// Removes the language from a request's path, and stores it as an extension.
pub(in crate::http) fn take_language(mut request: Request) -> Request {
    let uri = request.uri().clone();
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let Some(language) = Language::ALL.into_iter().find(|of| of.texts().tag == first) else { return request };
    if let Some(stripped) = with_path(&uri, &format!("/{rest}")) {
        *request.uri_mut() = stripped;
        request.extensions_mut().insert(SentUri(uri));
        request.extensions_mut().insert(PageLanguage { language, is_in_path: true });
    }
    request
}

/// The language from a request's path, or the directory's own.
pub(in crate::http) fn language_of(state: &AppState, request: &Request) -> PageLanguage {
    request.extensions().get().copied().unwrap_or_else(|| {
        let served = state.served();
        let language = served.map_or(Language::English, |served| own_language(served.catalogue()));
        PageLanguage { language, is_in_path: false }
    })
}

/// The response to a request for a page that should have a different address: a redirect to the
/// language that `?lang=` asks for, or to the visitor's when they arrive from elsewhere. Also refuses
/// a language in the path of anything but a page.
pub(in crate::http) fn settle_language(
    state: &AppState,
    context: &RequestContext,
    request: &Request,
) -> Option<Response> {
    let extensions = request.extensions();
    let is_in_path = extensions.get().is_some_and(|PageLanguage { is_in_path, .. }| *is_in_path);
    let Some(localised) = extensions.get::<Localised>() else {
        let is_known = extensions.get::<MatchedPath>().is_some();
        return (is_in_path && is_known).then(|| ApiError::RouteNotFound.into_response());
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) || matches!(localised, Localised::Part) {
        return None;
    }
    let language = match asked(context.query()) {
        Some(language) => language,
        None if is_in_path => return None,
        None => preferred(state, request)?,
    };
    let is_lang = |pair: &&str| pair.split('=').next() == Some(LANG.name);
    let query = request.uri().query().unwrap_or_default();
    let others: Vec<_> = query.split('&').filter(|pair| !pair.is_empty() && !is_lang(pair)).collect();
    let separator = if others.is_empty() { "" } else { "?" };
    let target = format!("{}{separator}{}", request.uri().path(), others.join("&"));
    let base = state.site.base_in(PageLanguage { language, is_in_path: true });
    let mut response = respond::redirect(StatusCode::SEE_OTHER, &ascii(base.path, &target));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(response)
}

/// The language that the `lang` parameter asks for.
fn asked(query: &RawQuery) -> Option<Language> {
    Language::of_tag(std::str::from_utf8(query.first(LANG.name)?).ok()?)
}

/// The language that a visitor arriving from elsewhere prefers to the directory's own.
fn preferred(state: &AppState, request: &Request) -> Option<Language> {
    let headers = request.headers();
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    if CRAWLERS.iter().any(|part| agent.contains(part)) || is_from_page(headers, &state.config) {
        return None;
    }
    let served = state.served();
    Language::preferred(headers, served.as_ref().map_or("en", |served| served.catalogue().own_language()))
}

impl<S: Sync> FromRequestParts<S> for PageLanguage {
    type Rejection = Infallible;

    /// The middleware has determined it.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let default = Self { language: Language::English, is_in_path: false };
        Ok(parts.extensions.get().copied().unwrap_or(default))
    }
}
