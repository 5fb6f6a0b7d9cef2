//! The page that Prometheus reads: `GET /metrics` on a listener of its own, and nothing else.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, Request, StatusCode};
use axum::response::Response;
use jiff::Timestamp;

use super::Metrics;
use crate::http::config::AppState;
use crate::http::server::{Answering, Arrival, ConnectionLimits};
use crate::key::KeyStore;
use crate::snapshot::Directory;

/// Prometheus' text format.
const TEXT_FORMAT: HeaderValue = HeaderValue::from_static(prometheus::TEXT_FORMAT);

/// Answers with the metrics. Whoever reaches the listener may read them: no key is asked for.
#[derive(Debug, Clone)]
pub struct Exposition {
    metrics: Arc<Metrics>,
    directory: Arc<Directory>,
    keys: Arc<KeyStore>,
    limits: ConnectionLimits,
}

impl Exposition {
    /// The metrics of a service.
    #[must_use]
    pub fn new(state: &AppState) -> Self {
        Self {
            metrics: Arc::clone(&state.metrics),
            directory: Arc::clone(&state.directory),
            keys: Arc::clone(&state.keys),
            // One who watches, and a few who look.
            limits: ConnectionLimits { max_connections: 16, ..state.config.connections.clone() },
        }
    }

    /// Answers a request.
    #[must_use]
    pub fn answer<B>(&self, request: &Request<B>) -> Response {
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "There is nothing here but /metrics.\n");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Ask with GET.\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match self.metrics.render(&self.directory, &self.keys, Timestamp::now()) {
            Ok(text) => {
                let mut response = Response::new(Body::from(text));
                response.headers_mut().insert(CONTENT_TYPE, TEXT_FORMAT);
                response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
                response
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the metrics can't be written");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "The metrics can't be written; the log says why.\n")
            }
        }
    }
}

impl Answering for Exposition {
    async fn answer(&self, request: Request<hyper::body::Incoming>, _: Arrival) -> Response {
        Self::answer(self, &request)
    }

    fn limits(&self) -> &ConnectionLimits {
        &self.limits
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
