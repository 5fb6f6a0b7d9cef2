//! The access log: one line a request, at `debug`.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;

use super::around::Middleware;
use super::request_context::RequestContext;
use crate::http::extract::client_ip;
use crate::http::state::AppState;
use crate::key;

/// The target of the access log, for filters.
const TARGET: &str = "software_directory::http::access";

/// Logs each request; never a key, wherever in the request it stands.
#[derive(Debug, Clone)]
pub(in crate::http) struct AccessLog(pub(in crate::http) Arc<AppState>);

impl Middleware for AccessLog {
    /// `None` where the log is off.
    type Context = Option<(Arc<RequestContext>, Option<IpAddr>)>;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Self::Context> {
        if !tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
            return ControlFlow::Continue(None);
        }
        let client = client_ip(request.extensions(), request.headers(), &self.0.config.trusted_proxies);
        ControlFlow::Continue(Some((RequestContext::of(request), client)))
    }

    fn on_response(&self, context: Self::Context, response: &mut Response) {
        let Some((request, client)) = context else { return };
        let query = request.uri.query().filter(|_| self.0.config.log_queries).map(redacted);
        tracing::debug!(
            target: TARGET,
            request_id = request.id(),
            method = request.method.as_str(),
            path = &*redacted(request.uri.path()),
            query = query.as_deref(),
            status = response.status().as_u16(),
            elapsed_us = u64::try_from(request.started.elapsed().as_micros()).unwrap_or(u64::MAX),
            key = request.key_id(),
            caller = client.map(tracing::field::display),
        );
    }
}

/// Text of a caller without the secret of any key in it.
pub(super) fn redacted(text: &str) -> Cow<'_, str> {
    if text.contains("sd_") { key::without_keys(text).into() } else { text.into() }
}
