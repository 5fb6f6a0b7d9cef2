//! Catches a panic of a handler, so that it costs one answer and not the connection, and has panics logged like any
//! other failure: once, in one line.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::problem::ApiError;

thread_local! {
    /// Whether a panic of this thread will be caught, and logged with the request it belongs to.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    /// Where the last one was.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Has panics logged from now on: those of handlers with their request, others by themselves.
pub fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = place(panic);
        if IS_CAUGHT.get() {
            PLACE.set(Some(place));
        } else {
            let thread = std::thread::current();
            let thread = thread.name().unwrap_or_default();
            tracing::error!(thread, place, "a thread panicked: {}", message(panic.payload()));
        }
    }));
}

/// File and line; the backtrace too, where `RUST_BACKTRACE` asks for it.
fn place(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured { format!("{place}\n{backtrace}") } else { place }
}

/// Calls a function, to its end or to its panic.
///
/// # Errors
/// [`ApiError::Panicked`] with the panic's message and place.
pub(super) fn catch<T>(function: impl FnOnce() -> T) -> Result<T, ApiError> {
    let was_caught = IS_CAUGHT.replace(true);
    // What a handler shares with others is immutable or behind its own lock, so nothing half-done is seen.
    let outcome = catch_unwind(AssertUnwindSafe(function));
    IS_CAUGHT.set(was_caught);
    outcome.map_err(|payload| {
        let message = message(payload.as_ref());
        ApiError::Panicked(match PLACE.take() {
            Some(place) => format!("{message}, at {place}"),
            None => message.to_owned(),
        })
    })
}

/// Runs a future to its end, or to its panic.
///
/// # Errors
/// [`ApiError::Panicked`] with the panic's message and place. The future is not polled again.
pub(super) async fn caught<F: Future>(future: F) -> Result<F::Output, ApiError> {
    let mut future = pin!(future);
    poll_fn(|context| match catch(|| future.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
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
    async fn where_panics_are_logged_the_error_tells_the_place() {
        let before = std::panic::take_hook();
        log_panics();
        let number = std::hint::black_box(3);
        let outcome = caught(async { assert_eq!(number, 4, "out of paper") }).await;
        std::panic::set_hook(before);
        let Err(ApiError::Panicked(message)) = outcome else { panic!("no panic") };
        assert!(message.contains("out of paper") && message.contains(", at src/http/panic.rs:"), "{message}");
    }

    #[tokio::test]
    async fn without_a_panic_the_output_comes_through() {
        assert!(matches!(caught(async { 5 }).await, Ok(5)));
    }
}
