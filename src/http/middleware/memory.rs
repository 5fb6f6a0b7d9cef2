//! Limits the memory used by response bodies: a large one counts against a budget until its last
//! byte is written.
//!
//! Lists aren't streamed from their generation's data, because a slow reader would keep an entire
//! old generation in memory.

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::BodyExt as _;

use super::request_context::RequestContext;
use crate::http::problem::ApiError;
use crate::http::shares::{Class, Limit, Share, Shares};
use crate::http::state::AppState;

/// Bodies smaller than this, in bytes, don't count. Nearly all bodies are smaller, and on 4096
/// connections they use at most 256 MiB.
const MIN_BYTES: u64 = 64 * 1024;

const MIB: usize = 1 << 20;

/// The budget in bytes, 64 MiB: about six of the largest pages, or a thousand typical large ones.
pub(in crate::http) fn body_budget() -> Shares {
    let visitors = Limit { of_class: 16 * MIB, of_holder: 4 * MIB };
    let keys = Limit { of_class: 48 * MIB, of_holder: 24 * MIB };
    // Followers' bodies are streamed.
    let followers = Limit { of_class: 0, of_holder: 0 };
    Shares::new(visitors, keys, followers)
}

/// A body and its share of the budget.
struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Answers a request. A large body that isn't streamed counts against the budget. If there's no
/// room, it's dropped at once and the request is shed.
pub(super) async fn answer(state: &AppState, context: &RequestContext, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let size = response.body().size_hint().exact().filter(|size| *size >= MIN_BYTES);
    match size {
        None => response,
        // Boxed so that other requests don't carry its state.
        Some(size) => Box::pin(hold(state, context, response, size)).await,
    }
}

async fn hold(state: &AppState, context: &RequestContext, response: Response, size: u64) -> Response {
    let holder = context.holder();
    let units = usize::try_from(size).unwrap_or(usize::MAX);
    let Ok(share) = state.bodies.acquire(Class::of(&holder), holder, units, context.started) else {
        return ApiError::Overloaded.into_response();
    };
    let (parts, body) = response.into_parts();
    // It's already in memory.
    match body.collect().await {
        Ok(body) => {
            let held = Held { bytes: body.to_bytes(), _share: share };
            Response::from_parts(parts, Body::from(Bytes::from_owner(held)))
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}
