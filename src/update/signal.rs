//! Signals to the thread that keeps a directory current.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The minimum interval between two checks caused by file system events.
pub(super) const EVENT_INTERVAL: Duration = Duration::from_millis(50);

/// A reason to stop waiting and check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The file system reported an event: something may have changed.
    FsEvent,
    /// Fetch now, whether or not something has changed.
    Reload,
    Stop,
}

/// Waits for the next signal, for at most `max_wait`. Events in quick succession count as one: the
/// next check comes no sooner than [`EVENT_INTERVAL`] after the last one.
pub(super) fn next_signal(signals: &Receiver<Signal>, looked_at: Instant, max_wait: Duration) -> Option<Signal> {
    let mut max_wait = max_wait;
    let mut pending = None;
    loop {
        match signals.recv_timeout(max_wait) {
            Ok(Signal::FsEvent) => {
                pending = Some(Signal::FsEvent);
                max_wait = EVENT_INTERVAL.saturating_sub(looked_at.elapsed());
                if max_wait.is_zero() {
                    return pending;
                }
            }
            Ok(signal) => return Some(signal),
            Err(RecvTimeoutError::Timeout) => return pending,
            Err(RecvTimeoutError::Disconnected) => return Some(Signal::Stop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn events_are_coalesced_and_other_signals_are_returned_immediately() {
        let (sender, received) = std::sync::mpsc::sync_channel(16);
        let long_ago = Instant::now().checked_sub(Duration::from_mins(1)).expect("a machine up for a minute");
        for _ in 0..16 {
            sender.send(Signal::FsEvent).expect("sent");
        }
        assert_eq!(next_signal(&received, long_ago, SECOND), Some(Signal::FsEvent), "the last check was long ago");
        assert_eq!(
            next_signal(&received, Instant::now(), SECOND),
            Some(Signal::FsEvent),
            "all the others count as one"
        );
        assert_eq!(next_signal(&received, long_ago, Duration::ZERO), None, "no events are left");
        sender.send(Signal::FsEvent).expect("sent");
        sender.send(Signal::Reload).expect("sent");
        assert_eq!(next_signal(&received, Instant::now(), SECOND), Some(Signal::Reload));
        drop(sender);
        assert_eq!(next_signal(&received, Instant::now(), SECOND), Some(Signal::Stop), "no sender is left");
    }
}
