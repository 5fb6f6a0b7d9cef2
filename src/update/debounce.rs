//! Decides when to read changed files: once they've settled, after a while regardless, or when a
//! signal says so.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::generation::source::FolderStamp;

pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long the files must stay unchanged before they're read.
const QUIET: Duration = Duration::from_millis(250);
/// The longest delay between the first change and a read.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// How often the files are read in full even if they seem unchanged.
const FULL_READ_INTERVAL: Duration = Duration::from_mins(10);

/// A debouncer for changes to a folder. Callers pass in the current time.
#[derive(Debug)]
pub(super) struct Debouncer {
    seen: Option<FolderStamp>,
    pending: Option<Pending>,
    read_in_full: Instant,
}

#[derive(Debug)]
struct Pending {
    stamp: Option<FolderStamp>,
    since: Instant,
    changed: Instant,
}

impl Debouncer {
    /// A debouncer for a folder that had the stamp `seen` when it was last read.
    pub(super) const fn new(seen: Option<FolderStamp>, now: Instant) -> Self {
        Self { seen, pending: None, read_in_full: now }
    }

    pub(super) const fn seen(&self) -> Option<&FolderStamp> {
        self.seen.as_ref()
    }

    /// The longest wait for a signal before the next check.
    pub(super) const fn max_wait(&self) -> Duration {
        if self.pending.is_some() { EVENT_INTERVAL } else { POLL_INTERVAL }
    }

    /// Records the folder's stamp; `None` if it can't be read. Returns whether it's time to read
    /// the files.
    pub(super) fn look(&mut self, stamp: Option<FolderStamp>, now: Instant) -> bool {
        if stamp == self.seen {
            self.pending = None;
            return now.duration_since(self.read_in_full) >= FULL_READ_INTERVAL;
        }
        match &mut self.pending {
            None => self.pending = Some(Pending { stamp, since: now, changed: now }),
            Some(pending) if pending.stamp != stamp => (pending.stamp, pending.changed) = (stamp, now),
            Some(_) => {}
        }
        self.pending.as_ref().is_some_and(|pending| {
            now.duration_since(pending.changed) >= QUIET || now.duration_since(pending.since) >= MAX_DELAY
        })
    }

    /// Records that the files were read with this stamp.
    pub(super) fn read(&mut self, seen: Option<FolderStamp>, now: Instant) {
        (self.seen, self.pending, self.read_in_full) = (seen, None, now);
    }
}

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
    use crate::generation::source::FileStamp;

    #[expect(clippy::unnecessary_wraps, reason = "as a stamp is read")]
    fn stamp(size: u64) -> Option<FolderStamp> {
        Some(vec![FileStamp { name: "a.json".into(), size, modified_ns: 0, identity: (0, 0, 0) }])
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn files_are_read_once_changes_have_settled_and_periodically() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(1), start);
        for (at, found, is_due, why) in [
            (0, stamp(1), false, "nothing changed"),
            (100, stamp(2), false, "a change"),
            (300, stamp(3), false, "still changing"),
            (549, stamp(3), false, "not quiet for long enough"),
            (550, stamp(3), true, "settled"),
            (900, stamp(3), false, "read once"),
            (1000, stamp(2), false, "a change"),
            (1100, stamp(3), false, "undone"),
            (2000, stamp(3), false, "undone long ago"),
            (3000, None, false, "the folder disappears"),
            (3250, None, true, "that's a change, too"),
            (4250, None, false, "reported once"),
            (5000, stamp(1), false, "the folder comes back"),
            (5250, stamp(1), true, "that's noticed"),
            (605_249, stamp(1), false, "nothing changed"),
            (605_250, stamp(1), true, "ten minutes after the last read"),
            (605_251, stamp(1), false, "read once"),
        ] {
            let now = start + ms(at);
            assert_eq!(debouncer.look(found.clone(), now), is_due, "{at} ms: {why}");
            if is_due {
                debouncer.read(found, now);
            }
        }
    }

    #[test]
    fn continuous_changes_are_debounced_for_at_most_five_seconds() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(0), start);
        let first = (1..1000).find(|n| debouncer.look(stamp(*n), start + ms(n * 100))).expect("the maximum delay");
        assert_eq!(first, 51);
    }

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
