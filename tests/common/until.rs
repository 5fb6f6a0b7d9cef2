//! Waits for something that another process does.

use std::time::{Duration, Instant};

/// Long enough for a busy machine. A condition that holds is noticed at once.
const DEADLINE: Duration = Duration::from_mins(2);

/// Polls until there is a result.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "timed out waiting for: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
