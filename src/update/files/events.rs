//! File system events. This is the only module that uses `notify`.
//!
//! Events only trigger an earlier check. Names, sizes and times are read once a second anyway,
//! because events can be lost (a recreated folder, a swapped link, a network file system).

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::update::debounce::Signal;

/// File system events, sent as [`Signal::FsEvent`].
pub(super) struct FsEvents {
    sender: SyncSender<Signal>,
    /// The watcher, and the inode of its folder.
    watcher: Option<(RecommendedWatcher, u64)>,
}

impl FsEvents {
    /// Sends events to this channel. If it's full, events are dropped, since one is enough to
    /// trigger a poll.
    pub(super) const fn new(sender: SyncSender<Signal>) -> Self {
        Self { sender, watcher: None }
    }

    /// Watches a folder, switching to a new one if its path now points elsewhere. Without events,
    /// there's still a poll every second.
    pub(super) fn follow(&mut self, folder: Option<&Path>) {
        let Some(folder) = folder else { return };
        let Ok(inode) = folder.metadata().map(|metadata| metadata.ino()) else { return };
        if self.watcher.as_ref().is_some_and(|(_, of)| *of == inode) {
            return;
        }
        let sender = self.sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Ignore reads, because the updater itself reads the files.
            if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
                // A full channel already contains such a signal.
                let _ = sender.try_send(Signal::FsEvent);
            }
        });
        let watcher = watcher.and_then(|mut watcher| {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        match watcher {
            Ok(watcher) => self.watcher = Some((watcher, inode)),
            Err(error) => tracing::debug!(%error, "can't watch the data folder; polling it once a second"),
        }
    }
}
