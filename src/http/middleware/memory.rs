//! Limits the memory used by response bodies: a large one counts against a budget until its last
//! byte is written, and it's handed over in pieces, so that the rate at which its caller reads can be
//! measured.
//!
//! Lists aren't streamed from their generation's data, because a slow reader would keep an entire
//! old generation in memory.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};

use super::request_context::RequestContext;
use crate::http::problem::ApiError;
use crate::http::server::Disconnect;
use crate::http::shares::{Class, Limit, Share, Shares};
use crate::http::state::AppState;

/// Bodies smaller than this, in bytes, don't count. Nearly all bodies are smaller, and on 4096
/// connections they use at most 256 MiB.
const MIN_BYTES: u64 = 64 * 1024;

const MIB: usize = 1 << 20;

/// How much of a body is handed to its connection at once, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// The period over which the rate of a body is measured. A typical page takes less.
const PERIOD: Duration = Duration::from_secs(1);

/// The budget in bytes, 64 MiB: about six of the largest lists, or a thousand typical large bodies.
pub(in crate::http) fn body_budget() -> Shares {
    let visitors = Limit { of_class: 16 * MIB, of_holder: 4 * MIB };
    let keys = Limit { of_class: 48 * MIB, of_holder: 24 * MIB };
    Shares::new("large responses' bytes", PERIOD, [visitors, keys])
}

/// A body and its share of the budget. It fails once it had to give way.
struct Held {
    rest: Bytes,
    share: Arc<Share>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if self.share.is_ended() {
            return Poll::Ready(Some(Err(io::Error::other("dropped to make room for another response"))));
        }
        let length = self.rest.len().min(PIECE_BYTES);
        let piece = Piece { bytes: self.rest.split_to(length), share: Arc::clone(&self.share) };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// Part of a body that's dropped once it's written.
struct Piece {
    bytes: Bytes,
    share: Arc<Share>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.share.taken(self.bytes.len(), Instant::now());
    }
}

/// Answers a request. A large body that isn't streamed counts against the budget. If there's no
/// room, it's dropped at once and the request is shed.
pub(super) async fn answer(state: &AppState, context: &RequestContext, request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<Disconnect>().cloned();
    let response = next.run(request).await;
    let size = response.body().size_hint().exact().filter(|size| *size >= MIN_BYTES);
    match size {
        None => response,
        // Boxed so that other requests don't carry its state.
        Some(size) => Box::pin(hold(state, context, connection, response, size)).await,
    }
}

async fn hold(
    state: &AppState,
    context: &RequestContext,
    connection: Option<Disconnect>,
    response: Response,
    size: u64,
) -> Response {
    let holder = context.holder();
    let units = usize::try_from(size).unwrap_or(usize::MAX);
    let Ok(share) = state.bodies.acquire(Class::of(&holder), holder, units, Instant::now()) else {
        return ApiError::Overloaded.into_response();
    };
    let (parts, body) = response.into_parts();
    // It's already in memory.
    match body.collect().await {
        Ok(body) => {
            let share = Arc::new(share.closing(connection));
            Response::from_parts(parts, Body::new(Held { rest: body.to_bytes(), share }))
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::key::Holder;

    #[tokio::test]
    async fn body_that_had_to_give_way_fails_and_its_connection_is_closed() {
        let visitors = Limit { of_class: 3 * PIECE_BYTES, of_holder: 3 * PIECE_BYTES };
        let shares = Shares::new("bytes", PERIOD, [visitors; 2]);
        let (start, connection) = (Instant::now(), Disconnect::default());
        let acquire = |name: &str, at| shares.acquire(Class::Key, Holder::Key(name.into()), 3 * PIECE_BYTES, at);
        let share = acquire("slow", start).expect("free").closing(Some(connection.clone()));
        let mut slow = Held { rest: vec![0; 3 * PIECE_BYTES].into(), share: Arc::new(share) };
        let piece = slow.frame().await.expect("a frame").expect("bytes").into_data().expect("data");
        assert_eq!((piece.len(), slow.size_hint().exact()), (PIECE_BYTES, Some(2 * PIECE_BYTES as u64)));
        assert!(acquire("other", start).is_err(), "too early to say that it's slow");
        let other = acquire("other", start + 2 * PERIOD).expect("the slow one's room");
        slow.frame().await.expect("a frame").expect_err("it had to give way");
        connection.closed().await;
        drop((piece, slow));
        assert!(acquire("third", start).is_err(), "the room now belongs to the other one");
        drop(other);
        assert!(acquire("third", start).is_ok());
    }
}
