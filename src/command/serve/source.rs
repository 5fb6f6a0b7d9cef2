//! The source of generations: exports on this machine, a leader, or a cluster.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::{Failure, probe};
use crate::cli::ServeArgs;
use crate::engine::opensearch::cluster::Cluster;
use crate::generation::source::Source;
use crate::generation::store::Store;
use crate::generation::{MeaningOption, Observer, Settings};
use crate::update::cluster::ClusterFollower;
use crate::update::files::ExportFiles;
use crate::update::leader::{Follower, Leader};
use crate::update::{Directory, Origin, Outcome, Signal, Updater};

/// Receives the outcome of startup; `None` if there's nothing to serve yet.
pub(super) type Ready = oneshot::Sender<Result<Option<Outcome>, Failure>>;

/// The source of generations.
pub(super) struct Generations {
    /// Where the generations come from, for the log.
    pub(super) origin: String,
    /// What startup waits for if there's no generation.
    pub(super) awaited: &'static str,
    /// Whether the generations come from the embedded demo.
    pub(super) is_demo: bool,
    run: Box<Run>,
}

/// Publishes the first generation, then keeps the directory current until the stop signal.
type Run = dyn FnOnce(Ready, SyncSender<Signal>, &Receiver<Signal>, Handle) + Send;

impl Generations {
    /// Builds from the exports. If there's no valid set, startup waits for one if `waits` is true,
    /// and fails otherwise.
    pub(super) fn built(
        settings: Settings,
        observer: Box<dyn Observer>,
        directory: Arc<Directory>,
        waits: bool,
    ) -> Self {
        Self {
            origin: match &settings.source {
                Source::Folder(folder) => folder.display().to_string(),
                Source::Embedded => "embedded demo".to_owned(),
            },
            awaited: "valid exports",
            is_demo: settings.source == Source::Embedded,
            run: Box::new(move |ready, signals, received, _| {
                let mut files = ExportFiles::new(settings, observer);
                files.watch(signals);
                keep_current(&mut Updater::new(files, directory), ready, received, |started| match started {
                    Err(failure) if waits && failure.code.is_of_exports() => Ok(Outcome::Failed),
                    started => started.map_err(|failure| Failure::from_build(&failure)),
                });
            }),
        }
    }

    /// The generations of the leader given in the options, if any.
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
                "--reindex builds from exports, but --follow takes generations from another server: use only one of \
                 them",
            );
        }
        if args.data.data.is_some() {
            return usage(
                "--follow takes generations from another server and reads no exports: leave out --data (SOFTWARE_DIRECTORY_DATA)",
            );
        }
        if settings.meaning == MeaningOption::Off {
            return usage(
                "--follow serves generations as the other server builds them, so --meaning off (SOFTWARE_DIRECTORY_MEANING) belongs \
                 there: leave it out here",
            );
        }
        let Some(index) = &settings.index else {
            return usage("--follow keeps generations in an index folder, so it can't be combined with --index none");
        };
        let leader = Leader::new(url, args.follow_key_file.clone())
            .map_err(|error| Failure::usage(crate::error::chain(&error)))?;
        let probe = probe::process(args, index).map_err(|error| Failure::other(&error))?;
        let follower = Follower::new(leader, Store::new(index)).probed_by(probe);
        let (origin, directory) = (follower.leader().to_owned(), Arc::clone(directory));
        Ok(Some(Self {
            origin,
            awaited: "the leader",
            is_demo: false,
            run: Box::new(move |ready, _, received, _| {
                keep_current(&mut Updater::new(follower, directory), ready, received, |started| {
                    Ok(started.unwrap_or(Outcome::Failed))
                });
            }),
        }))
    }

    /// The generations of the cluster given in the options, if any.
    pub(super) fn shared(
        args: &ServeArgs,
        cluster: Option<&Arc<Cluster>>,
        directory: &Arc<Directory>,
    ) -> Result<Option<Self>, Failure> {
        let Some(cluster) = cluster.cloned() else { return Ok(None) };
        if args.follow.is_some() {
            return Err(Failure::usage(
                "--follow and --engine opensearch are two sources of generations: use only one of them",
            ));
        }
        if args.data.data.is_some() {
            return Err(Failure::usage(
                "with --engine opensearch a server reads no exports: leave out --data (SOFTWARE_DIRECTORY_DATA), or fill the \
                 cluster with --reindex",
            ));
        }
        let (prefix, directory) = (args.engine.engine_index_prefix.clone(), Arc::clone(directory));
        Ok(Some(Self {
            origin: args.engine.engine_url.join(","),
            awaited: "a generation in the cluster",
            is_demo: false,
            run: Box::new(move |ready, _, received, runtime| {
                let follower = ClusterFollower::new(cluster, prefix, runtime);
                keep_current(&mut Updater::new(follower, directory), ready, received, |started| {
                    Ok(started.map_or(Outcome::Failed, |_| Outcome::Loaded))
                });
            }),
        }))
    }

    pub(super) fn run(self, ready: Ready, signals: SyncSender<Signal>, received: &Receiver<Signal>, runtime: Handle) {
        (self.run)(ready, signals, received, runtime);
    }
}

/// Starts an updater and runs it. `finish` decides whether to wait or end the server if startup
/// fails.
fn keep_current<O: Origin>(
    updater: &mut Updater<O>,
    ready: Ready,
    signals: &Receiver<Signal>,
    finish: impl FnOnce(Result<Outcome, O::Error>) -> Result<Outcome, Failure>,
) {
    let started = finish(updater.start());
    let (is_started, is_serving) = (started.is_ok(), updater.health.directory().current().is_some());
    if ready.send(started.map(|outcome| is_serving.then_some(outcome))).is_ok() && is_started {
        updater.run(signals);
    }
}
