//! Politeness: sends each host one request at a time, pauses between requests, and honours any wait
//! that a server requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The pause between requests to a host.
const PAUSE: Duration = Duration::from_secs(1);

/// A clock that can also sleep.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// This machine's clock.
#[derive(Debug)]
pub struct MachineClock;

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// The hosts contacted so far, by name. All ports on a host share one turn.
#[derive(Debug, Default)]
pub(super) struct Hosts(Mutex<HashMap<Box<str>, Arc<AsyncMutex<Host>>>>);

#[derive(Debug, Default)]
struct Host {
    /// The next request must not be sent before this time.
    next: Option<Timestamp>,
    /// The server asked us not to send any requests before this time.
    paused_until: Option<Timestamp>,
}

/// The exclusive right to send requests to a host.
pub(super) struct Turn {
    host: OwnedMutexGuard<Host>,
}

impl Hosts {
    /// Waits for the host's turn, and until the host may be contacted again.
    ///
    /// # Errors
    ///
    /// How much longer the server wants us to wait.
    pub(super) async fn turn(&self, name: &str, clock: &dyn Clock) -> Result<Turn, SignedDuration> {
        let host = {
            let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(hosts.entry(name.to_ascii_lowercase().into()).or_default())
        };
        let host = host.lock_owned().await;
        let now = clock.now();
        if let Some(rest) = host.paused_until.map(|until| until.duration_since(now)).filter(SignedDuration::is_positive)
        {
            return Err(rest);
        }
        let wait = host.next.map(|next| next.duration_since(now)).and_then(|wait| Duration::try_from(wait).ok());
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            clock.sleep(wait).await;
        }
        Ok(Turn { host })
    }
}

impl Turn {
    /// Ends the turn after a request.
    pub(super) fn end(mut self, clock: &dyn Clock, delay: Option<Duration>) {
        self.host.next = clock.now().checked_add(delay.unwrap_or_default().max(PAUSE)).ok();
    }

    /// Ends the turn, and pauses requests to the host for this long.
    pub(super) fn pause(mut self, clock: &dyn Clock, time: SignedDuration) {
        self.host.paused_until = clock.now().checked_add(time).ok();
    }
}
