//! The operations of the API and where they are found. All of them are asked with `GET`, and answered from memory by a plain
//! function: nothing here waits, so nothing here is asynchronous.

use axum::response::Response;

use super::metrics::{Metrics, RouteId};
use super::problem::ApiError;
use super::request::ApiRequest;

/// Answers a request.
type Answer = fn(&ApiRequest<'_>) -> Result<Response, ApiError>;

/// An operation of the API.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    /// Answers at once.
    Quick(Answer),
    /// May take a while, so that other requests mustn't wait behind it.
    Slow(Answer),
}

/// The operations by their paths.
#[derive(Debug)]
pub(super) struct Operations(matchit::Router<(Operation, RouteId)>);

impl Operations {
    /// Operations at the templates of their paths. An id is the last part of a path, and so written.
    pub(super) fn new(operations: impl IntoIterator<Item = (&'static str, Operation)>, metrics: &Metrics) -> Self {
        let mut matcher = matchit::Router::new();
        for (template, operation) in operations {
            // Of two templates for the same paths the first counts.
            let _ = matcher.insert(template, (operation, metrics.route(template)));
        }
        Self(matcher)
    }

    /// The operation at a path without a slash at its end, and where it is counted.
    pub(super) fn at(&self, path: &str) -> Option<(Operation, RouteId)> {
        self.0.at(path).ok().map(|found| *found.value)
    }
}
