//! Request counts and durations by route.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::response::Response;

use super::around::Middleware;
use super::request_context::RequestContext;
use super::route::matched_route;
use crate::http::state::AppState;

/// Observes each request in [`Metrics`](crate::http::Metrics).
#[derive(Debug, Clone)]
pub(in crate::http) struct RequestMetrics(pub(in crate::http) Arc<AppState>);

impl Middleware for RequestMetrics {
    type Context = (Arc<RequestContext>, Option<MatchedPath>);

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Self::Context> {
        ControlFlow::Continue((RequestContext::of(request), matched_route(request).cloned()))
    }

    fn on_response(&self, (request, route): Self::Context, response: &mut Response) {
        let route = route.as_ref().map(MatchedPath::as_str);
        self.0.metrics.observe_request(route, &request.method, response.status(), request.started.elapsed());
    }
}
