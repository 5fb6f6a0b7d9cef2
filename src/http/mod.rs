//! The HTTP service: axum's home.
//!
//! [`service`] is the whole of it: every route, then the middleware in the order in which a request passes it. Handlers
//! (`routes`, a file a resource) take what they need by extractors (`extract`), call an operation of
//! [`service`](crate::service) and write its result (`response`); every failure is an [`ApiError`]. The
//! `server` owns sockets and depends on a tower `Service` only.

mod api;
mod atom;
mod config;
mod content_coding;
mod downloads;
mod entity_tag;
mod extract;
mod methods;
mod metrics;
mod middleware;
mod openapi;
mod preview;
pub mod problem;
mod process_metrics;
mod response;
mod search_cache;
mod search_pool;
pub mod server;
mod site;
mod state;

pub use api::metrics_service;
pub use config::{HttpConfig, PublicUrl, PublicUrlError};
pub use metrics::{Metrics, MetricsError};
pub use preview::{Comparison, Findings, Preview};
pub use search_pool::MaxQueueDelay;
pub use state::{AppState, AppStateError};

use std::any::Any;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use tower::{Service, ServiceBuilder};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use self::api::{
    categories, changes, exports, feed, generations, glossary, health, mcp, reviews, search, similar, software, suggest,
};
use self::entity_tag::{EntityTags, TagKind, conditional};
use self::middleware::{
    API_FALLBACKS, AccessLog, Around, Authenticate, CompressionLayer, Cors, Options, PrivateCache, Problems, RateLimit,
    RequestLimits, RequestMetrics, SetRequestContext, TakeSnapshot, TimeoutLayer,
};
use self::problem::ApiError;

/// The service with all its routes.
pub fn service(
    state: Arc<AppState>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static {
    service_with(state, Router::new())
}

/// The service with further routes outside of `/v1`, behind the same middleware.
pub fn service_with(
    state: Arc<AppState>,
    more: Router<Arc<AppState>>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static {
    // The life of every request, from the outside in. Its response passes the same layers from the inside out.
    let common = ServiceBuilder::new()
        .layer(Around(SetRequestContext))
        .layer(SetResponseHeaderLayer::overriding(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
        .layer(Around(AccessLog(Arc::clone(&state))))
        .layer(Around(RequestMetrics(Arc::clone(&state))))
        .layer(CompressionLayer)
        .layer(Around(PrivateCache))
        // Preflights end here: they carry no key.
        .layer(Around(Cors))
        // Errors from here on become problem documents.
        .layer(Around(Problems(Arc::clone(&state))))
        .map_response(|response: Response<_>| response.map(Body::new))
        .layer(CatchPanicLayer::custom(|panic: Box<dyn Any + Send>| ApiError::panicked(&*panic).into_response()))
        .layer(Around(RequestLimits))
        .layer(Around(Options))
        .layer(TimeoutLayer(state.config.request_timeout));
    // Then, under /v1 and whether or not there is such a route:
    let with_key = ServiceBuilder::new()
        .layer(common.clone())
        .layer(Around(Authenticate(Arc::clone(&state))))
        .layer(Around(TakeSnapshot(Arc::clone(&state))));
    let tags = EntityTags::new(&state.config.build);
    let tagged = |routes: Router<Arc<AppState>>, kind| {
        let layers = ServiceBuilder::new()
            .layer(with_key.clone())
            // A 304 ends here and costs no quota.
            .layer(from_fn_with_state((tags.clone(), kind), conditional))
            .layer(Around(RateLimit));
        routes.method_not_allowed_fallback(method_not_allowed).layer(layers)
    };

    // The feed is read with a key too, unless the page is public.
    let api = operations().into_iter().fold(tagged(feed::router(), TagKind::Changes), |api, (operation, kind)| {
        api.merge(tagged(OpenApiRouter::new().routes(operation).into(), kind))
    });
    let unknown = API_FALLBACKS.iter().fold(Router::new(), |router, path| router.route(path, any(route_not_found)));
    // Messages of the Model Context Protocol: sent with POST, so without entity tags.
    let untagged =
        mcp::router().merge(unknown).layer(ServiceBuilder::new().layer(with_key.clone()).layer(Around(RateLimit)));
    // Files of the index: not of one snapshot, and with entity tags of their own.
    let replication = ServiceBuilder::new()
        .layer(common.clone())
        .layer(Around(Authenticate(Arc::clone(&state))))
        .layer(Around(RateLimit));
    let replication = generations::router().method_not_allowed_fallback(method_not_allowed).layer(replication);
    // The pages of a preview: of no snapshot, for there may be none.
    let is_preview = state.config.preview.is_some();
    let preview = if is_preview { api::preview::router() } else { Router::new() };
    let preview = preview.layer(
        ServiceBuilder::new()
            .layer(common.clone())
            .layer(Around(Authenticate(Arc::clone(&state))))
            .layer(Around(RateLimit)),
    );
    // The site's fallback answers all other addresses.
    let open = Router::from(health_routes())
        .merge(site::router(&state.config, openapi(&state.config)))
        .merge(more)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(common);
    // Around the router itself.
    ServiceBuilder::new()
        .map_request(methods::drop_unread_body)
        .map_request(middleware::trim_trailing_slash)
        .map_response(middleware::correct_headers)
        .map_response(move |response| if is_preview { preview::mark(response) } else { response })
        .service(open.merge(api).merge(replication).merge(untagged).merge(preview).with_state(state))
}

/// The operations of the API, each with what its entity tags are made from.
fn operations() -> [(UtoipaMethodRouter<Arc<AppState>>, TagKind); 13] {
    [
        (routes!(software::list_software), TagKind::Generation),
        (routes!(software::get_software), TagKind::Software),
        (routes!(similar::list_similar), TagKind::Generation),
        (routes!(search::search_software), TagKind::Generation),
        (routes!(suggest::suggest), TagKind::Generation),
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

/// The operations for operators.
fn health_routes() -> OpenApiRouter<Arc<AppState>> {
    OpenApiRouter::new().routes(routes!(health::get_health)).routes(routes!(health::get_readiness))
}

/// The OpenAPI document of a service with these settings, as JSON.
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
