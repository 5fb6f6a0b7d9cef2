//! Watches the key file for changes while the server runs.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::KeyStore;

/// How often the key file is checked. A revoked key is rejected within two seconds.
const INTERVAL: Duration = Duration::from_secs(1);

/// Checks the key file until shutdown, and calls `checked` each time.
pub async fn watch(store: Arc<KeyStore>, checked: impl Fn() + Send, shutdown: impl Future<Output = ()> + Send) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = &mut shutdown => return,
        }
        // If the disk hangs, only this task is blocked, not requests.
        let store = Arc::clone(&store);
        if let Err(error) = tokio::task::spawn_blocking(move || store.reload_if_changed()).await {
            tracing::error!(%error, "the key file can't be checked for changes; trying again");
        }
        checked();
    }
}
