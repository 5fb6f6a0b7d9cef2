//! Watches the exports for changes. The only module that uses notify.
//!
//! Events only trigger an earlier poll. Names, sizes and times are polled once a second in any case, because events get lost (a
//! folder recreated, a link swapped, a network file system). Bursts of changes are debounced, and everything is read in full
//! every ten minutes.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::generation::Change;
use crate::generation::stamp::FolderStamp;
use crate::update::files::{Outcome, Reloader};

/// The interval between two polls of the folder.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The interval while it changes.
const CHANGING_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The time without a further change after which the exports are read.
const QUIET: Duration = Duration::from_millis(250);
/// The time after the first change after which they are read in any case.
const MAX_DELAY: Duration = Duration::from_secs(5);
/// The interval between two reads of all contents.
const FULL_READ_INTERVAL: Duration = Duration::from_mins(10);

/// The signals that end the wait for the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The file system reported an event: something may have changed.
    FsEvent,
    /// Read everything now.
    Reload,
    /// Stop watching.
    Stop,
}

/// A debouncer of the changes of a folder. Its callers pass the time.
#[derive(Debug)]
pub struct Debouncer {
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
    /// A debouncer of a folder that had the stamp `seen` when it was last read.
    pub const fn new(seen: Option<FolderStamp>, now: Instant) -> Self {
        Self { seen, pending: None, read_in_full: now }
    }

    /// The longest wait for a signal before the next poll.
    pub const fn max_wait(&self) -> Duration {
        if self.pending.is_some() { CHANGING_POLL_INTERVAL } else { POLL_INTERVAL }
    }

