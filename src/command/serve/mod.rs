//! `serve`: publishes the directory.

mod announce;
mod candidate;
mod empty_queries;
mod signals;
mod sockets;
mod source;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use self::announce::{Start, announce, log_start};
use self::empty_queries::QueryFile;
use self::signals::{Shutdown, handle_signals, reached};
use self::sockets::HandedOver;
use self::source::Generations;
use super::log::{self, Log};
use super::progress::Terminal;
use super::{Failure, data, environment, opensearch, print_error, reindex};
use crate::cli::{LogFormat, PreviewArgs, ServeArgs};
use crate::file::folder_of;
use crate::generation::{Observer, Settings, Snapshot};
use crate::http::server::{ConnectionLimits, Server};
use crate::http::{self, AppState, HttpConfig, PublicUrl};
use crate::key::access::{Access, access};
use crate::key::{self, ApiKey, KeyStore};
use crate::opensearch::Index;
use crate::panics;
use crate::service;
use crate::update::{Directory, Outcome, Signal};

/// How many connections the metrics listener allows: enough for a scraper and a few others.
const MAX_METRICS_CONNECTIONS: usize = 16;

pub(super) fn run(args: &ServeArgs) -> ExitCode {
    run_with(args, None)
}

/// Serves a candidate to this machine, with its own key, ignoring a service's sockets and
/// environment.
pub(super) fn run_preview(args: &ServeArgs, preview: &PreviewArgs) -> ExitCode {
    run_with(args, Some(preview))
}

fn run_with(args: &ServeArgs, preview: Option<&PreviewArgs>) -> ExitCode {
    let settings = data::settings(&args.data, args.max_removed);
    if let Some(processors) = args.for_server {
        return reindex::run_for_server(args, processors, &settings);
    }
    let log = match log::start(&args.log, args.access_log, args.log_format) {
        Ok(log) => log,
        Err(failure) => {
            print_error(&failure.text);
            return ExitCode::from(failure.code);
        }
    };
    let directory = Arc::new(Directory::default());
    // Panics are caught here because the panic hook prints nothing.
    let done = panics::catch(|| {
        environment::warn_of_unknown();
        let connection = opensearch::connection(&args.engine)?;
        if let Some(connection) = connection.clone().filter(|_| args.reindex) {
            data::check(&args.data)?;
            return opensearch::reindex(args, &settings, connection, &log);
        }
        if connection.is_some() && args.data.data.is_some() {
            return Err(Failure::usage(
                "with --engine opensearch a server reads no exports: leave out --data (SOFTWARE_DIRECTORY_DATA), or fill the \
                 cluster with --reindex",
            ));
        }
        let index = connection.map(|connection| Index::new(connection, args.engine.engine_index_prefix.clone()));
        let prebuilt = Generations::copied(args, &directory)?;
        if prebuilt.is_none() && index.is_none() {
            data::check(&args.data)?;
        }
        if args.reindex {
            reindex::run(args, &settings, &log)
        } else {
            serve(args, preview, settings, directory, (prebuilt, index), &log)
        }
    });
    let done = done.unwrap_or_else(|panic| Err(Failure { text: format!("the program failed: {panic}"), code: 1 }));
    let code = match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            match args.log_format {
                // Every line must be a JSON object, including the last message.
                LogFormat::Json => tracing::error!("{}", failure.text),
                LogFormat::Text => log.text(format!("error: {}\n", failure.text).as_bytes()),
            }
            ExitCode::from(failure.code)
        }
    };
    log.flush();
    code
}

