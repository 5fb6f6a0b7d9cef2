//! Hostile callers, overload, and operators' signals: the real binary, over the loopback interface.
//!
//! By default, the counts are small. `FAULTS=full` selects the full counts (see `make faults`).
//! The tests print what they measure: `cargo test --test server callers:: -- --nocapture`.

mod apart;
mod attempts;
mod client;
mod downloads;
mod hostile;
mod load;
mod overload;
mod process;
mod slow;
mod stopping;
mod takeover;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether to use the full counts.
fn full() -> bool {
    std::env::var("FAULTS").is_ok_and(|value| value == "full")
}

/// Held by tests that measure or load the machine, so they don't disturb each other.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test's callers.
fn run<T>(callers: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(callers)
}

/// Raises the open-file limit, or fails with the command that raises it.
fn open_files(needed: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit });
        assert!(raised.is_ok(), "this needs {needed} open files; allow them with: ulimit -Hn {needed}");
    }
}
