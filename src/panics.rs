//! Catches panics and records where they happened, for the code that logs them.
//!
//! The hook itself logs nothing, because a panic may originate in logging.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Scope, ScopedJoinHandle};

thread_local! {
    /// Where the thread last panicked.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook that stores the location, with a backtrace if `RUST_BACKTRACE` is set, and
/// prints nothing.
pub fn install_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let mut location = panic.location().map(ToString::to_string).unwrap_or_default();
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            location = format!("{location}\n{backtrace}");
        }
        // Fails if the thread is already ending.
        let _ = LOCATION.try_with(|last| last.replace(Some(location)));
    }));
}

/// The message of a panic just caught on this thread, with its location if the hook is installed.
pub fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
    match LOCATION.take() {
        Some(location) => format!("{message}, at {location}"),
        None => message,
    }
}

pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| describe(payload.as_ref()))
}

/// A scoped thread that reports where it panicked.
#[derive(Debug)]
pub struct ScopedThread<'scope, T>(ScopedJoinHandle<'scope, Result<T, String>>);

impl<'scope, T: Send + 'scope> ScopedThread<'scope, T> {
    pub fn spawn<'env>(
        scope: &'scope Scope<'scope, 'env>,
        name: &str,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<Self> {
        thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, || catch(work)).map(Self)
    }

    /// Waits for the result. If the thread panicked, so does the caller.
    pub fn join(self) -> T {
        let done = self.0.join().unwrap_or_else(|payload| resume_unwind(payload));
        done.unwrap_or_else(|panic| resume_unwind(Box::new(panic)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scoped_threads_panic_keeps_its_location() {
        install_hook();
        let line = line!() + 2;
        let run = || {
            thread::scope(|scope| ScopedThread::spawn(scope, "test", || panic!("out of paper")).map(ScopedThread::join))
        };
        let caught = catch(|| run().expect("a thread")).expect_err("a panic");
        assert!(caught.starts_with(&format!("out of paper, at {}:{line}:", file!())), "{caught}");
    }

    #[test]
    fn a_caught_panic_has_its_message_and_location() {
        install_hook();
        let line = line!() + 1;
        let caught = catch(|| panic!("out of {}", "paper")).expect_err("a panic");
        assert!(caught.starts_with(&format!("out of paper, at {}:{line}:", file!())), "{caught}");
    }
}
