//! The HTTP service: axum's and hyper's only home.
//!
//! A request passes [`App::handle`] once, top to bottom: id → size limits → CORS → overload → key → conditional request → quota →
//! operation. Handlers (`routes`, a file per resource) read their parameters, call an operation of
//! [`service`](crate::service) and write its answer; whatever goes wrong on the way is one [`problem::ApiError`], turned
//! into one answer in one place. What takes long to compute is computed where there is room ([`ComputePool`]). [`server`]
//! owns sockets and nothing else.

mod app;
mod asset;
mod auth;
mod client_address;
mod compression;
mod compute;
mod conditional;
mod config;
mod cors;
mod docs;
mod document;
mod exchange;
mod metrics;
pub mod openapi;
mod operation;
mod paging;
mod panic;
mod params;
pub mod problem;
mod repeated;
mod request;
mod request_id;
mod routes;
pub mod server;

pub use app::App;
pub use compute::ComputePool;
pub use config::{AppState, HttpConfig, PublicUrl, PublicUrlError};
pub use metrics::{Exposition, Metrics, MetricsError};
pub use panic::log_panics;
pub use server::{Arrival, ConnectionLimits};

use axum::http::HeaderValue;

/// The methods that every route answers.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
