//! Takes the `ApiError` that a response carries.

use std::error::Error as _;

use axum::response::Response;

use super::log::redacted;
use super::request_context::RequestContext;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::text::append;

/// Takes the error from a response. Counts rejections, and logs each of the service's own failures
/// once.
pub(in crate::http) fn take_error(
    state: &AppState,
    request: &RequestContext,
    response: &mut Response,
) -> Option<ApiError> {
    let error = response.extensions_mut().remove::<ApiError>()?;
    let metrics = &state.metrics;
    match error {
        ApiError::Overloaded | ApiError::DownloadsBusy => metrics.shed.inc(),
        ApiError::RateLimited { .. } | ApiError::VisitorRateLimited { .. } | ApiError::TooManyDownloads => {
            let is_visitor = request.grant.get().is_some_and(|grant| grant.is_visitor());
            if is_visitor { metrics.limited_by_visitor.inc() } else { metrics.limited_by_key.inc() }
        }
        ApiError::TooManyFailures { .. } => metrics.limited_by_address.inc(),
        ApiError::Internal(_) | ApiError::Panicked(_) | ApiError::RequestTimeout => log(&error, request),
        _ => {}
    }
    Some(error)
}

/// Logs a failure with its chain of causes.
fn log(error: &ApiError, request: &RequestContext) {
    let mut causes = String::new();
    for cause in std::iter::successors(error.source(), |cause| (*cause).source()) {
        append(&mut causes, format_args!(": {cause}"));
    }
    tracing::error!(
        request_id = request.id(),
        method = &*redacted(request.method.as_str()),
        path = &*redacted(request.uri.path()),
        key = request.key_id(),
        "{error}{causes}"
    );
}
