//! The source of generations: exports on this machine, a leader, or a cluster.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use tokio::runtime::Handle;

use super::super::Failure;
use crate::cli::ServeArgs;
use crate::engine::opensearch::cluster::Cluster;
use crate::update::files::{Outcome, Reloader};
use crate::update::leader::{Follower, Leader, follow};

use crate::generation::Settings;
use crate::generation::source::Source;
use crate::generation::store::Store;
use crate::update::Directory;
use crate::update::cluster::{self, ClusterFollower};
use crate::update::files::watch::{FsEvents, Signal, watch};

/// The source of generations.
#[expect(clippy::large_enum_variant, reason = "there is one in a process")]
pub(super) enum Generations {
    /// Builds of the exports. With `waits` a start without a valid set waits for one, and else it fails.
    Built { reloader: Reloader, waits: bool },
    /// Those of a leader.
    Followed(Follower),
    /// Those of a cluster.
    Shared(ClusterFollower),
}

impl Generations {
    /// The leader that the options name, if they do.
    pub(super) fn followed(
        args: &ServeArgs,
        settings: &Settings,
        directory: &Arc<Directory>,
    ) -> Result<Option<Self>, Failure> {
        let usage = |text: &str| Err(Failure::usage(text));
        let Some(url) = &args.follow else {
            return if args.follow_key_file.is_some() { usage("--follow-key-file needs --follow") } else { Ok(None) };
        };
        if args.reindex {
            return usage(
                "--reindex builds from exports, and --follow takes generations from another server: give one of them",
            );
        }
        if args.data.data.is_some() {
            return usage(
                "--follow takes generations from another server and reads no exports: leave out --data (SOFTWARE_DIRECTORY_DATA)",
            );
        }
        let Some(index) = &settings.index else {
            return usage("--follow keeps generations in an index folder, so --index none makes no sense with it");
        };
        let leader = Leader::new(url, args.follow_key_file.clone())
            .map_err(|error| Failure::usage(crate::error::chain(&error)))?;
        Ok(Some(Self::Followed(Follower::new(leader, Store::new(index), Arc::clone(directory)))))
    }

    /// The cluster that the options name, if they do.
    pub(super) fn shared(
        args: &ServeArgs,
        cluster: Option<&Arc<Cluster>>,
        directory: &Arc<Directory>,
    ) -> Result<Option<Self>, Failure> {
        let Some(cluster) = cluster else { return Ok(None) };
        if args.follow.is_some() {
            return Err(Failure::usage(
                "--follow and --engine opensearch are two sources of generations: give one of them",
            ));
        }
        if args.data.data.is_some() {
            return Err(Failure::usage(
                "with --engine opensearch a server reads no exports: leave out --data (SOFTWARE_DIRECTORY_DATA), or fill the \
                 cluster with --reindex",
            ));
        }
        let (prefix, origin) = (args.engine.engine_index_prefix.clone(), args.engine.engine_url.join(","));
        Ok(Some(Self::Shared(ClusterFollower::new(Arc::clone(cluster), prefix, Arc::clone(directory), origin))))
    }

    /// Where they come from, for the log.
    pub(super) fn origin(&self) -> String {
        match self {
            Self::Built { reloader, .. } => match &reloader.settings().source {
                Source::Folder(folder) => folder.display().to_string(),
                Source::Embedded => "embedded demo".to_owned(),
            },
            Self::Followed(follower) => follower.leader().to_owned(),
            Self::Shared(follower) => follower.origin().to_owned(),
        }
    }

    /// The condition that a start without a generation waits for.
    pub(super) const fn awaited(&self) -> &'static str {
        match self {
            Self::Built { .. } => "valid exports",
            Self::Followed(_) => "the leader",
            Self::Shared(_) => "a generation in the cluster",
        }
    }

    /// Whether they are the embedded demo's.
    pub(super) fn is_demo(&self) -> bool {
        matches!(self, Self::Built { reloader, .. } if reloader.settings().source == Source::Embedded)
    }

    /// Publishes the first generation, then keeps the directory current until the stop signal. A follower is ready without a
    /// generation: it waits for its leader.
    pub(super) fn run(
        self,
        ready: tokio::sync::oneshot::Sender<Result<Option<Outcome>, Failure>>,
        signals: SyncSender<Signal>,
        received: &Receiver<Signal>,
        runtime: &Handle,
    ) {
        match self {
            Self::Built { mut reloader, waits } => {
                let mut fs_events = FsEvents::new(signals);
                // Followed before reading, so that no change falls in between.
                fs_events.follow(reloader.settings().source.folder());
                let started = match reloader.start() {
                    Ok(outcome) => Ok(Some(outcome)),
                    Err(failure) if waits && failure.code.is_of_exports() => Ok(None),
                    Err(failure) => Err(Failure::from_build(&failure)),
                };
                let is_started = started.is_ok();
                if ready.send(started).is_ok() && is_started {
                    watch(&mut reloader, received, &mut fs_events);
                }
            }
            Self::Followed(mut follower) => {
                if ready.send(Ok(follower.start().map(Outcome::Loaded))).is_ok() {
                    follow(&mut follower, received);
                }
            }
            Self::Shared(mut follower) => {
                let first = runtime.block_on(follower.look()).ok().flatten();
                if ready.send(Ok(first.map(Outcome::Loaded))).is_ok() {
                    cluster::follow(&mut follower, runtime, received);
                }
            }
        }
    }
}
