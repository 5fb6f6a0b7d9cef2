//! `OPTIONS` requests.

use std::ops::ControlFlow;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::around::Middleware;
use super::route::matched_route;
use crate::http::methods::allowed_methods;
use crate::http::problem::ApiError;

/// Answers `OPTIONS` on a route, and on `*`, with its methods. It needs no key.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Options;

impl Middleware for Options {
    type Context = ();

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response> {
        if request.method() != Method::OPTIONS {
            return ControlFlow::Continue(());
        }
        if request.uri().path() != "*" && matched_route(request).is_none() {
            return ControlFlow::Break(ApiError::RouteNotFound.into_response());
        }
        let mut response = no_content();
        response.headers_mut().insert(ALLOW, allowed_methods(request.uri().path()));
        ControlFlow::Break(response)
    }

    fn on_response(&self, (): (), _: &mut Response) {}
}

/// A 204 response.
pub(super) fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
