//! Error pages, and redirects to the sign-in form.

use askama::Template;
use axum::http::header::{ACCEPT, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;

use super::frame::Frame;
use super::language::{PageLanguage, Texts};
use super::links::Base;
use super::respond;
use super::sign_in;
use crate::http::content_coding::quality;
use crate::http::middleware::RequestContext;
use crate::http::problem::{self, ApiError};
use crate::http::state::AppState;
use crate::service::parameter::definition::SEARCH_Q;

#[derive(Debug, Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    frame: Frame<'a>,
    t: &'static Texts,
    base: Base<'a>,
    heading: &'static str,
    text: &'a str,
    /// How long to wait before trying again, in words.
    wait: Option<String>,
    /// Whether the text and the details come from the API and are therefore in English.
    is_english: bool,
    /// What is wrong with each parameter, for developers.
    details: Vec<&'a str>,
    /// Where to try again.
    retry: Option<&'a str>,
    /// The id to quote to the operator.
    request_id: Option<&'a str>,
    has_products: bool,
}

/// What an error page needs to know about the reader's request.
#[derive(Debug)]
pub(in crate::http) struct Reader {
    language: PageLanguage,
    pub(in crate::http) prefers_html: bool,
}

impl Reader {
    pub(in crate::http) fn of(language: PageLanguage, headers: &HeaderMap) -> Self {
        Self { language, prefers_html: prefers_html(headers) }
    }
}

/// Turns a response that carries an error into a page or, for programs, into a problem document.
/// Readers without a session are redirected to sign in.
pub(in crate::http) fn write_error(
    state: &AppState,
    context: &RequestContext,
    reader: &Reader,
    error: &ApiError,
    response: &mut Response,
) {
    if matches!(error, ApiError::MissingApiKey) {
        *response = respond::redirect(
            StatusCode::SEE_OTHER,
            &sign_in::address(state.site.base_in(reader.language), target(context)),
        );
        return;
    }
    let is_page = reader.prefers_html && !matches!(error, ApiError::MethodNotAllowed);
    match is_page.then(|| page(state, context, reader.language, error)) {
        Some(Ok(page)) => *response = page,
        // If a template can't be rendered, the problem document contains everything needed.
        Some(Err(_)) | None => problem::render(error, context.id(), &state.config.errors_url(), response),
    }
    if matches!(error, ApiError::SoftwareGone(_)) {
        *response.status_mut() = StatusCode::GONE;
    }
}

/// The path and query that were requested, without a language.
fn target(context: &RequestContext) -> &str {
    context.uri.path_and_query().map_or("/", |target| target.as_str())
}

fn page(
    state: &AppState,
    context: &RequestContext,
    language: PageLanguage,
    error: &ApiError,
) -> Result<Response, ApiError> {
    let (t, site) = (language.texts(), &state.site);
    let status = error.code().status();
    let detail = error.detail();
    let (heading, text) = match (status, error) {
        (_, ApiError::SoftwareGone(_)) => (t.gone, t.gone_text),
        (StatusCode::NOT_FOUND, _) => (t.not_found, t.not_found_text),
        (_, ApiError::NotOffered(_)) => (t.not_offered, &*detail),
        (_, ApiError::Overloaded) => (t.busy, t.busy_text),
        (StatusCode::SERVICE_UNAVAILABLE, _) => (t.loading, t.loading_text),
        (StatusCode::TOO_MANY_REQUESTS, _) => (t.limited, t.limited_text),
        (status, _) if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => (t.failed, t.failed_text),
        _ => (t.bad_request, &*detail),
    };
    let is_limited = status == StatusCode::TOO_MANY_REQUESTS;
    let details = match error {
        ApiError::Parameters(problems) if problems.len() > 1 => {
            problems.iter().map(|problem| &*problem.message).collect()
        }
        _ => Vec::new(),
    };
    let q = String::from_utf8_lossy(context.query().first(SEARCH_Q.name).unwrap_or_default());
    let retry_after = error.retry_after_seconds();
    let is_failure = status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED && retry_after.is_none();
    let target = target(context);
    let snapshot = state.directory.current();
    let may_read = site.config.public_page.is_some() || context.grant.get().is_some();
    let mut frame = match snapshot.as_deref().filter(|_| may_read) {
        Some(snapshot) => Frame::new(site, language, snapshot),
        None => Frame::bare(site, language),
    };
    frame = frame.titled(heading);
    frame.is_noindex = true;
    if !frame.is_published() {
        target.clone_into(&mut frame.address);
    }
    frame.q = &q;
    let page = ErrorPage {
        t,
        base: site.base_in(language),
        heading,
        text,
        wait: retry_after.filter(|_| is_limited).map(|seconds| t.count(&t.wait, seconds)),
        is_english: heading == t.bad_request || heading == t.not_offered,
        details,
        retry: Some(target).filter(|_| retry_after.is_some() || is_failure),
        request_id: is_failure.then(|| context.id()),
        has_products: frame.menu.is_some(),
        frame,
    };
    let mut response = respond::html(status, t, &page)?;
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

/// Whether a request prefers HTML to JSON. Browsers do when they request a page; programs that
/// accept anything get JSON.
fn prefers_html(headers: &HeaderMap) -> bool {
    let quality = |media_type| quality(headers, &ACCEPT, media_type).unwrap_or(0.0);
    let json = ["application/problem+json", "application/json", "application/*"].map(quality);
    let html = quality("text/html");
    html > 0.0 && json.iter().all(|json| *json < html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_for_clients_that_prefer_it() {
        let prefers_html = |accept| prefers_html(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]));
        for browser in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            "text/html",
            "application/json;q=0.5, TEXT/HTML; q=0.6",
        ] {
            assert!(prefers_html(browser), "{browser}");
        }
        for program in [
            "*/*",
            "",
            "application/json",
            "application/json, text/html",
            "text/html;q=0, */*",
            "application/problem+json, text/html;q=0.9",
            "text/*",
        ] {
            assert!(!prefers_html(program), "{program}");
        }
    }
}
