//! The HTTP service, the only module that uses axum.
//!
//! [`service`] puts it all together: every route, then every layer, in the order a request passes
//! through them. Handlers (`api`, one file per resource) get what they need from extractors
//! (`extract`), call an operation of [`service`](crate::service) and write its result (`response`).
//! Every failure is an [`ApiError`]. The `server` owns the sockets and depends only on a tower
//! `Service`.

mod api;
mod config;
mod content_coding;
mod downloads;
mod entity_tag;
mod extract;
mod face;
mod metrics;
mod middleware;
mod openapi;
mod pages;
mod preview;
pub mod problem;
mod publish;
mod response;
mod search_cache;
mod search_pool;
pub mod server;
mod shares;
mod state;

pub use api::metrics_service;
pub use config::{HttpConfig, PublicUrl, PublicUrlError, Publication};
pub use face::Face;
pub use metrics::{Metrics, MetricsError};
pub use middleware::ACCESS_LOG;
pub use preview::{Comparison, Findings, Preview};
pub use publish::Publisher;
pub use search_pool::MaxQueueDelay;
pub use state::{AppState, AppStateError};

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{Extensions, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Router};
use futures_util::future::FutureExt as _;
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use self::api::{
    attributes, categories, changes, exports, formats, glossary, health, mcp, reviews, search, software, suggest,
};
use self::entity_tag::{TagKind, conditional};
use self::middleware::{API_FALLBACKS, RequestContext, X_REQUEST_ID};
use self::pages::{Localised, Reader};
use self::problem::ApiError;
use crate::generation::Snapshot;

const X_GENERATION: HeaderName = HeaderName::from_static("x-generation");

