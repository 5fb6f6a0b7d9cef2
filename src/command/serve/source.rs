//! Where a served directory comes from: exports on this machine, an index folder, or a cluster.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::{Failure, data, opensearch};
use crate::cli::ServeArgs;
use crate::generation::{Observer, Settings, source};
use crate::opensearch::{Connection, Index, Status};
use crate::update::files::ExportFiles;
use crate::update::index::IndexFolder;
use crate::update::{Degraded, Directory, Origin, Outcome, Signal, Updater};

/// Receives the outcome of startup; `None` if there's nothing to serve yet.
pub(super) type Ready = oneshot::Sender<Result<Option<Outcome>, Failure>>;

/// What the options say is to be served.
pub(super) enum Source {
    Exports,
    /// The generations in an index folder, with `--data none`.
    IndexFolder(Box<IndexFolder>),
    /// A directory in OpenSearch.
    Cluster(Arc<Connection>),
}

impl Source {
    pub(super) fn of(args: &ServeArgs) -> Result<Self, Failure> {
        if let Some(connection) = opensearch::connection(&args.engine)? {
            return Ok(Self::Cluster(connection));
        }
        if let Some(folder) = data::index_folder(&args.data)? {
            return Ok(Self::IndexFolder(Box::new(folder)));
        }
        data::check(&args.data)?;
        Ok(Self::Exports)
    }
}

/// Keeps a directory current.
pub(super) struct Generations {
    pub(super) about: About,
    pub(super) run: Box<Run>,
}

/// How startup describes a source.
#[derive(Clone)]
pub(super) struct About {
    /// Where the generations come from, for the log.
    pub(super) origin: String,
    /// What startup waits for if there's no generation.
    pub(super) awaited: &'static str,
    /// What the operator should know about demo records.
    pub(super) demo: Option<&'static str>,
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
            about: About {
                origin: match settings.source.folder() {
                    Some(folder) => folder.display().to_string(),
                    None => "embedded demo".to_owned(),
                },
                awaited: "valid exports",
                demo: match &settings.source {
                    source::Source::Folder(_) => None,
                    source::Source::WithDemo(..) => Some(
                        "The fictional products in demo/demo.json are served, too. To serve only the folder, create a key \
                         or name the folder with --data, and restart.",
                    ),
                    source::Source::Embedded => Some(
                        "There is no ./data folder here, so this is the built-in demo directory.\n\
                         Put export files in ./data, or name their folder with --data.",
                    ),
                },
            },
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
            about: About { origin: urls.join(","), awaited: "the directory in the cluster", demo: None },
            run: Box::new(move |ready, _, received| {
                let following = runtime.spawn(index.follow(move |status| directory.set_degraded(reasons(status))));
                if ready.send(Ok(None)).is_ok() {
                    while received.recv().is_ok_and(|signal| !matches!(signal, Signal::Stop)) {}
                }
                following.abort();
            }),
        }
    }

    /// The generations in an index folder that another tool fills.
    pub(super) fn copied(folder: IndexFolder, index: &Path, directory: Arc<Directory>) -> Self {
        let origin = index.display().to_string();
        Self {
            about: About { origin, awaited: "a generation in the index folder", demo: None },
            run: Box::new(move |ready, _, received| {
                keep_current(&mut Updater::new(folder, directory), ready, received, |started| {
                    Ok(started.unwrap_or(Outcome::Failed))
                });
            }),
        }
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