fn serve(
    args: &ServeArgs,
    preview: Option<&PreviewArgs>,
    mut settings: Settings,
    directory: Arc<Directory>,
    (prebuilt, index): (Option<Generations>, Option<Arc<Index>>),
    log: &Log,
) -> Result<(), Failure> {
    let public_url = args.public_url.as_deref().map(PublicUrl::parse).transpose();
    let public_url = public_url.map_err(|error| Failure::usage(error.to_string()))?;
    let sockets = if preview.is_some() { HandedOver::default() } else { HandedOver::take()? };
    let (keys, development) = match preview {
        Some(_) => preview_keys()?,
        None => keys(args, sockets.address(args)?)?,
    };
    let terminal = Terminal::new(args.log_format, log.clone());
    let (shown, observer): (_, Box<dyn Observer>) = match preview {
        None => (None, Box::new(terminal)),
        Some(preview) => {
            let (shown, observer) = candidate::start(preview, terminal, &directory)?;
            (Some(shown), Box::new(observer))
        }
    };
    let query_file = args.empty_queries.as_deref().map(QueryFile::open).transpose()?.map(Arc::new);
    let mut config = HttpConfig {
        public_url,
        trusted_proxies: args.trusted_proxy.clone(),
        log_queries: args.log_queries,
        public_page: args.public_page,
        empty_queries: query_file.as_ref().map(|file| file.queries()),
        preview: shown,
        site_introduction: args.site_introduction.clone(),
        ..HttpConfig::default()
    };
    if let Some(title) = args.site_title.clone() {
        config.site_title = title;
    }
    let state = AppState::new(Arc::clone(&directory), index.clone(), Arc::new(keys), config);
    let state = state.map_err(|error| Failure::other(&error))?;
    state.metrics.add_counter(log.dropped.clone()).map_err(|error| Failure::other(&error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(worker_threads())
        .enable_all()
        .build()
        .map_err(|error| Failure { text: format!("the runtime can't be started: {error}"), code: 1 })?;
    let generations = if let Some(prebuilt) = prebuilt {
        prebuilt
    } else if let Some(index) = index {
        Generations::in_opensearch(index, directory, &args.engine.engine_url, runtime.handle().clone())
    } else {
        settings.process = reindex::process(args, &settings).map_err(|error| Failure::other(&error))?;
        Generations::built(settings, observer, directory, preview.is_some())
    };
    let _entered = runtime.enter();
    let writing = query_file.clone().map(|file| runtime.spawn(file.write_regularly()));
    let served = runtime.block_on(run_server(args, sockets, state, generations, development));
    if let Some(file) = query_file {
        writing.inspect(JoinHandle::abort);
        file.write_and_log();
    }
    served
}

/// A preview's key, which lasts as long as the preview runs. No key file replaces it.
fn preview_keys() -> Result<(KeyStore, Option<ApiKey>), Failure> {
    let key = key::development::obtain(None).map_err(|error| Failure::other(&error))?.key;
    Ok((KeyStore::development(&key, Path::new("")), Some(key)))
}

/// The accepted keys, and the development key if it's the only one.
fn keys(args: &ServeArgs, listen: SocketAddr) -> Result<(KeyStore, Option<ApiKey>), Failure> {
    let has_proxy = !args.trusted_proxy.is_empty() || args.public_url.is_some();
    match access(args.keys.as_deref(), listen, has_proxy).map_err(|error| Failure::usage(error.to_string()))? {
        Access::File(path) => {
            let keys = KeyStore::open(&path).map_err(|error| Failure::usage(error.report()))?;
            Ok((keys, None))
        }
        Access::Development(path) => {
            let development =
                key::development::obtain(Some(folder_of(&path))).map_err(|error| Failure::other(&error))?;
            if let Some(notice) = &development.notice {
                tracing::warn!("{notice}");
            }
            Ok((KeyStore::development(&development.key, &path), Some(development.key)))
        }
    }
}

async fn run_server(
    args: &ServeArgs,
    mut sockets: HandedOver,
    state: Arc<AppState>,
    generations: Generations,
    development: Option<ApiKey>,
) -> Result<(), Failure> {
    let is_shared = sockets.is_shared();
    let (listener, address) = sockets.service(args).await?;
    let metrics = sockets.metrics(args).await?;
    let (keys, is_preview) = (Arc::clone(&state.keys), state.config.preview.is_some());
    let (directory, links) = (Arc::clone(&state.directory), Arc::clone(&state));
    let (shutdown, phase) = watch::channel(Shutdown::None);
    let metrics = metrics.map(|(listener, address)| serve_metrics(listener, address, Arc::clone(&state)));
    let defaults = ConnectionLimits::default();
    let max_connections = sockets::connections(defaults.max_connections);
    let service = Server {
        service: http::service(Arc::clone(&state)),
        limits: ConnectionLimits { max_connections, ..defaults },
        open_connections: Some(state.metrics.connections.clone()),
    };
    let eviction = tokio::spawn(async move { state.evict_idle_searches().await });
    let (open, is_open) = watch::channel(!is_shared);
    let server_phase = phase.clone();
    let server = tokio::spawn(async move {
        // Serving starts immediately: until there's a generation, /healthz succeeds and /readyz
        // responds with 503. Connections on an inherited socket, however, wait in its backlog or go
        // to the process that's still running.
        tokio::select! {
            () = reached(is_open, true) => {}
            () = reached(server_phase.clone(), Shutdown::Graceful) => return,
        }
        let graceful = reached(server_phase.clone(), Shutdown::Graceful);
        service.serve(listener, graceful, reached(server_phase, Shutdown::Immediate)).await;
    });
    let checked = Arc::clone(&links);
    let checked = move || checked.end_downloads_of_invalid_keys();
    let watcher = tokio::spawn(key::watch(Arc::clone(&keys), checked, reached(phase.clone(), Shutdown::Graceful)));
    let (signals, received) = sync_channel(16);
    let handler = handle_signals(shutdown.clone(), signals.clone(), keys).map_err(|error| Failure::other(&error))?;
    let (origin, is_demo, awaited) = (generations.origin.clone(), generations.is_demo, generations.awaited);
    let started = start_updater(generations, signals.clone(), received).map_err(|error| Failure::other(&error))?;
    let outcome = tokio::select! {
        started = started => match started {
            Ok(Ok(outcome)) => {
                let snapshot = directory.current();
                log_start(outcome.zip(snapshot.as_deref()), address, &origin, awaited);
                open.send_replace(true);
                let has_pages = links.opensearch.is_none();
                let sign_in_links = if is_preview { 2 } else { usize::from(has_pages) };
                let start = Start {
                    development: development.as_ref(),
                    codes: sign_in_codes(&links, development.as_ref(), sign_in_links),
                    has_pages,
                    example: example_query(snapshot.as_deref()),
                    is_demo,
                };
                announce(address, &start);
                Ok(())
            }
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(Failure { text: "building the directory failed".to_owned(), code: 1 }),
        },
        () = reached(phase, Shutdown::Graceful) => Ok(()),
    };
    if outcome.is_err() {
        shutdown.send_replace(Shutdown::Immediate);
    }
    // Until shutdown.
    drop(server.await);
    // There's no need to wait for the updater. It may be building for minutes or waiting for
    // another process's lock, and the next start sweeps away an unfinished generation on disk.
    let _ = signals.try_send(Signal::Stop);
    for task in [Some(watcher), Some(handler), Some(eviction), metrics].into_iter().flatten() {
        task.abort();
    }
    outcome
}

/// Codes for links that sign a browser in with the development key.
fn sign_in_codes(state: &AppState, development: Option<&ApiKey>, count: usize) -> Vec<String> {
    let issue = |key: &ApiKey| state.sign_in_codes.issue(key.id(), Instant::now());
    let codes = development.into_iter().flat_map(|key| std::iter::repeat_n(key, count)).map(issue);
    codes.collect::<Result<_, _>>().unwrap_or_else(|error| {
        tracing::warn!(%error, "no sign-in link could be created; enter the key on the page instead");
        Vec::new()
    })
}

/// A query for the first request. While nothing is being served, it's one for the bundled exports.
fn example_query(snapshot: Option<&Snapshot>) -> String {
    let queries = match snapshot {
        Some(snapshot) => service::example_queries(snapshot, 1).unwrap_or_default(),
        None => Vec::new(),
    };
    queries.into_iter().next().unwrap_or_else(|| "permit to work".to_owned())
}

/// Serves metrics until the very end, so that the shutdown can also be observed.
fn serve_metrics(listener: TcpListener, address: SocketAddr, state: Arc<AppState>) -> JoinHandle<()> {
    tracing::info!(%address, "serving metrics at /metrics");
    let limits = ConnectionLimits { max_connections: MAX_METRICS_CONNECTIONS, ..ConnectionLimits::default() };
    let server = Server { limits, ..Server::new(http::metrics_service(state)) };
    tokio::spawn(server.serve(listener, std::future::pending(), std::future::pending()))
}

/// Starts the thread that publishes generations until the stop signal. Returns the outcome of
/// startup.
fn start_updater(
    generations: Generations,
    signals: SyncSender<Signal>,
    received: Receiver<Signal>,
) -> io::Result<oneshot::Receiver<Result<Option<Outcome>, Failure>>> {
    let (ready, started) = oneshot::channel();
    let run = move || {
        if let Err(panic) = panics::catch(|| generations.run(ready, signals, &received)) {
            tracing::error!(
                "the directory is no longer being updated, because the program failed: {panic}; restart it"
            );
        }
    };
    thread::Builder::new().name("updater".to_owned()).spawn(run)?;
    Ok(started)
}

/// How many threads read and write connections. Half the cores can handle more requests than all
/// of them could run searches for.
fn worker_threads() -> usize {
    thread::available_parallelism().map_or(1, |processors| processors.get().div_ceil(2))
}
