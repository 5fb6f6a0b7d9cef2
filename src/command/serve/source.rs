//! The source of generations: exports on this machine, or an index folder.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::{Failure, data};
use crate::cli::ServeArgs;
use crate::generation::source::Source;
use crate::generation::{Observer, Settings};
use crate::opensearch::{Index, Status};
use crate::update::files::ExportFiles;
use crate::update::{Degraded, Directory, Origin, Outcome, Signal, Updater};

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
type Run = dyn FnOnce(Ready, SyncSender<Signal>, &Receiver<Signal>) + Send;

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
            run: Box::new(move |ready, signals, received| {
                let mut files = ExportFiles::new(settings, observer);
                files.watch(signals);
                keep_current(&mut Updater::new(files, directory), ready, received, |started| match started {
                    Err(failure) if waits && failure.code.is_of_exports() => Ok(Outcome::Failed),
                    started => started.map_err(|failure| Failure::from_build(&failure)),
                });
            }),
        }
    }

    /// A directory in OpenSearch, which is served instead of a generation.
    pub(super) fn in_opensearch(
        index: Arc<Index>,
        directory: Arc<Directory>,
        urls: &[String],
        runtime: Handle,
    ) -> Self {
        Self {
            origin: urls.join(","),
            awaited: "the directory in the cluster",
            is_demo: false,
            run: Box::new(move |ready, _, received| {
                let following = runtime.spawn(index.follow(move |status| directory.set_degraded(reasons(status))));
                if ready.send(Ok(None)).is_ok() {
                    while received.recv().is_ok_and(|signal| !matches!(signal, Signal::Stop)) {}
                }
                following.abort();
            }),
        }
    }

    /// The generations in the index folder, with `--data none`.
    pub(super) fn copied(args: &ServeArgs, directory: &Arc<Directory>) -> Result<Option<Self>, Failure> {
        let Some(folder) = data::index_folder(&args.data)? else { return Ok(None) };
        if args.reindex {
            return Err(Failure::usage("--reindex builds from exports, so it can't be combined with --data none"));
        }
        let directory = Arc::clone(directory);
        Ok(Some(Self {
            origin: args.data.index.display().to_string(),
            awaited: "a generation in the index folder",
            is_demo: false,
            run: Box::new(move |ready, _, received| {
                keep_current(&mut Updater::new(folder, directory), ready, received, |started| {
                    Ok(started.unwrap_or(Outcome::Failed))
                });
            }),
        }))
    }

    pub(super) fn run(self, ready: Ready, signals: SyncSender<Signal>, received: &Receiver<Signal>) {
        (self.run)(ready, signals, received);
    }
}

fn reasons(status: &Status) -> Vec<Degraded> {
    match status {
        Status::Ready => Vec::new(),
        Status::Failing { code, detail } => {
            vec![Degraded { code, detail: detail.clone(), since: Some(Timestamp::now()), ..Degraded::default() }]
        }
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
