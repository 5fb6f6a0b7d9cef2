//! The error type of handlers, extractors and middleware, and how it's sent
//! (`application/problem+json`, RFC 9457).
//!
//! An [`ApiError`] becomes a response that carries it as an extension. Middleware writes the
//! problem document, which needs the request id. The caller reads [`ApiError::detail`]; the
//! operator reads the error's `Display` and its chain of sources.

mod code;

pub use code::ErrorCode;

use std::any::Any;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::middleware::ALLOWED_METHODS;
use crate::key;
use crate::opensearch::{self, ErrorKind};
use crate::panics;
use crate::service::parameter::definition::OFFSET;
use crate::service::{MAX_QUERY_OFFSET, ServiceError};
use crate::text::count::counted;

/// How many seconds a caller should wait while the first generation is loading.
const INDEX_RETRY_SECONDS: u64 = 5;

/// How many seconds a caller should wait if there are too many requests at once.
const OVERLOAD_RETRY_SECONDS: u64 = 1;

/// How many seconds a caller should wait before another download if there are too many at once.
const DOWNLOAD_RETRY_SECONDS: u64 = 5;

/// A failed request, whether the caller or the service is at fault.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApiError {
    #[error("invalid parameters")]
    Parameters(Vec<ParameterProblem>),
    #[error("bad request: {0}")]
    BadRequest(&'static str),
    #[error("no API key")]
    MissingApiKey,
    #[error("API key without the Bearer scheme")]
    MissingBearer,
    #[error("unknown API key")]
    InvalidApiKey,
    #[error("expired API key")]
    ExpiredApiKey,
    #[error("origin {0} is not allowed")]
    OriginNotAllowed(String),
    #[error("browser request for someone else's host name")]
    HostNotAllowed,
    #[error("no product {0:?}")]
    SoftwareNotFound(String),
    /// Only used on pages.
    #[error("product {0:?} was removed")]
    SoftwareGone(String),
    #[error("no category {id:?}")]
    CategoryNotFound { id: String, renamed: Vec<String> },
    #[error("no glossary term {id:?}")]
    TermNotFound { id: String, renamed: Vec<String> },
    #[error("no export {0:?}")]
    ExportNotFound(String),
    #[error("export {0:?} has no signature")]
    SignatureNotFound(String),
    /// Contains what's missing, for the caller.
    #[error("{0}")]
    FormatUnavailable(String),
    #[error("no changes since generation {0:?}")]
    GenerationGone(String),
    #[error("no such route")]
    RouteNotFound,
    #[error("method not allowed")]
    MethodNotAllowed,
    #[error("JSON is not acceptable")]
    NotAcceptable,
    #[error("request timed out")]
    RequestTimeout,
    #[error("content too large")]
    ContentTooLarge,
    #[error("content isn't JSON")]
    UnsupportedMediaType,
    #[error("URI too long")]
    UriTooLong,
    #[error("headers too large")]
    HeadersTooLarge,
    #[error("range not satisfiable")]
    RangeNotSatisfiable { length: u64 },
    #[error("rate limited for {retry_after_seconds} s")]
    RateLimited { retry_after_seconds: u64 },
    #[error("visitor's address rate limited for {retry_after_seconds} s")]
    VisitorRateLimited { retry_after_seconds: u64 },
    #[error("too many failed authentications; refused for {retry_after_seconds} s")]
    TooManyFailures { retry_after_seconds: u64 },
    #[error("the request failed")]
    Internal(#[source] Arc<dyn std::error::Error + Send + Sync>),
    #[error("a handler panicked: {0}")]
    Panicked(String),
    /// Contains what isn't offered.
    #[error("not offered in OpenSearch: {0}")]
    NotOffered(&'static str),
    #[error("no generation is loaded")]
    IndexUnavailable,
    /// Contains the reason, for the caller.
    #[error("the cluster can't be searched: {0}")]
    NotReady(String),
    #[error("the cluster can't be searched")]
    Unreachable(#[source] Arc<opensearch::Error>),
    #[error("too many requests in flight")]
    Overloaded,
    #[error("too many downloads in progress")]
    DownloadsBusy,
    #[error("too many downloads in progress for this caller")]
    TooManyDownloads,
}

/// What is wrong with a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ParameterProblem {
    /// The parameter's name as it appears in the request.
    pub param: String,
    /// `invalid_parameter`, `unknown_parameter` or `offset_too_large`.
    #[serde(serialize_with = "code_as_str")]
    #[schema(value_type = String)]
    pub code: ErrorCode,
    /// What is wrong, and which values are allowed.
    pub message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn code_as_str<S: serde::Serializer>(code: &ErrorCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}

impl ApiError {
    /// The error for a handler that panicked on this thread, from the panic's payload.
    pub(super) fn panicked(payload: &(dyn Any + Send)) -> Self {
        Self::Panicked(panics::describe(payload))
    }

    /// The code, which also determines the status.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Parameters(problems) => problems.first().map_or(ErrorCode::InvalidParameter, |first| first.code),
            Self::BadRequest(_) => ErrorCode::BadRequest,
            Self::MissingApiKey | Self::MissingBearer => ErrorCode::MissingApiKey,
            Self::InvalidApiKey => ErrorCode::InvalidApiKey,
            Self::ExpiredApiKey => ErrorCode::ExpiredApiKey,
            Self::OriginNotAllowed(_) => ErrorCode::OriginNotAllowed,
            Self::HostNotAllowed => ErrorCode::HostNotAllowed,
            Self::SoftwareNotFound(_) | Self::SoftwareGone(_) => ErrorCode::SoftwareNotFound,
            Self::CategoryNotFound { .. } => ErrorCode::CategoryNotFound,
            Self::TermNotFound { .. } => ErrorCode::TermNotFound,
            Self::ExportNotFound(_) => ErrorCode::ExportNotFound,
            Self::SignatureNotFound(_) => ErrorCode::SignatureNotFound,
            Self::FormatUnavailable(_) => ErrorCode::FormatUnavailable,
            Self::GenerationGone(_) => ErrorCode::GenerationGone,
            Self::RouteNotFound => ErrorCode::RouteNotFound,
            Self::MethodNotAllowed => ErrorCode::MethodNotAllowed,
            Self::NotAcceptable => ErrorCode::NotAcceptable,
            Self::RequestTimeout => ErrorCode::RequestTimeout,
            Self::ContentTooLarge => ErrorCode::ContentTooLarge,
            Self::UnsupportedMediaType => ErrorCode::UnsupportedMediaType,
            Self::UriTooLong => ErrorCode::UriTooLong,
            Self::HeadersTooLarge => ErrorCode::HeadersTooLarge,
            Self::RangeNotSatisfiable { .. } => ErrorCode::RangeNotSatisfiable,
            Self::RateLimited { .. }
            | Self::VisitorRateLimited { .. }
            | Self::TooManyFailures { .. }
            | Self::TooManyDownloads => ErrorCode::RateLimited,
            Self::Internal(_) | Self::Panicked(_) => ErrorCode::InternalError,
            Self::NotOffered(_) => ErrorCode::NotOffered,
            Self::IndexUnavailable | Self::NotReady(_) | Self::Unreachable(_) => ErrorCode::IndexUnavailable,
            Self::Overloaded | Self::DownloadsBusy => ErrorCode::Overloaded,
        }
    }

    /// The text for the caller: cause and fix, without the service's internals.
    pub fn detail(&self) -> String {
        match self {
            Self::Parameters(problems) => match problems.as_slice() {
                [only] => only.message.clone(),
                several => format!("{} parameters are invalid; see errors.", several.len()),
            },
            Self::BadRequest(detail) => (*detail).to_owned(),
            Self::MissingBearer => "The Authorization header contains the key without the word Bearer before it. Send \
                                    `Authorization: Bearer YOUR_KEY`."
                .to_owned(),
            Self::OriginNotAllowed(origin) => {
                format!("This key may not be used from {origin}. Ask the operator to allow this origin.")
            }
            Self::HostNotAllowed => "Browsers may only use the service under its own host name, to prevent DNS rebinding. \
                                     Ask the operator to set that name with --public-url."
                .to_owned(),
            Self::SoftwareGone(id) => format!("The product with the id {id:?} was removed from the directory."),
            Self::SoftwareNotFound(id) => format!("There is no product with the id {id:?}."),
            Self::CategoryNotFound { id, renamed } => {
                format!("There is no category with the id {id:?}; {}", renamed_or_listed(renamed, "/v1/categories"))
            }
            Self::TermNotFound { id, renamed } => {
                format!("There is no glossary term with the id {id:?}; {}", renamed_or_listed(renamed, "/v1/glossary"))
            }
            Self::ExportNotFound(id) => format!("There is no export with the id {id:?}; /v1/exports lists all ids."),
            Self::FormatUnavailable(missing) => missing.clone(),
            Self::SignatureNotFound(id) => format!(
                "The directory has no signature of the export {id:?}. Exports that are signed have a signed_by in /v1/exports."
            ),
            Self::GenerationGone(generation) => format!(
                "The changes since generation {generation:?} aren't known here, or no longer are. Download the whole \
                 directory from /v1/exports, and continue from the generation in its X-Generation header."
            ),
            Self::RangeNotSatisfiable { length } => {
                format!("The range starts after the end: the download has {length} bytes in this coding.")
            }
            Self::RateLimited { retry_after_seconds } => {
                format!("This key's quota is used up. Try again in {}.", counted(*retry_after_seconds, "second"))
            }
            Self::VisitorRateLimited { retry_after_seconds } => format!(
                "Your address has used up its quota of requests without a key. Try again in {}.",
                counted(*retry_after_seconds, "second")
            ),
            Self::TooManyFailures { retry_after_seconds } => format!(
                "Too many requests from your address had an invalid key. Check the key, and try again in {}. A valid key \
                 works immediately.",
                counted(*retry_after_seconds, "second")
            ),
            Self::TooManyDownloads => {
                "Too many downloads are in progress with this key (or, without a key, from your address). Finish one of \
                 them, or try again after the number of seconds in retry_after_seconds."
                    .to_owned()
            }
            Self::NotOffered(what) => {
                let code = self.code();
                format!("This directory is in OpenSearch, which doesn't offer {what}. {}", code.cure())
            }
            Self::NotReady(reason) => {
                let code = self.code();
                format!("{} The reason is {reason}. {}", code.cause(), code.cure())
            }
            other => {
                let code = other.code();
                format!("{} {}", code.cause(), code.cure())
            }
        }
    }

    /// A failure that isn't the caller's fault.
    pub(in crate::http) fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Internal(Arc::new(error))
    }

    pub(super) fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after_seconds }
            | Self::VisitorRateLimited { retry_after_seconds }
            | Self::TooManyFailures { retry_after_seconds } => Some(*retry_after_seconds),
            Self::IndexUnavailable | Self::NotReady(_) | Self::Unreachable(_) => Some(INDEX_RETRY_SECONDS),
            Self::Overloaded => Some(OVERLOAD_RETRY_SECONDS),
            Self::DownloadsBusy | Self::TooManyDownloads => Some(DOWNLOAD_RETRY_SECONDS),
            _ => None,
        }
    }
}

