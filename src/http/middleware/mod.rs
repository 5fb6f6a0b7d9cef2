//! Middleware as plain functions, one file per concern. [`http`](super) calls them in order, from
//! `every_request` on down.

mod auth;
mod compression;
mod cors;
mod limits;
mod log;
mod memory;
mod problem;
mod quota;
mod request_context;
mod session;

pub(super) use auth::{authenticate, check_origin, failed, grant_of, has_valid_key, is_from_page};
pub(super) use compression::{FinalCoding, MIN_COMPRESSED_BYTES, compress};
pub(super) use cors::{allow_any, allow_origin, is_preflight, preflight};
pub(super) use limits::{check_host, check_limits, is_own_host, with_timeout};
pub use log::ACCESS_LOG;
pub(super) use log::AccessLine;
pub(super) use memory::body_budget;
pub(super) use problem::take_error;
pub(super) use quota::{Cost, hide_quota, report_quota, spend_quota};
pub(super) use request_context::{
    ALLOWED_METHODS, API_FALLBACKS, CATALOG, FEEDS, MCP_METHODS, MCP_PATH, RECONCILE, RequestContext, SIGN_IN,
    SIGN_OUT, SentUri, X_REQUEST_ID, allowed_methods, correct_headers, drop_unread_body, is_feed, is_private,
    list_methods, matched_route, trim_trailing_slash, with_path,
};
pub(super) use session::{authenticate_reader, end_sessions, is_from_own_page, reader, session, session_cookie};
