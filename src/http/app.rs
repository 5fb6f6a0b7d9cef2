//! The application: the one way that every request takes, and every answer.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::http::header::{ALLOW, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, Version};
use axum::response::Response;
use tower::Service as _;

use super::compute::compute;
use super::conditional::{Condition, EntityTags};
use super::config::AppState;
use super::exchange::Exchange;
use super::operation::{Answered, Operation, Operations};
use super::params::RawQuery;
use super::problem::{self, ApiError};
use super::repeated::Repeated;
use super::request::{ApiRequest, Asked, canonical_path};
use super::server::Arrival;
use super::{ALLOWED_METHODS, auth, client_address, compression, cors, panic, routes};
use crate::key::FailedAttempts;
use crate::service::Searches;
use crate::snapshot::Snapshot;

/// The longest path and query, in bytes.
const MAX_URI_BYTES: usize = 8 * 1024;

/// The largest headers, names and values together, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// How long nobody has to search for what was searched to be forgotten; up to twice that, as it is looked at this often.
const REST: Duration = Duration::from_mins(1);

/// The HTTP application. Cheap to clone; knows nothing of sockets.
#[derive(Debug, Clone)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: AppState,
    operations: Operations,
    searches: Searches,
    repeated: Repeated,
    /// What isn't of the API.
    router: Router,
    failures: FailedAttempts,
    tags: EntityTags,
    /// The page that explains error codes.
    documentation: String,
}

impl App {
    /// The application with all its routes.
    #[must_use]
    pub fn new(state: AppState) -> Self {
        let router = routes::router(&state);
        Self::with_router(state, router)
    }

    /// The application with other routes beside its API, for which it does all the rest: what handlers can't do to it can
    /// be tried.
    #[must_use]
    pub fn with_router(state: AppState, router: Router) -> Self {
        let router = router
            .fallback(async || ApiError::RouteNotFound)
            .method_not_allowed_fallback(async || ApiError::MethodNotAllowed);
        Self(Arc::new(Inner {
            operations: Operations::new(routes::OPERATIONS, &state.metrics),
            searches: Searches::default(),
            repeated: Repeated::default(),
            router,
            failures: FailedAttempts::new(Instant::now()),
            tags: EntityTags::new(&state.config.build),
            documentation: format!("{}/docs/errors", state.config.base()),
            state,
        }))
    }

    /// Forgets what was searched once nobody searches any more, for as long as it is polled.
    pub async fn rest(&self) {
        let mut looks = tokio::time::interval(REST);
        loop {
            looks.tick().await;
            self.0.searches.rest();
            self.0.repeated.rest();
        }
    }

    /// What it answers from.
    pub(super) fn state(&self) -> &AppState {
        &self.0.state
    }

    /// What was searched before.
    pub(super) fn searches(&self) -> &Searches {
        &self.0.searches
    }

    /// What is asked again and again.
    pub(super) fn repeated(&self) -> &Repeated {
        &self.0.repeated
    }

    /// How the application is set.
    #[must_use]
    pub fn config(&self) -> &super::HttpConfig {
        &self.0.state.config
    }

    /// Answers a request, which arrived over a connection, or is only tried. Its body is never read: nothing here takes one.
    pub async fn handle<B>(&self, request: Request<B>, arrival: Option<Arrival>) -> Response {
        let (mut parts, _unread) = request.into_parts();
        let path = parts.uri.path();
        let metrics = &*self.0.state.metrics;
        let mut exchange = Exchange::new(&parts, arrival, path == "/v1" || path.starts_with("/v1/"));
        let operation = if exchange.api { self.0.operations.at(canonical_path(path)) } else { None };
        let route = operation.map_or_else(|| metrics.route(canonical_path(path)), |(_, route)| route);
        exchange.operation = operation.map(|(operation, _)| operation);
        if exchange.is_logged() {
            let trusted = &self.config().trusted_proxies;
            exchange.caller = client_address::of(arrival, &parts.headers, trusted);
        }
        let encoding = compression::preferred(&parts.headers);
        let outcome = panic::caught(self.answer(&mut parts, &mut exchange)).await;
        let mut response = outcome.unwrap_or_else(Err).unwrap_or_else(|error| {
            exchange.log_failure(&error, &parts.uri);
            match error {
                ApiError::Overloaded => metrics.shed.inc(),
                ApiError::RateLimited { .. } => metrics.limited_by_key.inc(),
                ApiError::TooManyFailures { .. } => metrics.limited_by_address.inc(),
                _ => {}
            }
            problem::render(&error, exchange.id.as_str(), &self.0.documentation)
        });
        exchange.log_access(&parts.uri, response.status(), self.config().log_queries);
        let (head, started) = (exchange.method == Method::HEAD, exchange.started);
        exchange.write_headers(response.headers_mut());
        if !has_body(response.status()) {
            // axum states the length of what isn't there.
            response.headers_mut().remove(CONTENT_LENGTH);
        }
        let response = match compression::worthwhile(encoding, &response) {
            Some(encoding) => Box::pin(compression::compress(encoding, response)).await,
            None => response,
        };
        metrics.answered(route, &parts.method, response.status(), started.elapsed());
        if head { without_body(response) } else { response }
    }

