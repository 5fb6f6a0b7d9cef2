//! The build lease, which makes builds take turns. It's a document with an expiry time, stored next
//! to the document that names the published index.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::cluster::{ClusterError, ClusterRequest};
use super::fill::create_missing;
use super::mapping;
use super::publish::{PublishError, Published, Publisher, Version, conditional};

const LEASE: &str = "lease";

/// How long a lease is valid without renewal. Must exceed the clock skew between machines.
const LEASE_TIME: Duration = Duration::from_mins(1);

/// How often a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(15);

/// Delay between attempts to take a lease that another build holds.
const RETRY: Duration = Duration::from_secs(1);

/// The exclusive right to build and publish. It's renewed until it's released or dropped; a dropped
/// lease expires.
#[derive(Debug)]
pub struct Lease {
    publisher: Publisher,
    held: Arc<Mutex<Held>>,
    /// Stops the renewals when dropped.
    stop: oneshot::Sender<()>,
    renewals: JoinHandle<()>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    owner: String,
    expires_at: Timestamp,
}

fn holder(owner: &str) -> Holder {
    Holder { owner: owner.to_owned(), expires_at: Timestamp::now() + LEASE_TIME }
}

/// What was last written to the lease document.
#[derive(Debug)]
struct Held {
    version: Version,
    /// When the lease expires; set to the past once another build has taken it.
    expires_at: Timestamp,
}

