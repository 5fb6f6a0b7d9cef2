//! The open-file limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit (1024 on most systems) towards the hard one, so that the process may open
/// `needed` files. Returns how many it may open; `None` if there's no limit.
pub(super) fn allow(needed: u64) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    let is_raised = raised > current && setrlimit(Resource::Nofile, Rlimit { current: Some(raised), ..limit }).is_ok();
    Some(if is_raised { raised } else { current })
}
