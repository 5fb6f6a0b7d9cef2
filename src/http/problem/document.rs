//! An error's problem document (`application/problem+json`, RFC 9457), and its headers.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApiError, ParameterProblem};
use crate::http::middleware::ALLOWED_METHODS;
use crate::key;

/// An error as callers see it (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub struct Problem<'a> {
    /// A URI reference to an explanation of the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// A short description of the code.
    pub title: &'a str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What is wrong with this request, and how to fix it.
    pub detail: String,
    /// The machine-readable error code; more codes may be added.
    pub code: &'a str,
    /// The request's id, to quote to the operator.
    pub request_id: &'a str,
    /// Seconds to wait before trying again, if waiting helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_after_seconds: Option<u64>,
    /// What is wrong with each parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub errors: Option<&'a [ParameterProblem]>,
}

/// An error's problem document. `documentation` is the URL of the page that explains the codes.
pub(in crate::http) fn describe<'a>(error: &'a ApiError, request_id: &'a str, documentation: &str) -> Problem<'a> {
    let code = error.code();
    Problem {
        kind: format!("{documentation}#{}", code.as_str()),
        title: code.title(),
        status: code.status().as_u16(),
        detail: error.detail(),
        code: code.as_str(),
        request_id,
        retry_after_seconds: error.retry_after_seconds(),
        errors: match error {
            ApiError::Parameters(problems) => Some(problems),
            _ => None,
        },
    }
}

/// Writes an error's problem document into the response that carried it, keeping the headers
/// already there.
pub(in crate::http) fn render(error: &ApiError, request_id: &str, documentation: &str, response: &mut Response) {
    let code = error.code();
    let problem = describe(error, request_id, documentation);
    // Can't fail: a problem contains only strings and numbers. Even with an empty body, the
    // response would still have the right status.
    let mut body = serde_json::to_string(&problem).unwrap_or_default();
    if body.contains("sd_") {
        // A key in the wrong part of a request must not get into the caller's logs.
        body = key::without_keys(&body);
    }
    *response.body_mut() = Body::from(body);
    *response.status_mut() = code.status();
    let headers = response.headers_mut();
    // The header still has the length of the empty body.
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if let Some(seconds) = problem.retry_after_seconds {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let ApiError::RangeNotSatisfiable { length } = error {
        headers.extend(HeaderValue::try_from(format!("bytes */{length}")).ok().map(|range| (CONTENT_RANGE, range)));
    }
    if matches!(error, ApiError::MethodNotAllowed) {
        headers.entry(ALLOW).or_insert(ALLOWED_METHODS);
    }
    let challenge = match error {
        ApiError::MissingApiKey | ApiError::MissingBearer => "Bearer realm=\"software-directory\"",
        ApiError::InvalidApiKey => "Bearer realm=\"software-directory\", error=\"invalid_token\"",
        ApiError::ExpiredApiKey => {
            "Bearer realm=\"software-directory\", error=\"invalid_token\", error_description=\"expired\""
        }
        _ => return,
    };
    headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
}