    /// Gives up on an answer that takes too long.
    async fn in_time(&self, answer: impl Future<Output = Result<Response, ApiError>>) -> Result<Response, ApiError> {
        tokio::time::timeout(self.config().request_timeout, answer).await.unwrap_or(Err(ApiError::RequestTimeout))
    }

    async fn answer(&self, parts: &mut Parts, exchange: &mut Exchange) -> Result<Response, ApiError> {
        if parts.uri.path_and_query().map_or(0, |uri| uri.as_str().len()) > MAX_URI_BYTES {
            return Err(ApiError::UriTooLong);
        }
        if header_bytes(&parts.headers) > MAX_HEADER_BYTES {
            return Err(ApiError::HeadersTooLarge);
        }
        well_formed(parts).map_err(ApiError::BadRequest)?;
        if cors::is_preflight(&parts.method, &parts.headers) {
            return Ok(cors::preflight());
        }
        // Whoever watches over the service must see it under load too.
        let is_watch = matches!(parts.uri.path(), "/healthz" | "/readyz");
        if exchange.arrival.is_some_and(|arrival| arrival.is_late) && !is_watch {
            return Err(ApiError::Overloaded);
        }
        if parts.method == Method::OPTIONS {
            return Box::pin(self.options(parts, exchange)).await;
        }
        if exchange.api { self.answer_api(parts, exchange).await } else { Box::pin(self.route(parts)).await }
    }

    async fn answer_api(&self, parts: &mut Parts, exchange: &mut Exchange) -> Result<Response, ApiError> {
        let app = &*self.0;
        let authenticated = auth::authenticate(&app.state.keys, &parts.headers);
        let grant = authenticated.map_err(|error| self.failed(error, parts, exchange))?;
        let grant = exchange.grant.insert(grant);
        if exchange.cross_origin {
            auth::check_origin(grant, &parts.headers)?;
        }
        let current = app.state.directory.load();
        let snapshot = current.as_ref().ok_or(ApiError::IndexUnavailable)?;
        exchange.generation = HeaderValue::try_from(snapshot.generation()).ok();

        let query = RawQuery::parse(parts.uri.query().unwrap_or_default());
        let tag = app.tags.tag(snapshot.generation(), canonical_path(parts.uri.path()), &query);
        let readable = matches!(parts.method, Method::GET | Method::HEAD);
        let condition = if readable { tag.condition(&parts.headers) } else { Condition::Changed };
        if condition == Condition::Unchanged {
            exchange.tag = Some(tag);
            return Ok(not_modified());
        }
        exchange.quota = grant.spend(exchange.started);
        if let Some(retry_after_seconds) = exchange.quota.and_then(|quota| quota.retry_after_seconds) {
            return Err(ApiError::RateLimited { retry_after_seconds });
        }
        let operation = exchange.operation.ok_or(ApiError::RouteNotFound)?;
        if !readable {
            return Err(ApiError::MethodNotAllowed);
        }
        let response = match operation {
            Operation::Quick(answer) => answer(&ApiRequest { app: self, snapshot, query: &query, uri: &parts.uri })?,
            Operation::Computed(answer) => {
                match answer(&ApiRequest { app: self, snapshot, query: &query, uri: &parts.uri })? {
                    Answered::Now(response) => response,
                    Answered::Later(computation) => {
                        let asked = self.asked(parts, snapshot, query);
                        let work = move || computation(&asked.request());
                        let answered = Box::pin(self.in_time(async { compute(work).await? })).await;
                        if matches!(answered, Err(ApiError::Overloaded)) {
                            exchange.quota = None;
                            grant.give_back(exchange.started);
                        }
                        answered?
                    }
                }
            }
            Operation::Slow(answer) => {
                let asked = self.asked(parts, snapshot, query);
                let answer = async {
                    let answered = tokio::task::spawn_blocking(move || answer(&asked.request())).await;
                    answered.map_err(|error| ApiError::Internal(Arc::new(error)))?
                };
                Box::pin(self.in_time(answer)).await?
            }
        };
        exchange.tag = Some(tag);
        // Whether there is an answer at all took the work of finding it: unlike a match, this one is counted.
        Ok(if condition == Condition::AnyVersion { not_modified() } else { response })
    }

