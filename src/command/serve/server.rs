//! Runs the server from startup, which it announces, to shutdown.

use std::future::Future;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::super::healthcheck::reachable;
use super::Failure;
use super::sockets::{self, HandedOver};
use super::source::{About, Generations};
use crate::cli::ServeArgs;
use crate::generation::Snapshot;
use crate::http::server::{ConnectionLimits, Server};
use crate::http::{self, AppState};
use crate::key::{self, ApiKey, KeyStore};
use crate::panics;
use crate::service;
use crate::text::append;
use crate::update::{Outcome, Signal};

/// How many connections the metrics listener allows: enough for a scraper and a few others.
const MAX_METRICS_CONNECTIONS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shutdown {
    /// The server is serving.
    None,
    /// Requests in progress may finish.
    Graceful,
    /// Requests in progress are dropped.
    Immediate,
}

/// Waits until this phase or a later one is reached.
async fn reached<T: PartialOrd>(mut value: watch::Receiver<T>, least: T) {
    // If the sender was dropped, the last phase counts as reached.
    drop(value.wait_for(|value| *value >= least).await);
}

/// Serves until a signal says to stop, or until there's nothing to serve.
pub(super) async fn run(
    args: &ServeArgs,
    mut sockets: HandedOver,
    state: Arc<AppState>,
    generations: Generations,
    development: Option<ApiKey>,
) -> Result<(), Failure> {
    let is_shared = sockets.is_shared();
    let (listener, address) = sockets.service(args).await?;
    let metrics = sockets.metrics(args).await?;
    let (shutdown, phase) = watch::channel(Shutdown::None);
    let (signals, received) = sync_channel(16);
    // These end when the set is dropped, so even the shutdown can be observed in the metrics.
    let mut tasks = JoinSet::new();
    if let Some((listener, address)) = metrics {
        tasks.spawn(serve_metrics(listener, address, Arc::clone(&state)));
    }
    let idle = Arc::clone(&state);
    tasks.spawn(async move { idle.evict_idle_searches().await });
    tasks.spawn(watch_keys(Arc::clone(&state), phase.clone()));
    let handler = handle_signals(shutdown.clone(), signals.clone(), Arc::clone(&state.keys));
    tasks.spawn(handler?);
    let (open, is_open) = watch::channel(!is_shared);
    let server = tokio::spawn(serve_callers(listener, Arc::clone(&state), is_open, phase.clone()));
    let about = generations.about.clone();
    let started = start_updater(generations, signals.clone(), received)?;
    let outcome = tokio::select! {
        started = started => match started {
            Ok(Ok(outcome)) => {
                let snapshot = state.directory.current();
                log_start(outcome.zip(snapshot.as_deref()), address, &about);
                open.send_replace(true);
                announce(address, &state, snapshot.as_deref(), development.as_ref(), about.demo);
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
    outcome
}

/// Serves the service from startup on: until there's a generation, /healthz succeeds and /readyz
/// responds with 503. If the listener isn't open yet, because its socket is inherited, connections
/// wait in its backlog or go to the process that's still running.
fn serve_callers(
    listener: TcpListener,
    state: Arc<AppState>,
    is_open: watch::Receiver<bool>,
    phase: watch::Receiver<Shutdown>,
) -> impl Future<Output = ()> {
    let defaults = ConnectionLimits::default();
    let max_connections = sockets::connections(defaults.max_connections);
    let server = Server {
        limits: ConnectionLimits { max_connections, ..defaults },
        open_connections: Some(state.metrics.connections.clone()),
        service: http::service(state),
    };
    async move {
        tokio::select! {
            () = reached(is_open, true) => {}
            () = reached(phase.clone(), Shutdown::Graceful) => return,
        }
        let graceful = reached(phase.clone(), Shutdown::Graceful);
        server.serve(listener, graceful, reached(phase, Shutdown::Immediate)).await;
    }
}

fn serve_metrics(listener: TcpListener, address: SocketAddr, state: Arc<AppState>) -> impl Future<Output = ()> {
    tracing::info!(%address, "serving metrics at /metrics");
    let limits = ConnectionLimits { max_connections: MAX_METRICS_CONNECTIONS, ..ConnectionLimits::default() };
    let server = Server { limits, ..Server::new(http::metrics_service(state)) };
    server.serve(listener, std::future::pending(), std::future::pending())
}

/// Keeps the keys current, and ends the downloads of those that are no longer valid.
async fn watch_keys(state: Arc<AppState>, phase: watch::Receiver<Shutdown>) {
    let checked = || state.end_downloads_of_invalid_keys();
    key::watch(Arc::clone(&state.keys), checked, reached(phase, Shutdown::Graceful)).await;
}

/// Handles signals: interrupt and termination start a graceful shutdown, a second one ends it at
/// once, and a hang-up reloads exports and keys.
fn handle_signals(
    shutdown: watch::Sender<Shutdown>,
    signals: SyncSender<Signal>,
    keys: Arc<KeyStore>,
) -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => shut_down("SIGINT", &shutdown),
                _ = terminate.recv() => shut_down("SIGTERM", &shutdown),
                _ = hang_up.recv() => {
                    tracing::info!("SIGHUP: reloading exports and keys");
                    // If the channel is full, the updater is about to check anyway.
                    let _ = signals.try_send(Signal::Reload);
                    let keys = Arc::clone(&keys);
                    drop(tokio::task::spawn_blocking(move || keys.reload_if_changed()).await);
                }
            }
        }
    })
}

