//! Conditional requests: `ETag`, `If-None-Match` and 304.

use std::ops::ControlFlow;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, LINK};
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::around::Middleware;
use crate::http::entity_tag::{Condition, EntityTag, EntityTags};
use crate::http::extract::Snapshot;
use crate::http::extract::query::RawQuery;

/// Tags successful responses by build, generation and request, and answers 304 for a tag that the caller has.
#[derive(Debug, Clone)]
pub(in crate::http) struct Conditional(pub(in crate::http) EntityTags);

impl Middleware for Conditional {
    /// `None` for a request that isn't conditional: another method.
    type Context = Option<(EntityTag, Condition)>;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Self::Context> {
        let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
        let snapshot = request.extensions().get::<Snapshot>().filter(|_| is_get);
        let Some(snapshot) = snapshot else { return ControlFlow::Continue(None) };
        let query = RawQuery::parse(request.uri().query().unwrap_or_default());
        let tag = self.0.tag(snapshot.generation(), request.uri().path(), &query);
        match tag.condition(request.headers()) {
            Condition::Unchanged => {
                let mut response = Response::default();
                not_modified(&mut response);
                response.headers_mut().insert(ETAG, tag.header());
                ControlFlow::Break(response)
            }
            condition => ControlFlow::Continue(Some((tag, condition))),
        }
    }

    fn on_response(&self, context: Self::Context, response: &mut Response) {
        let Some((tag, condition)) = context.filter(|_| response.status() == StatusCode::OK) else { return };
        if condition == Condition::AnyVersion {
            not_modified(response);
        }
        response.headers_mut().insert(ETAG, tag.header());
    }
}

/// Makes a response a 304, which has no body and describes none.
fn not_modified(response: &mut Response) {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.body_mut() = Body::empty();
    for header in [CONTENT_TYPE, CONTENT_LENGTH, LINK] {
        response.headers_mut().remove(header);
    }
}
