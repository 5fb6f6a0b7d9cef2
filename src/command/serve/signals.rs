//! Operating system signals, and the shutdown that they start.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::key::KeyStore;
use crate::update::Signal;

/// The phases of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shutdown {
    /// The server is serving.
    None,
    /// Requests in progress may finish.
    Graceful,
    /// Requests in progress are dropped.
    Immediate,
}

/// Waits until this phase or a later one is reached.
pub(super) async fn reached<T: PartialOrd>(mut value: watch::Receiver<T>, least: T) {
    // If the sender was dropped, the last phase counts as reached.
    drop(value.wait_for(|value| *value >= least).await);
}

/// Handles signals in a task: interrupt and termination start a graceful shutdown, a second one
/// ends it at once, and a hang-up reloads exports and keys.
pub(super) fn handle_signals(
    shutdown: watch::Sender<Shutdown>,
    signals: SyncSender<Signal>,
    keys: Arc<KeyStore>,
) -> io::Result<JoinHandle<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(tokio::spawn(async move {
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
    }))
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