    /// What is asked, for another thread.
    fn asked(&self, parts: &Parts, snapshot: &Arc<Snapshot>, query: RawQuery) -> Asked {
        Asked { app: self.clone(), snapshot: Arc::clone(snapshot), query, uri: parts.uri.clone() }
    }

    /// Notes a key that isn't valid: who presents too many of them is asked to wait. A valid one is answered all the
    /// same. Keys can't be guessed, so what this saves is work and noise, and one caller's mistake must not shut out
    /// others who share the address.
    fn failed(&self, error: ApiError, parts: &Parts, exchange: &Exchange) -> ApiError {
        if !matches!(error, ApiError::InvalidApiKey | ApiError::ExpiredApiKey) {
            return error;
        }
        let caller = client_address::of(exchange.arrival, &parts.headers, &self.config().trusted_proxies);
        match caller.map(|caller| self.0.failures.note(caller, exchange.started)) {
            Some(Err(retry_after_seconds)) => ApiError::TooManyFailures { retry_after_seconds },
            _ => error,
        }
    }

    /// `OPTIONS` on its own tells the methods of a path that exists.
    async fn options(&self, parts: &mut Parts, exchange: &Exchange) -> Result<Response, ApiError> {
        let known = parts.uri.path() == "*"
            || exchange.operation.is_some()
            || matches!(Box::pin(self.route(parts)).await, Err(ApiError::MethodNotAllowed));
        if !known {
            return Err(ApiError::RouteNotFound);
        }
        let mut response = routes::no_content();
        response.headers_mut().insert(ALLOW, ALLOWED_METHODS);
        Ok(response)
    }

    /// Hands the request over to its handler; `parts` keeps method and address.
    async fn route(&self, parts: &mut Parts) -> Result<Response, ApiError> {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = if parts.method == Method::HEAD { Method::GET } else { parts.method.clone() };
        *request.uri_mut() = canonical_uri(&parts.uri);
        *request.headers_mut() = std::mem::take(&mut parts.headers);
        *request.extensions_mut() = std::mem::take(&mut parts.extensions);
        let mut router = self.0.router.clone();
        self.in_time(async {
            let Ok(mut response) = router.call(request).await;
            match response.extensions_mut().remove::<ApiError>() {
                Some(error) => Err(error),
                None => Ok(response),
            }
        })
        .await
    }
}

/// The address to route by: without the slash at its end.
fn canonical_uri(uri: &Uri) -> Uri {
    let canonical = canonical_path(uri.path());
    if canonical.len() == uri.path().len() {
        return uri.clone();
    }
    let mut parts = uri.clone().into_parts();
    // What was a path is one without its last slash too; if it weren't, it would only not be found.
    parts.path_and_query = PathAndQuery::try_from(canonical).ok();
    Uri::from_parts(parts).unwrap_or_default()
}

/// Whether nobody on the way could have read the request as another one (RFC 9112, 3.2 and 6.3).
fn well_formed(parts: &Parts) -> Result<(), &'static str> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if parts.version == Version::HTTP_11 => return Err("Send the header Host: HTTP/1.1 asks for it."),
        (Some(_), Some(_)) => return Err("Send one Host header, not several."),
        (Some(host), None) if !host.as_bytes().iter().all(|byte| is_host_byte(*byte)) => {
            return Err("The header Host isn't a host, such as api.example.org or [2001:db8::1]:8080.");
        }
        _ => {}
    }
    // The one way of stating a body's end that can contradict another. Nothing here takes a body.
    if parts.headers.contains_key(TRANSFER_ENCODING) {
        return Err("Send no Transfer-Encoding: nothing here takes a request body.");
    }
    Ok(())
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%:[]".contains(&byte)
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

fn not_modified() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// The answer to `HEAD`: that to `GET`, its body unsent.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact().filter(|_| has_body(parts.status)) {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}

fn has_body(status: StatusCode) -> bool {
    !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}
