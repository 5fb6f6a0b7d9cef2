//! Work that must not take the keeper's thread with it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::snapshot::priority::{self, Share};

/// Does something whose panic must not end the keeper's thread, which would leave a server that follows nothing. What it
/// was working on is given up; what the keeper remembers is values that are replaced whole.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| panic_message(payload.as_ref()))
}

/// The same on a thread of its own, for the allocator's sake, which keeps memory apart by threads: what the work leaves
/// behind goes back with its thread, and what it makes doesn't lie between what others left.
pub(super) fn caught_apart<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    apart(|| None, |_| work())
}

/// The same where nothing else wants the processor; the work is told what share of it it has.
pub(super) fn caught_yielding<T: Send>(work: impl FnOnce(Option<Share>) -> T + Send) -> Result<T, String> {
    apart(priority::yield_to_all, work)
}

fn apart<T: Send>(begin: fn() -> Option<Share>, work: impl FnOnce(Option<Share>) -> T + Send) -> Result<T, String> {
    // Where the system has no thread to spare, it is done here, at this thread's priority.
    let mut work = Some(work);
    let done: Option<Result<T, String>> = std::thread::scope(|scope| {
        let take = || work.take().map(|work| caught(|| work(begin())));
        let reload = std::thread::Builder::new().name("reload".to_owned()).spawn_scoped(scope, take).ok()?;
        reload.join().ok()?
    });
    done.unwrap_or_else(|| work.map_or_else(|| Err("no message".to_owned()), |work| caught(|| work(None))))
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