/// Starts the shutdown, or ends it at once if it has already started.
fn shut_down(signal: &'static str, shutdown: &watch::Sender<Shutdown>) {
    let has_begun = *shutdown.borrow() != Shutdown::None;
    shutdown.send_replace(if has_begun { Shutdown::Immediate } else { Shutdown::Graceful });
    if has_begun {
        tracing::info!("{signal} again: stopping immediately");
    } else {
        tracing::info!("{signal}: stopping; requests in progress have up to 10 s to complete");
    }
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
        if let Err(panic) = panics::catch(|| (generations.run)(ready, signals, &received)) {
            tracing::error!(
                "the directory is no longer being updated, because the program failed: {panic}; restart it"
            );
        }
    };
    thread::Builder::new().name("updater".to_owned()).spawn(run)?;
    Ok(started)
}

/// Logs the single startup line: what's being served, or what the server is waiting for.
fn log_start(started: Option<(Outcome, &Snapshot)>, address: SocketAddr, about: &About) {
    let About { origin, awaited, .. } = about;
    let Some((outcome, served)) = started else {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), %address, origin, "serving nothing yet: waiting for {awaited}");
        return;
    };
    let index = match outcome {
        Outcome::Loaded | Outcome::Unchanged => "loaded",
        Outcome::Published => "built",
        // The reason has already been logged.
        Outcome::Withheld | Outcome::Failed => "last good generation",
    };
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %address,
        data = origin,
        index,
        generation = served.generation(),
        software = served.software_count(),
        "serving"
    );
}

/// Prints the service's address on the first line, and how to try it. Uses a separate thread,
/// because writing may block on a pipe that nobody reads.
fn announce(
    address: SocketAddr,
    state: &AppState,
    snapshot: Option<&Snapshot>,
    development: Option<&ApiKey>,
    demo: Option<&str>,
) {
    let reachable = reachable(address);
    let has_pages = state.opensearch.is_none();
    // One for the home page, one for the preview page.
    let links = if state.config.preview.is_some() { 2 } else { usize::from(has_pages) };
    let mut codes = sign_in_codes(state, development, links).into_iter();
    let explore = match codes.next() {
        Some(code) => format!("Explore  http://{reachable}/sign-in?code={code}"),
        None if has_pages => format!("Explore  http://{reachable}/"),
        None => format!("Documentation  http://{reachable}/docs"),
    };
    let key = development.map_or("YOUR_KEY", ApiKey::expose);
    let query: String = form_urlencoded::byte_serialize(example_query(snapshot).as_bytes()).collect();
    let open = if development.is_some() && state.config.preview.is_none() && has_pages {
        "Pages are open to every user of this machine, and through any proxy on it. `keys create` closes them.\n"
    } else {
        ""
    };
    let mut text = format!(
        "Listening on http://{address}\n\n{explore}\n{open}\n  \
         curl -H 'Authorization: Bearer {key}' 'http://{reachable}/v1/search?q={query}'\n"
    );
    if let Some(code) = codes.next() {
        append(&mut text, format_args!("\nWhat changes  http://{reachable}/sign-in?code={code}&next=/preview\n"));
    }
    if let Some(demo) = demo {
        append(&mut text, format_args!("\n{demo}\n"));
    }
    let text = Arc::<str>::from(text);
    let printed = Arc::clone(&text);
    if thread::Builder::new().name("announce".to_owned()).spawn(move || print_all(&printed)).is_err() {
        print_all(&text);
    }
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
        Some(snapshot) => service::example_queries(snapshot, None, 1).unwrap_or_default(),
        None => Vec::new(),
    };
    queries.into_iter().next().unwrap_or_else(|| "permit to work".to_owned())
}

fn print_all(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