impl Lease {
    /// Takes the lease. If another build holds it, calls `waits` once with the owner, and waits.
    pub async fn take(publisher: Publisher, owner: &str, mut waits: impl FnMut(&str)) -> Result<Self, PublishError> {
        create_missing(&publisher.cluster, &publisher.prefix.state(), &mapping::state()).await?;
        let mut is_told = false;
        loop {
            let current: Option<(Holder, Version)> = publisher.read(LEASE).await?;
            let free = current.as_ref().is_none_or(|(holder, _)| holder.expires_at < Timestamp::now());
            if free {
                let holder = holder(owner);
                match publisher.write(LEASE, &holder, current.map(|(_, version)| version)).await {
                    Ok(version) => return Ok(Self::keep(publisher, holder, version)),
                    // Another build was faster.
                    Err(error) if error.is_conflict() => {}
                    Err(error) => return Err(error),
                }
            } else if let (Some((holder, _)), false) = (&current, is_told) {
                waits(&holder.owner);
                is_told = true;
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    fn keep(publisher: Publisher, holder: Holder, version: Version) -> Self {
        let held = Arc::new(Mutex::new(Held { version, expires_at: holder.expires_at }));
        let (stop, stopped) = oneshot::channel();
        let renewals = tokio::spawn(renew(publisher.clone(), holder.owner, Arc::clone(&held), stopped, RENEWAL));
        Self { publisher, held, stop, renewals }
    }

    /// Whether another build might already hold the lease.
    pub fn is_lost(&self) -> bool {
        lock(&self.held).expires_at <= Timestamp::now()
    }

    /// Publishes a generation if the current one still has version `before`.
    ///
    /// # Errors
    /// [`PublishError::Overtaken`] if the version differs, or if the lease is lost.
    pub async fn publish(&self, published: &Published, before: Option<Version>) -> Result<(), PublishError> {
        if self.is_lost() {
            return Err(PublishError::Overtaken);
        }
        self.publisher.publish(published, before).await
    }

    /// All generations' product indices, including ones left by interrupted builds.
    pub async fn generations(&self) -> Result<Vec<String>, ClusterError> {
        let prefix = &self.publisher.prefix;
        Ok(self.indices().await?.into_iter().filter(|name| prefix.products_of(name) == Some(name)).collect())
    }

    /// Deletes the indices of all generations whose product index isn't in `kept`. If the lease is
    /// lost, stops deleting and leaves the rest to the next build.
    pub async fn delete_except(&self, kept: &[&str]) -> Result<Vec<String>, ClusterError> {
        let prefix = &self.publisher.prefix;
        let mut deleted = Vec::new();
        for index in self.indices().await? {
            if prefix.products_of(&index).is_none_or(|products| kept.contains(&products)) {
                continue;
            }
            if self.is_lost() {
                break;
            }
            match self.publisher.cluster.send(ClusterRequest::delete(&format!("/{index}"))).await {
                Ok(_) | Err(ClusterError::NotFound { .. }) => deleted.push(index),
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }

    async fn indices(&self) -> Result<Vec<String>, ClusterError> {
        #[derive(Deserialize)]
        struct Index {
            index: String,
        }
        let request = ClusterRequest::get(&format!("/_cat/indices/{}", self.publisher.prefix.pattern()));
        let request = request.query("format", "json").query("h", "index");
        let all: Vec<Index> = self.publisher.cluster.send(request).await?.json()?;
        Ok(all.into_iter().map(|of| of.index).collect())
    }

    /// Releases the lease, so the next build doesn't have to wait for it to expire. If another
    /// build has taken the lease, that build keeps it.
    pub async fn release(self) {
        let Self { publisher, held, stop, renewals } = self;
        drop(stop);
        // Let a renewal in progress finish, so that we know the version.
        drop(renewals.await);
        let request = ClusterRequest::new(Method::DELETE, &publisher.path(LEASE)).once();
        let request = conditional(request, Some(lock(&held).version));
        if let Err(error) = publisher.cluster.send(request).await
            && !error.is_conflict()
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the build lease couldn't be released; it will expire within a minute");
        }
    }
}

/// Renews a lease until it's released, dropped or lost.
async fn renew(
    publisher: Publisher,
    owner: String,
    held: Arc<Mutex<Held>>,
    mut stopped: oneshot::Receiver<()>,
    interval: Duration,
) {
    let mut unanswered = Vec::new();
    while tokio::time::timeout(interval, &mut stopped).await.is_err() {
        let (renewed, before) = (holder(&owner), lock(&held).version);
        match publisher.write(LEASE, &renewed, Some(before)).await {
            Ok(version) => {
                *lock(&held) = Held { version, expires_at: renewed.expires_at };
                unanswered.clear();
            }
            Err(error) if error.is_conflict() => {
                let Ok(stored) = publisher.read(LEASE).await else { continue };
                let Some(renewed) = renewed_before(&unanswered, stored) else {
                    lock(&held).expires_at = Timestamp::MIN;
                    return;
                };
                *lock(&held) = renewed;
            }
            // The renewal will be retried. If that doesn't help, the lease expires.
            Err(_) => unanswered.push(renewed),
        }
    }
}

/// The stored lease, if it was written by one of the renewals that got no response.
fn renewed_before(unanswered: &[Holder], stored: Option<(Holder, Version)>) -> Option<Held> {
    let (holder, version) = stored.filter(|(holder, _)| unanswered.contains(holder))?;
    Some(Held { version, expires_at: holder.expires_at })
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::opensearch::IndexPrefix;
    use crate::engine::opensearch::cluster::stub::{OK, Reply, Stub, cluster};

    const NONE: Reply = Reply::Status(404, r#"{"found":false}"#);
    const CONFLICT: Reply = Reply::Status(409, r#"{"error":{"type":"version_conflict_engine_exception","reason":""}}"#);

    fn written(version: &'static str) -> Reply {
        Reply::Status(201, version)
    }

    /// A lease with sequence number 7, taken from a node that will send these replies next.
    async fn lease(replies: &[Reply]) -> (Stub, Lease) {
        let taken = [OK, NONE, written(r#"{"_seq_no":7,"_primary_term":2}"#)];
        let stub = Stub::start(&[&taken, replies].concat()).await;
        let publisher = Publisher::new(cluster(&[&stub]), IndexPrefix::default());
        let lease = Lease::take(publisher, "me", |owner| panic!("{owner} holds it")).await.expect("a lease");
        (stub, lease)
    }

    #[tokio::test]
    async fn a_lease_is_released_with_the_version_it_was_taken_with() {
        let (stub, lease) = lease(&[OK]).await;
        assert!(!lease.is_lost());
        lease.release().await;
        let head = stub.last_head();
        let expected = "DELETE /software-directory-state/_doc/lease?if_seq_no=7&if_primary_term=2 ";
        assert!(head.starts_with(expected), "{head}");
    }

    #[tokio::test]
    async fn another_builds_lease_is_left_alone() {
        let (stub, lease) = lease(&[CONFLICT]).await;
        lease.release().await;
        assert_eq!(stub.requests(), 4, "one attempt");
    }

    #[tokio::test]
    async fn nothing_is_published_or_deleted_once_the_lease_has_expired() {
        let indices = Reply::Status(200, r#"[{"index":"software-directory-0123456789abcdef-3.1"}]"#);
        let (stub, lease) = lease(&[indices]).await;
        lock(&lease.held).expires_at = Timestamp::now();
        let published = Published::default();
        assert!(matches!(lease.publish(&published, None).await, Err(PublishError::Overtaken)));
        assert_eq!(stub.requests(), 3, "nothing was sent");
        assert_eq!(lease.delete_except(&[]).await.expect("a list"), Vec::<String>::new());
        assert_eq!(stub.requests(), 4, "only the list of indices was requested");
    }

    #[tokio::test]
    async fn only_this_directorys_indices_are_deleted() {
        let indices = r#"[{"index":"software-directory-0123456789abcdef-3.1"},{"index":"software-directory-0123456789abcdef-3.2-parts"},
            {"index":"software-directory-0123456789abcdef-2-reviews"},{"index":"software-directory-state"},
            {"index":"software-directory-b-0123456789abcdef-3.1"}]"#;
        let (_stub, lease) = lease(&[Reply::Status(200, indices), OK]).await;
        let deleted = lease.delete_except(&["software-directory-0123456789abcdef-3.2"]).await.expect("deleted");
        let old = ["software-directory-0123456789abcdef-3.1", "software-directory-0123456789abcdef-2-reviews"];
        assert_eq!(deleted, old);
    }

    #[tokio::test]
    async fn renewals_continue_from_the_last_version_until_another_build_takes_the_lease() {
        let renewed = written(r#"{"_seq_no":9,"_primary_term":2}"#);
        let (stub, lease) = lease(&[renewed, Reply::Status(503, ""), CONFLICT, NONE]).await;
        let (_stop, stopped) = oneshot::channel();
        let every = Duration::from_millis(1);
        renew(lease.publisher.clone(), "me".to_owned(), Arc::clone(&lease.held), stopped, every).await;
        assert!(lease.is_lost());
        let sent = stub.heads.lock().expect("a lock");
        let writes: Vec<_> = sent[3..].iter().filter(|head| head.starts_with("PUT")).collect();
        let condition =
            |version| format!("PUT /software-directory-state/_doc/lease?if_seq_no={version}&if_primary_term=2 ");
        assert_eq!(writes.len(), 3, "a failed renewal is retried");
        assert!(writes[0].starts_with(&condition(7)) && writes[1..].iter().all(|head| head.starts_with(&condition(9))));
    }

    #[test]
    fn a_renewal_that_arrived_but_got_no_response_keeps_the_lease() {
        let (sent, other) = (holder("me"), holder("another"));
        let version = Version { seq_no: 9, primary_term: 2 };
        let kept = renewed_before(std::slice::from_ref(&sent), Some((sent.clone(), version))).expect("kept");
        assert_eq!((kept.version, kept.expires_at), (version, sent.expires_at));
        assert!(renewed_before(std::slice::from_ref(&sent), Some((other, version))).is_none());
        assert!(renewed_before(&[sent], None).is_none());
    }
}
