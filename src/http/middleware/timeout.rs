//! The request timeout.
//!
//! tower-http's layer polls its timer first, so every request registers one. Most handlers never
//! wait, and with that layer, lookups drop from 0.84 to 0.73 of bare axum's rate (`make bench-http
//! BENCH_HTTP='--only lookup'`). Here, a timer is only created for a request that has to wait.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use tokio::time::sleep;

use crate::http::problem::ApiError;

/// Answers 408 if a response takes longer than `timeout`, counted from when it first has to wait.
pub(in crate::http) async fn with_timeout(timeout: Duration, response: impl Future<Output = Response>) -> Response {
    let mut response = pin!(response);
    let mut timer = None;
    poll_fn(|context| {
        if let Poll::Ready(response) = response.as_mut().poll(context) {
            return Poll::Ready(response);
        }
        let timer = timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
        timer.as_mut().poll(context).map(|()| ApiError::RequestTimeout.into_response())
    })
    .await
}