impl From<opensearch::Error> for ApiError {
    fn from(error: opensearch::Error) -> Self {
        match error {
            opensearch::Error::NotOffered(what) => Self::NotOffered(what),
            opensearch::Error::OffsetTooLarge => Self::Parameters(vec![ParameterProblem {
                param: OFFSET.name.to_owned(),
                code: ErrorCode::OffsetTooLarge,
                message: format!(
                    "{} must be at most {MAX_QUERY_OFFSET} in a directory in OpenSearch; narrow the list with filters.",
                    OFFSET.name
                ),
            }]),
            opensearch::Error::Service(error) => error.into(),
            opensearch::Error::Cluster(ref cluster) => match cluster.kind {
                ErrorKind::Overloaded => Self::Overloaded,
                ErrorKind::Unavailable | ErrorKind::NoIndex | ErrorKind::Authentication => {
                    Self::Unreachable(Arc::new(error))
                }
                _ => Self::internal(error),
            },
            error => Self::internal(error),
        }
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        Self::internal(error)
    }
}

/// Turns the error into a response that carries it; middleware writes the document.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

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

/// Where to look for a missing record: under its new ids, or in the list of all ids.
fn renamed_or_listed(renamed: &[String], list: &str) -> String {
    match renamed {
        [] => format!("{list} lists all ids."),
        ids => {
            format!("it was renamed to {}.", ids.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(" or "))
        }
    }
}
