//! Catches a panic of a handler, so that it costs one answer and not the connection.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::problem::ApiError;

/// Runs a future to its end, or to its panic.
///
/// # Errors
/// [`ApiError::Panicked`] with the panic's message. The future is not polled again.
pub(super) async fn caught<F: Future>(future: F) -> Result<F::Output, ApiError> {
    let mut future = pin!(future);
    poll_fn(|context| {
        // What a handler shares with others is immutable or behind its own lock, so nothing half-done is seen.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(payload) => Poll::Ready(Err(ApiError::Panicked(message(payload.as_ref())))),
        }
    })
    .await
}

fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_error_with_its_message() {
        let number = std::hint::black_box(3);
        let outcome = caught(async { assert_eq!(number, 4, "out of paper") }).await;
        assert!(matches!(outcome, Err(ApiError::Panicked(message)) if message.contains("out of paper")));
    }

    #[tokio::test]
    async fn without_a_panic_the_output_comes_through() {
        assert!(matches!(caught(async { 5 }).await, Ok(5)));
    }
}
