//! One request, one snapshot.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};

use super::around::Middleware;
use crate::http::extract::Snapshot;
use crate::http::problem::ApiError;
use crate::http::state::AppState;

const X_GENERATION: HeaderName = HeaderName::from_static("x-generation");

/// Takes the current generation for the whole request, and names it in the response. Without one: 503.
#[derive(Debug, Clone)]
pub(in crate::http) struct TakeSnapshot(pub(in crate::http) Arc<AppState>);

impl Middleware for TakeSnapshot {
    /// The generation's name.
    type Context = Option<HeaderValue>;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Self::Context> {
        let Some(snapshot) = self.0.directory.current() else {
            return ControlFlow::Break(ApiError::IndexUnavailable.into_response());
        };
        let generation = HeaderValue::try_from(snapshot.generation()).ok();
        request.extensions_mut().insert(Snapshot(snapshot));
        ControlFlow::Continue(generation)
    }

    fn on_response(&self, generation: Self::Context, response: &mut Response) {
        response.headers_mut().extend(generation.map(|generation| (X_GENERATION, generation)));
    }
}
