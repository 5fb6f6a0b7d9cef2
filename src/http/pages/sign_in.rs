//! Signing in with a key or with a link's code, and signing out.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;

use super::frame::Frame;
use super::language::{PageLanguage, Texts};
use super::links::Base;
use super::respond;
use crate::http::extract::query::RawQuery;
use crate::http::middleware::{
    RequestContext, SIGN_IN, end_sessions, failed, grant_of, is_from_own_page, reader, session, session_cookie,
};
use crate::http::problem::ApiError;
use crate::http::response::uncached;
use crate::http::state::AppState;

/// The maximum size of the form, in bytes.
const MAX_FORM_BYTES: usize = 16 * 1024;

#[derive(Debug, Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    frame: Frame<'a>,
    t: &'static Texts,
    base: Base<'a>,
    /// The path to go to afterwards.
    next: &'a str,
    problem: Option<&'static str>,
}

/// The sign-in form's URL, for someone who wants to read a page.
pub(super) fn address(base: impl Display, wanted: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", wanted).finish();
    format!("{base}{SIGN_IN}?{query}")
}

/// Shows the form, or starts a session right away if the URL contains a link's code.
pub(super) async fn get_form(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    request: Request,
) -> Result<Response, ApiError> {
    let query = RequestContext::of(request.extensions())?.query();
    let next = next(query);
    let headers = request.headers();
    let code = parameter(query, "code").filter(|_| request.method() == Method::GET);
    // A link's code starts a session even for readers who don't need one yet.
    let needs_none = if code.is_some() { session(&state.keys, headers) } else { reader(&state, &request) };
    if state.site.config.public_page.is_some() || needs_none.is_some() {
        return Ok(uncached(redirect(&state, language, &next)));
    }
    let Some(code) = code else { return form(&state, language, StatusCode::OK, &next, None) };
    let cookie = match state.sign_in_codes.redeem(&code, Instant::now()) {
        Some(key_id) => session_cookie(&state, &key_id, headers).await?,
        None => None,
    };
    match cookie {
        Some(cookie) => Ok(signed_in(&state, language, &next, cookie)),
        None => form(&state, language, StatusCode::OK, &next, Some(language.texts().link_used)),
    }
}

/// Signs in with the key from the form.
pub(super) async fn post_form(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    request: Request,
) -> Result<Response, ApiError> {
    if !is_from_own_page(request.headers(), &state.config) {
        return Err(ApiError::HostNotAllowed);
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_FORM_BYTES).await.map_err(|_| ApiError::ContentTooLarge)?;
    let form_fields = RawQuery::parse(std::str::from_utf8(&body).unwrap_or_default());
    let next = next(&form_fields);
    let key = parameter(&form_fields, "key").unwrap_or_default();
    let t = language.texts();
    let request = Request::from_parts(parts, Body::empty());
    match grant_of(&state.keys, key.trim()) {
        Ok(grant) if !grant.may_sign_in() => form(&state, language, StatusCode::FORBIDDEN, &next, Some(t.key_limited)),
        Ok(grant) => match session_cookie(&state, &grant.id, request.headers()).await? {
            Some(cookie) => Ok(signed_in(&state, language, &next, cookie)),
            None => form(&state, language, StatusCode::FORBIDDEN, &next, Some(t.key_expired)),
        },
        Err(error) => {
            let (status, problem) = match failed(&state, error, &request) {
                ApiError::MissingApiKey => (StatusCode::BAD_REQUEST, t.key_missing),
                ApiError::ExpiredApiKey => (StatusCode::FORBIDDEN, t.key_expired),
                ApiError::TooManyFailures { .. } => (StatusCode::TOO_MANY_REQUESTS, t.key_attempts),
                _ => (StatusCode::FORBIDDEN, t.key_invalid),
            };
            form(&state, language, status, &next, Some(problem))
        }
    }
}

/// Ends a browser's sessions.
pub(super) async fn sign_out(
    State(state): State<Arc<AppState>>,
    language: PageLanguage,
    request: Request,
) -> Result<Response, ApiError> {
    if !is_from_own_page(request.headers(), &state.config) {
        return Err(ApiError::HostNotAllowed);
    }
    let mut response = respond::redirect(StatusCode::SEE_OTHER, &format!("{}{SIGN_IN}", state.site.base_in(language)));
    for cookie in end_sessions(&state, request.headers()).await? {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(uncached(response))
}

fn form(
    state: &AppState,
    language: PageLanguage,
    status: StatusCode,
    next: &str,
    problem: Option<&'static str>,
) -> Result<Response, ApiError> {
    let (t, site) = (language.texts(), &state.site);
    let mut frame = Frame::bare(site, language).titled(t.sign_in);
    frame.is_noindex = true;
    frame.address = address("", next);
    Ok(uncached(respond::html(status, t, &SignInPage { frame, t, base: site.base_in(language), next, problem })?))
}

fn signed_in(state: &AppState, language: PageLanguage, next: &str, cookie: HeaderValue) -> Response {
    let mut response = redirect(state, language, next);
    response.headers_mut().append(SET_COOKIE, cookie);
    uncached(response)
}

fn redirect(state: &AppState, language: PageLanguage, next: &str) -> Response {
    respond::redirect(StatusCode::SEE_OTHER, &format!("{}{next}", state.site.base_in(language)))
}

fn parameter(query: &RawQuery, name: &str) -> Option<String> {
    String::from_utf8(query.first(name)?.to_vec()).ok()
}

/// Where to go after signing in: a path on this host. Another host's URL would start with a
/// scheme or two slashes, and browsers treat a backslash like a slash.
fn next(query: &RawQuery) -> String {
    let is_own = |path: &String| {
        path.starts_with('/')
            && !path.starts_with("//")
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    parameter(query, "next").filter(is_own).unwrap_or_else(|| "/".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_page_is_on_this_host() {
        let next = |value: &str| {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair("next", value).finish();
            next(&RawQuery::parse(&query))
        };
        for own in ["/", "/?q=a+b", "/software/a%2Fb?x#y"] {
            assert_eq!(next(own), own);
        }
        for other in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example/",
            "evil",
            "/a\r\nSet-Cookie: b",
            "/ä",
            "\t/",
        ] {
            assert_eq!(next(other), "/", "{other:?}");
        }
    }
}
