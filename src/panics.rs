//! Panics: caught where they are told, with the place where they happened.
//!
//! The hook logs nothing, because a panic may come out of logging itself.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Where the last panic of the thread happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Has panics keep their place, with the backtrace where `RUST_BACKTRACE` asks for it, in place of printing it.
pub fn keep_places() {
    std::panic::set_hook(Box::new(|panic| {
        let mut place = panic.location().map(ToString::to_string).unwrap_or_default();
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            place = format!("{place}\n{backtrace}");
        }
        // Fails while the thread ends.
        let _ = PLACE.try_with(|kept| kept.replace(Some(place)));
    }));
}

/// The message of a panic that was just caught on this thread, and its place where it was kept.
#[must_use]
pub fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    match PLACE.take() {
        Some(place) => format!("{message}, at {place}"),
        None => message,
    }
}

/// Runs a closure and catches its panic.
///
/// # Errors
/// The description of the panic.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| describe(payload.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caught_panic_has_message_and_place() {
        keep_places();
        let line = line!() + 1;
        let caught = catch(|| panic!("out of {}", "paper")).expect_err("a panic");
        assert!(caught.starts_with(&format!("out of paper, at {}:{line}:", file!())), "{caught}");
    }
}