/// The service with all its routes.
pub fn service(
    state: Arc<AppState>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static {
    service_with(state, Router::new())
}

/// Publishes the directory as files. `state` must have settings for it, and its pages and API must be
/// public.
pub fn publisher(state: Arc<AppState>, snapshot: Arc<Snapshot>) -> Publisher {
    let service = BoxCloneSyncService::new(service(Arc::clone(&state)));
    Publisher::new(state, service, snapshot)
}

/// The service with additional routes outside `/v1`, behind the same middleware.
pub fn service_with(
    state: Arc<AppState>,
    more: Router<Arc<AppState>>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static {
    let is_preview = state.config.preview.is_some();
    let routes = routes(&state, more).with_state(state);
    // A request passes through these layers, then its route's own layer, then the functions from
    // `every_request` down to `answer_from_generation`. The response goes back up the same way.
    ServiceBuilder::new()
        .map_request(middleware::drop_unread_body)
        .map_request(middleware::trim_trailing_slash)
        .map_request(pages::take_language)
        .map_response(middleware::correct_headers)
        .map_response(move |response| if is_preview { preview::mark(response) } else { response })
        .service(routes)
}

/// Every route, with its layers.
fn routes(state: &Arc<AppState>, more: Router<Arc<AppState>>) -> Router<Arc<AppState>> {
    let layer = |access: Option<Access>| from_fn_with_state((Arc::clone(state), access), every_request);
    let checked = |routes: Router<Arc<AppState>>, caller: Caller, source: Source| {
        let access = Access { caller, source };
        routes.method_not_allowed_fallback(method_not_allowed).layer(layer(Some(access)))
    };
    let keyed = |routes, source| checked(routes, Caller::Program, source);
    let operation =
        |(operation, kind)| keyed(OpenApiRouter::new().routes(operation).into(), Source::Generation(Some(kind)));
    let unknown = API_FALLBACKS.iter().fold(Router::new(), |router, path| router.route(path, any(route_not_found)));
    let page = Source::Generation(Some(TagKind::Page));
    let localised = |pages: Router<Arc<AppState>>| pages.layer(Extension(Localised::Page));
    let parts = |parts, source| checked(parts, Caller::Script, source).layer(Extension(Localised::Part));
    let pages = localised(checked(pages::of_generation(), Caller::Reader, page))
        .merge(checked(pages::sitemap(), Caller::Reader, page))
        .merge(checked(pages::downloads(), Caller::Reader, Source::Generation(Some(TagKind::Export))))
        .merge(parts(pages::parts_of_generation(), page));
    let records =
        pages::records().map(|(record, kind)| checked(record, Caller::Reader, Source::Generation(Some(kind))));
    let pages = records.into_iter().fold(pages, Router::merge);
    let pages = if state.config.preview.is_some() {
        let of_preview = localised(checked(pages::of_preview(), Caller::Reader, Source::Other));
        pages.merge(of_preview).merge(parts(pages::parts_of_preview(), Source::Other))
    } else {
        pages
    };
    let open = Router::from(health_routes())
        .merge(pages::documents(&state.docs))
        .merge(more)
        // All other paths.
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(layer(None));
    let open_pages = pages::open(&state.docs).method_not_allowed_fallback(method_not_allowed).layer(layer(None));
    operations()
        .into_iter()
        .map(operation)
        .fold(open, Router::merge)
        .merge(pages)
        .merge(localised(open_pages))
        // Feeds and the catalogue need a key too, unless the page is public.
        .merge(keyed(api::feed::router(), Source::Generation(Some(TagKind::Changes))))
        .merge(keyed(pages::catalog(), Source::Generation(None)))
        .merge(keyed(api::reconcile::router(), Source::Generation(None)))
        .merge(keyed(mcp::router(), Source::Generation(None)))
        .merge(keyed(unknown, Source::Generation(None)))
}

/// The API's operations, each with what its entity tags are computed from.
fn operations() -> [(UtoipaMethodRouter<Arc<AppState>>, TagKind); 17] {
    [
        (routes!(software::list_software), TagKind::Generation),
        (routes!(software::get_software), TagKind::Software),
        (routes!(formats::get_publiccode), TagKind::Generation),
        (routes!(formats::get_codemeta), TagKind::Generation),
        (routes!(software::list_similar), TagKind::Generation),
        (routes!(changes::list_history), TagKind::Changes),
        (routes!(search::search_software), TagKind::Generation),
        (routes!(suggest::suggest), TagKind::Generation),
        (routes!(attributes::list_attributes), TagKind::Generation),
        (routes!(categories::list_categories), TagKind::Categories),
        (routes!(categories::get_category), TagKind::Category),
        (routes!(reviews::list_reviews), TagKind::Generation),
        (routes!(glossary::list_glossary), TagKind::Glossary),
        (routes!(glossary::get_term), TagKind::Term),
        (routes!(exports::list_exports), TagKind::Generation),
        (routes!(exports::get_export), TagKind::Export),
        (routes!(changes::list_changes), TagKind::Changes),
    ]
}

/// Endpoints for operators.
fn health_routes() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new().routes(routes!(health::get_health)).routes(routes!(health::get_readiness))
}

/// The layer around every route: request id, log, metrics and compression. Functions call each
/// other instead of being one layer per concern, because a `from_fn` layer boxes its future and
/// clones its inner layers for each request.
async fn every_request(
    State((state, access)): State<(Arc<AppState>, Option<Access>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let context = RequestContext::new(&request);
    request.extensions_mut().insert(Arc::clone(&context));
    let route = middleware::matched_route(&request).cloned();
    let line = middleware::AccessLine::new(&context, &request, &state.config);
    let mut response =
        middleware::compress(request, next, |request, next| answer(&state, &context, access, request, next)).await;
    let (route, status) = (route.as_ref().map(MatchedPath::as_str), response.status());
    state.metrics.observe_request(route, &context.method, status, context.started.elapsed());
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.headers_mut().insert(X_REQUEST_ID, context.id.clone());
    match line {
        Some(line) => line.log(response),
        None => response,
    }
}

/// One layer further in: writes problem documents and error pages, and sets CORS and cache headers.
async fn answer(
    state: &AppState,
    context: &RequestContext,
    access: Option<Access>,
    mut request: Request,
    next: Next,
) -> Response {
    if middleware::is_preflight(&request) {
        return middleware::preflight(&request);
    }
    let caller = access.map(|access| access.caller);
    let is_unknown = request.extensions().get::<MatchedPath>().is_none();
    let is_cross_origin = request.headers().contains_key(ORIGIN);
    let is_page = matches!(caller, Some(Caller::Reader));
    let language = (!matches!(caller, Some(Caller::Program))).then(|| pages::language_of(state, &request));
    if let Some(language) = language {
        request.extensions_mut().insert(language);
    }
    // Someone who mistypes a URL should see a page.
    let reader = language.map(|language| Reader::of(language, request.headers()));
    let reader = reader.filter(|reader| is_page || (is_unknown && reader.prefers_html));
    let mut response = try_to_answer(state, context, access, request, next).await;
    if let Some(error) = middleware::take_error(state, context, &mut response) {
        match &reader {
            Some(reader) => pages::write_error(state, context, reader, &error, &mut response),
            None => problem::render(&error, context.id(), &state.config.errors_url(), &mut response),
        }
    }
    match (caller, language) {
        (Some(Caller::Reader | Caller::Script), Some(language)) => {
            pages::set_caching(state.config.public_page.is_some(), language, &mut response);
        }
        _ => middleware::allow_origin(is_cross_origin, response.headers_mut()),
    }
    pages::allow_embedding(state.site.embedded_by.as_ref(), &mut response);
    if is_unknown {
        response.headers_mut().append(VARY, HeaderValue::from_static("Accept, Accept-Language"));
    }
    if middleware::is_private(context.uri.path()) {
        set_api_caching(state, context, &mut response);
    }
    response
}

/// Sets the cache headers of an API response. If the API is public, caches may share what it
/// responds without a key: the response is the same for every caller and origin.
fn set_api_caching(state: &AppState, context: &RequestContext, response: &mut Response) {
    let is_answer = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let is_visitor = context.grant.get().is_some_and(|grant| grant.is_visitor());
    let is_shared =
        state.config.public_api.is_some() && !middleware::is_feed(context.uri.path()) && is_visitor && is_answer;
    let headers = response.headers_mut();
    let (caching, vary) = if is_shared {
        middleware::allow_any(headers);
        middleware::hide_quota(headers);
        ("public, max-age=60", "Authorization, Accept-Encoding")
    } else {
        ("private, no-cache", "Authorization, Accept-Encoding, Origin")
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(VARY, HeaderValue::from_static(vary));
}

/// One layer further in: catches panics, checks limits and the host, answers `OPTIONS`, and applies
/// the timeout. From here on, an error is a response that carries an [`ApiError`].
async fn try_to_answer(
    state: &AppState,
    context: &RequestContext,
    access: Option<Access>,
    request: Request,
    next: Next,
) -> Response {
    let response = async {
        let checked = middleware::check_limits(&request).and_then(|()| middleware::check_host(&request, &state.config));
        if let Err(error) = checked {
            return error.into_response();
        }
        if request.method() == Method::OPTIONS {
            return middleware::list_methods(&request);
        }
        if let Some(elsewhere) = pages::settle_language(state, context, &request) {
            return elsewhere;
        }
        let response = async {
            match access {
                // Boxed so that the functions around it don't copy its state.
                Some(access) => Box::pin(with_grant(state, context, access, request, next)).await,
                None => next.run(request).await,
            }
        };
        middleware::with_timeout(state.config.request_timeout, response).await
    };
    let response = AssertUnwindSafe(response).catch_unwind().await;
    response.unwrap_or_else(|panic| ApiError::panicked(&*panic).into_response())
}

/// Who may call a route, and where its responses come from.
#[derive(Debug, Clone, Copy)]
struct Access {
    caller: Caller,
    source: Source,
}

#[derive(Debug, Clone, Copy)]
enum Caller {
    /// A program with a key.
    Program,
    /// Someone reading a page, with a session or as a visitor.
    Reader,
    /// A page's script, which handles errors the way a program does.
    Script,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    /// The generation being served, with entity tags of the given kind, if any.
    Generation(Option<TagKind>),
    /// The index files or a preview's state, which don't need a generation.
    Other,
}

/// One layer further in, for a route that isn't open to everyone: checks the key and its origins,
/// or the session.
async fn with_grant(
    state: &AppState,
    context: &RequestContext,
    Access { caller, source }: Access,
    request: Request,
    next: Next,
) -> Response {
    let grant = match caller {
        Caller::Program => middleware::authenticate(state, &request),
        // Someone sending data to a page isn't redirected to sign in.
        _ if !matches!(*request.method(), Method::GET | Method::HEAD) => Err(ApiError::MethodNotAllowed),
        Caller::Reader | Caller::Script => {
            middleware::authenticate_reader(state, &request).ok_or(ApiError::MissingApiKey)
        }
    };
    let grant = match grant {
        Ok(grant) => grant,
        Err(error) => return error.into_response(),
    };
    let _ = context.grant.set(Arc::clone(&grant));
    let checked = match caller {
        Caller::Program => middleware::check_origin(&grant, request.headers()),
        Caller::Reader | Caller::Script => Ok(()),
    };
    let respond = async {
        match (checked, source) {
            (Err(error), _) => error.into_response(),
            (Ok(()), Source::Generation(kind)) => answer_from_generation(state, context, kind, request, next).await,
            (Ok(()), Source::Other) => middleware::spend_quota(state, context, request, next).await,
        }
    };
    let mut response = search_pool::with_turns_of(grant.holder(), respond).await;
    middleware::report_quota(&grant, &mut response);
    response
}

/// One layer further in: takes what the request is answered from, and handles the
/// entity tag and the quota.
async fn answer_from_generation(
    state: &AppState,
    context: &RequestContext,
    kind: Option<TagKind>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(served) = state.served() else { return unavailable(state, kind, request.extensions()) };
    let generation = HeaderValue::try_from(served.generation()).ok();
    request.extensions_mut().insert(served);
    let respond = |request| middleware::spend_quota(state, context, request, next);
    let mut response = match kind {
        // A 304 ends here and doesn't count against the quota.
        Some(kind) => conditional(&state.entity_tags, kind, context, request, respond).await,
        None => respond(request).await,
    };
    response.headers_mut().extend(generation.map(|generation| (X_GENERATION, generation)));
    response
}

/// The response while there's no generation. In a preview, the page says what it's waiting for.
fn unavailable(state: &AppState, kind: Option<TagKind>, extensions: &Extensions) -> Response {
    let language = extensions.get().copied().filter(|_| kind == Some(TagKind::Page));
    let awaited = language.and_then(|language| pages::awaited(state, language));
    awaited.unwrap_or_else(|| ApiError::IndexUnavailable.into_response())
}

/// The OpenAPI document, as JSON, for a service with these settings.
pub fn openapi(config: &HttpConfig) -> String {
    let operations =
        operations().into_iter().fold(OpenApiRouter::new(), |router, (operation, _)| router.routes(operation));
    openapi::document(operations.merge(health_routes()).into_openapi(), config)
}

async fn route_not_found() -> ApiError {
    ApiError::RouteNotFound
}

async fn method_not_allowed() -> ApiError {
    ApiError::MethodNotAllowed
}