    /// Records the folder's stamp, `None` where it can't be read. Returns whether the exports are due to be read.
    pub fn look(&mut self, stamp: Option<FolderStamp>, now: Instant) -> bool {
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

    /// Records that the exports were read with this stamp.
    pub fn read(&mut self, seen: Option<FolderStamp>, now: Instant) {
        (self.seen, self.pending, self.read_in_full) = (seen, None, now);
    }
}

/// Watches until the stop signal, on a thread of its own, which waits for builds.
pub fn watch(reloader: &mut Reloader, signals: &Receiver<Signal>, fs_events: &mut FsEvents) {
    let mut debouncer = Debouncer::new(reloader.seen().cloned(), Instant::now());
    // A generation that was loaded without reading the exports is verified now, while it is served.
    let mut reload = true;
    let mut is_requested = false;
    let mut looked_at = Instant::now();
    loop {
        match next_signal(signals, looked_at, debouncer.max_wait()) {
            Some(Signal::Stop) => return,
            Some(Signal::Reload) => (reload, is_requested) = (true, true),
            Some(Signal::FsEvent) | None => {}
        }
        looked_at = Instant::now();
        fs_events.follow(reloader.settings().source.folder());
        reloader.look_at_index(looked_at);
        let stamp = reloader.settings().source.stamp().ok();
        // A generation that another process built of these files needs no second look.
        if debouncer.pending.is_some() && stamp.as_ref() == reloader.seen() && stamp.is_some() {
            debouncer.read(stamp.clone(), Instant::now());
        }
        if debouncer.look(stamp, Instant::now()) || std::mem::take(&mut reload) || reloader.is_due(looked_at) {
            refresh(reloader, std::mem::take(&mut is_requested));
            debouncer.read(reloader.seen().cloned(), Instant::now());
        }
    }
}

/// Waits for the next signal, for `max_wait` at most. Events in quick succession count as one: the folder is polled again no sooner
/// than 50 ms after the last poll.
fn next_signal(signals: &Receiver<Signal>, looked_at: Instant, max_wait: Duration) -> Option<Signal> {
    let mut max_wait = max_wait;
    let mut pending = None;
    loop {
        match signals.recv_timeout(max_wait) {
            Ok(Signal::FsEvent) => {
                pending = Some(Signal::FsEvent);
                max_wait = CHANGING_POLL_INTERVAL.saturating_sub(looked_at.elapsed());
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

/// Reads the exports and logs the result; `is_requested`: also where nothing changed.
fn refresh(reloader: &mut Reloader, is_requested: bool) {
    let started = Instant::now();
    let (before, seen) = (reloader.directory().current(), reloader.seen().cloned());
    match reloader.refresh() {
        Ok(Outcome::Published(served) | Outcome::Loaded(served)) => {
            let after = reloader.directory().current();
            let records = [&before, &after].map(|of| of.as_deref().map(|of| &*of.records));
            let change = Change::between(records[0], records[1], (seen.as_ref(), reloader.seen()));
            let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(
                generation = served.generation,
                software = served.software_count,
                added = change.added,
                removed = change.removed,
                changed = change.changed,
                files = change.files,
                took_ms,
                "a new generation is served"
            );
        }
        Ok(Outcome::Unchanged) if is_requested => tracing::info!("the exports are unchanged"),
        Ok(Outcome::Unchanged) => tracing::debug!("the exports make the generation that is served"),
        // The reloader has logged the reason.
        Ok(Outcome::KeptLastGood(_)) => {}
        Err(failure) => tracing::error!("there is nothing to serve: {failure}"),
    }
}

/// The events of the file system, as [`Signal::FsEvent`].
pub struct FsEvents {
    sender: SyncSender<Signal>,
    watcher: Option<(RecommendedWatcher, PathBuf, Option<u64>)>,
}

impl std::fmt::Debug for FsEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FsEvents").finish_non_exhaustive()
    }
}

impl FsEvents {
    /// Events for this channel. A full channel drops them: one is enough for a poll.
    pub const fn new(sender: SyncSender<Signal>) -> Self {
        Self { sender, watcher: None }
    }

    /// Watches a folder; again, if its path leads to another folder now. Without events the polls once a second remain.
    pub fn follow(&mut self, folder: Option<&Path>) {
        let Some(folder) = folder else { return };
        let identity = identity(folder);
        if self.watcher.as_ref().is_some_and(|(_, path, of)| path == folder && *of == identity) || identity.is_none() {
            return;
        }
        let sender = self.sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading a file raises events too, which the reloader itself causes.
            if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
                // A full channel has such a signal already.
                let _ = sender.try_send(Signal::FsEvent);
            }
        });
        let watcher = watcher.and_then(|mut watcher| {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        match watcher {
            Ok(watcher) => self.watcher = Some((watcher, folder.to_owned(), identity)),
            Err(error) => tracing::debug!(%error, "no events from the data folder; it is polled once a second"),
        }
    }
}

#[cfg(unix)]
fn identity(folder: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    folder.metadata().ok().map(|metadata| metadata.ino())
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> Option<u64> {
    folder.metadata().ok().map(|_| 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::stamp::FileStamp;

    #[expect(clippy::unnecessary_wraps, reason = "as a stamp is read")]
    fn stamp(size: u64) -> Option<FolderStamp> {
        Some(vec![FileStamp { name: "a.json".into(), size, modified_ns: 0, identity: (0, 0, 0) }])
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_change_is_due_after_the_quiet_time() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(1), start);
        assert!(!debouncer.look(stamp(1), start), "nothing changed");
        assert!(!debouncer.look(stamp(2), start + ms(100)));
        assert!(!debouncer.look(stamp(3), start + ms(300)), "still changing");
        assert!(!debouncer.look(stamp(3), start + ms(549)));
        assert!(debouncer.look(stamp(3), start + ms(550)));
        debouncer.read(stamp(3), start + ms(600));
        assert!(!debouncer.look(stamp(3), start + ms(900)), "read once");
    }

    #[test]
    fn continuous_changes_are_debounced_for_five_seconds_at_most() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(0), start);
        let first = (1..1000).find(|n| debouncer.look(stamp(*n), start + ms(n * 100))).expect("the maximum delay");
        assert_eq!(first, 51);
    }

    #[test]
    fn a_change_that_is_undone_is_not_due() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(1), start);
        assert!(!debouncer.look(stamp(2), start));
        assert!(!debouncer.look(stamp(1), start + ms(100)));
        assert!(!debouncer.look(stamp(1), start + ms(1000)));
    }

    #[test]
    fn everything_is_read_in_full_now_and_then() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(1), start);
        assert!(!debouncer.look(stamp(1), start + Duration::from_secs(599)));
        assert!(debouncer.look(stamp(1), start + Duration::from_mins(10)));
        debouncer.read(stamp(1), start + Duration::from_mins(10));
        assert!(!debouncer.look(stamp(1), start + Duration::from_secs(601)));
    }

    #[test]
    fn a_folder_that_vanishes_is_a_change_like_any_other() {
        let start = Instant::now();
        let mut debouncer = Debouncer::new(stamp(1), start);
        assert!(!debouncer.look(None, start));
        assert!(debouncer.look(None, start + ms(250)));
        debouncer.read(None, start + ms(250));
        assert!(!debouncer.look(None, start + ms(1250)), "reported once");
        assert!(!debouncer.look(stamp(1), start + ms(2000)));
        assert!(debouncer.look(stamp(1), start + ms(2250)), "and noticed when it comes back");
    }

    #[test]
    fn events_are_coalesced_and_other_signals_returned_at_once() {
        let (sender, received) = std::sync::mpsc::sync_channel(16);
        let long_ago = Instant::now().checked_sub(Duration::from_mins(1)).expect("a machine up for a minute");
        for _ in 0..16 {
            sender.send(Signal::FsEvent).expect("sent");
        }
        assert_eq!(
            next_signal(&received, long_ago, POLL_INTERVAL),
            Some(Signal::FsEvent),
            "the last poll was long ago"
        );
        assert_eq!(
            next_signal(&received, Instant::now(), POLL_INTERVAL),
            Some(Signal::FsEvent),
            "all the others as one"
        );
        assert_eq!(next_signal(&received, long_ago, ms(0)), None, "none is left");
        sender.send(Signal::FsEvent).expect("sent");
        sender.send(Signal::Reload).expect("sent");
        assert_eq!(next_signal(&received, Instant::now(), POLL_INTERVAL), Some(Signal::Reload));
        drop(sender);
        assert_eq!(next_signal(&received, Instant::now(), POLL_INTERVAL), Some(Signal::Stop), "no sender is left");
    }
}
