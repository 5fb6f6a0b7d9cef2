//! Middleware, a file each. [`Around`] makes a tower layer of it.

mod access_log;
mod around;
mod auth;
mod cache_control;
mod compression;
mod cors;
mod framing;
mod limits;
mod metrics;
mod options;
mod problem;
mod rate_limit;
mod request_context;
mod route;
mod snapshot;
mod timeout;

pub(super) use access_log::AccessLog;
pub(super) use around::Around;
pub(super) use auth::{Authenticate, has_valid_key};
pub(super) use cache_control::PrivateCache;
pub(super) use compression::{CompressionLayer, FinalCoding, MIN_COMPRESSED_BYTES};
pub(super) use cors::Cors;
pub(super) use framing::correct_headers;
pub(super) use limits::RequestLimits;
pub(super) use metrics::RequestMetrics;
pub(super) use options::Options;
pub(super) use problem::Problems;
pub(super) use rate_limit::{Cost, RateLimit};
pub(super) use request_context::{RequestContext, SetRequestContext};
pub(super) use route::{API_FALLBACKS, FEED, trim_trailing_slash};
pub(super) use snapshot::TakeSnapshot;
pub(super) use timeout::TimeoutLayer;
