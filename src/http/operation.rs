//! The operations of the API and where they are found. All of them are asked with `GET`, and answered from memory by plain
//! functions: nothing here waits, so nothing here is asynchronous.

use axum::response::Response;

use super::metrics::{Metrics, RouteId};
use super::problem::ApiError;
use super::request::ApiRequest;

/// Answers a request.
type Answer = fn(&ApiRequest<'_>) -> Result<Response, ApiError>;

/// An answer, or what it takes to find it.
pub(super) enum Answered {
    /// Found at once.
    Now(Response),
    /// Has to be computed.
    Later(Computation),
}

/// Finds an answer.
pub(super) type Computation = Box<dyn FnOnce(&ApiRequest<'_>) -> Result<Response, ApiError> + Send>;

/// An operation of the API.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    /// Answers at once.
    Quick(Answer),
    /// Answers at once what is known already, and else says what there is to compute: milliseconds at most.
    Computed(fn(&ApiRequest<'_>) -> Result<Answered, ApiError>),
    /// May take long, on a thread that does nothing else meanwhile.
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
