//! The set of keys that requests are checked against, kept in sync with the key file while the server
//! runs.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use jiff::Timestamp;
use subtle::ConstantTimeEq;
use tokio::time::MissedTickBehavior;

use super::file::{self, KeyFile, KeyFileError};
use super::format::{self, KeyDigest};
use super::session::{Sessions, Token};
use super::{Allowance, ApiKey, Expiry, Grant, Rate};
use crate::file::FileStamp;

/// Minimum time between two reads of the key file caused by unknown ids.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The verified keys, shared by all requests. Reading takes no lock.
///
/// If the key file breaks or disappears later, the last good set stays valid and the error is
/// available as [`KeyStore::problem`]. Nothing that happens to the file ever opens the service to
/// everyone. The development key stops working once there is a key file, valid or not.
#[derive(Debug)]
pub struct KeyStore {
    keys: ArcSwap<HashMap<Arc<str>, StoredKey>>,
    problem: ArcSwapOption<String>,
    path: PathBuf,
    sessions: Sessions,
    /// The development key's id.
    development: Option<Arc<str>>,
    /// The state of the file when it was last read. The lock also serialises reloads.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    stamp: Option<(u64, FileStamp)>,
    content: Option<Vec<u8>>,
    /// Whether there has been no key file yet, in which case the development key is accepted.
    is_development: bool,
    /// The last warning.
    exposure: Option<String>,
    /// When the file was last read because of an unknown id.
    looked_at: Option<Instant>,
}

impl Seen {
    /// Warns once about a file that other accounts may read or change.
    fn warn_of_exposure(&mut self, path: &Path) {
        let exposure = file::exposure(path);
        if let Some(text) = exposure.as_ref().filter(|text| self.exposure.as_ref() != Some(text)) {
            tracing::warn!("{text}");
        }
        self.exposure = exposure;
    }
}

#[derive(Debug, Clone)]
struct StoredKey {
    digest: KeyDigest,
    expires: Option<Expiry>,
    grant: Arc<Grant>,
}

impl StoredKey {
    fn is_expired(&self, now: impl FnOnce() -> Timestamp) -> bool {
        self.expires.is_some_and(|expiry| expiry.is_past(now()))
    }

    /// Whether the key gives access to pages.
    fn opens_pages(&self, now: Timestamp) -> bool {
        self.grant.may_sign_in() && !self.is_expired(|| now)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error("no API key was presented")]
    Missing,
    #[error("the API key isn't valid")]
    Invalid,
    #[error("the API key has expired")]
    Expired,
}

impl KeyStore {
    /// Reads the key file. If it contains no keys, every request is rejected.
    pub fn open(path: &Path) -> Result<Self, KeyFileError> {
        let stamp = file::settled_stamp(path);
        let content = file::read_bytes(path)?;
        let keys = stored_keys(&KeyFile::parse(path, &content)?, &HashMap::new());
        let mut seen = Seen { stamp: stamp.ok().flatten(), content: Some(content), ..Seen::default() };
        seen.warn_of_exposure(path);
        Ok(Self::new(path, keys, None, seen))
    }

    fn new(path: &Path, keys: HashMap<Arc<str>, StoredKey>, development: Option<Arc<str>>, seen: Seen) -> Self {
        Self {
            keys: ArcSwap::from_pointee(keys),
            problem: ArcSwapOption::empty(),
            path: path.to_owned(),
            sessions: Sessions::beside(path),
            development,
            seen: Mutex::new(seen),
        }
    }

    /// Accepts the development key until a key file appears.
    pub fn development(key: &ApiKey, path: &Path) -> Self {
        let grant = Grant {
            id: key.id().into(),
            rate: Rate::DEVELOPMENT,
            origins: Vec::new(),
            allowance: Allowance::Key(Arc::default()),
            requests: Arc::default(),
        };
        let stored = StoredKey { digest: key.digest(), expires: None, grant: Arc::new(grant) };
        let id = Arc::clone(&stored.grant.id);
        let keys = HashMap::from([(Arc::clone(&id), stored)]);
        Self::new(path, keys, Some(id), Seen { is_development: true, ..Seen::default() })
    }

    /// The development key's grant, as long as that key is accepted.
    pub fn development_grant(&self) -> Option<Arc<Grant>> {
        let id = self.development.as_ref()?;
        self.keys.load().get(id).map(|stored| Arc::clone(&stored.grant))
    }

    /// Checks a presented key, the text after `Bearer `.
    ///
    /// The key is found by its id, which isn't secret. Then the SHA-256 of the whole key is
    /// compared in constant time, or with a dummy value if the id is unknown. The clock is only
    /// read if the key has an expiry.
    pub fn authenticate(&self, presented: &str, now: impl FnOnce() -> Timestamp) -> Result<Arc<Grant>, AuthError> {
        if presented.is_empty() {
            return Err(AuthError::Missing);
        }
        let (_, id) = format::id_of(presented).map_err(|_| AuthError::Invalid)?;
        let digest = format::digest(presented);
        let keys = self.keys.load();
        let known = keys.get(id);
        let expected = known.map_or([0; 32], |key| key.digest);
        let equal: bool = digest.ct_eq(&expected).into();
        match known {
            Some(key) if equal && key.is_expired(now) => Err(AuthError::Expired),
            Some(key) if equal => Ok(Arc::clone(&key.grant)),
            _ => Err(AuthError::Invalid),
        }
    }

    /// Whether a key is known and hasn't expired.
    pub fn is_valid(&self, id: &str, now: Timestamp) -> bool {
        self.keys.load().get(id).is_some_and(|key| !key.is_expired(|| now))
    }

    /// Returns the token for a new session with a key; `None` if the id is unknown, or if the key
    /// has expired or can't sign in. May block on disk I/O.
    pub fn open_session(&self, id: &str, now: Timestamp) -> io::Result<Option<String>> {
        let keys = self.keys.load();
        let key = keys.get(id).filter(|key| key.opens_pages(now));
        key.map(|key| self.sessions.open(id, &key.digest, now)).transpose()
    }

    /// Returns the grant of a session's key; `None` if the token isn't valid or its session has
    /// ended, or if its key is no longer valid.
    pub fn resume_session(&self, token: &str, now: Timestamp) -> Option<Arc<Grant>> {
        let token = Token::parse(token)?;
        let keys = self.keys.load();
        let key = keys.get(token.key_id).filter(|key| self.sessions.is_open(&token, &key.digest, now))?;
        key.opens_pages(now).then(|| Arc::clone(&key.grant))
    }

    /// Ends the sessions of tokens that have been verified.
    pub async fn end_sessions(self: Arc<Self>, tokens: Vec<String>, now: Timestamp) -> io::Result<()> {
        // Kept until the work is done, even if the caller doesn't wait for it.
        let turn = Arc::clone(&self.sessions.turn).lock_owned().await;
        let end = move || {
            let _turn = turn;
            self.sessions.end(&tokens, now)
        };
        tokio::task::spawn_blocking(end).await?
    }

    /// What's wrong with the key file, if an older set of keys is still in use.
    pub fn problem(&self) -> Option<String> {
        self.problem.load().as_deref().cloned()
    }

    /// How many requests were authenticated with each known key, by id.
    pub fn requests(&self) -> Vec<(Arc<str>, u64)> {
        let keys = self.keys.load();
        keys.values().map(|key| (Arc::clone(&key.grant.id), key.grant.requests.load(Ordering::Relaxed))).collect()
    }

    /// The number of known keys, including expired ones.
    pub fn len(&self) -> usize {
        self.keys.load().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks the key file and loads its keys if it changed. It's only read if its size, times or
    /// identity differ from the last stamp, or if it changed too recently for the times to differ.
    /// The same applies to the sessions' secret. Blocks on disk I/O.
    pub fn reload_if_changed(&self) {
        self.sessions.reload();
        self.reload(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Reads the key file if a key has an unknown id, so that new keys work immediately. Returns
    /// whether it did. It reads at most ten times a second, no matter how many unknown ids are
    /// presented, and never while another thread is reading it. Blocks on disk I/O.
    pub fn look_for(&self, presented: &str, now: Instant) -> bool {
        if format::id_of(presented).is_ok_and(|(_, id)| self.keys.load().contains_key(id)) {
            return false;
        }
        let Ok(mut seen) = self.seen.try_lock() else { return false };
        if seen.looked_at.is_some_and(|at| now.saturating_duration_since(at) < LOOK_INTERVAL) {
            return false;
        }
        seen.looked_at = Some(now);
        self.reload(&mut seen);
        true
    }

    fn reload(&self, seen: &mut Seen) {
        let stamp = match file::settled_stamp(&self.path) {
            Ok(stamp) => stamp,
            // A dangling link counts as an unreadable key file.
            Err(error) if seen.is_development && error.is_missing() && !self.path.is_symlink() => return,
            Err(error) => return self.keep_last_good_set(seen, &error),
        };
        if stamp.is_some() && stamp == seen.stamp && self.problem.load().is_none() {
            return;
        }
        let content = match file::read_bytes(&self.path) {
            Ok(content) => content,
            Err(error) => return self.keep_last_good_set(seen, &error),
        };
        if seen.content.as_ref() != Some(&content) || self.problem.load().is_some() {
            match KeyFile::parse(&self.path, &content) {
                Ok(file) => self.publish(&file, seen.is_development),
                Err(error) => return self.keep_last_good_set(seen, &error),
            }
        }
        seen.warn_of_exposure(&self.path);
        (seen.stamp, seen.content, seen.is_development) = (stamp, Some(content), false);
    }

    fn publish(&self, file: &KeyFile, is_development: bool) {
        let keys = stored_keys(file, &self.keys.load());
        tracing::info!(file = %self.path.display(), keys = file.keys().len(), "loaded the keys from the key file");
        if is_development {
            tracing::info!("the development key is no longer accepted");
        }
        self.keys.store(Arc::new(keys));
        self.problem.store(None);
    }

    /// Logs an error once; the next call tries again. The development key
    /// is no longer accepted.
    fn keep_last_good_set(&self, seen: &mut Seen, error: &KeyFileError) {
        seen.stamp = None;
        if std::mem::take(&mut seen.is_development) {
            self.keys.store(Arc::default());
        }
        let text = error.with_causes();
        if self.problem.load().as_deref() != Some(&text) {
            if self.is_empty() {
                tracing::error!("{text}; no key is accepted until this is fixed");
            } else {
                tracing::error!("{text}; the keys read earlier stay active");
            }
            self.problem.store(Some(Arc::new(text)));
        }
    }
}

/// A file's keys by id. Spent requests carry over, so a reload doesn't renew the quota.
fn stored_keys(file: &KeyFile, before: &HashMap<Arc<str>, StoredKey>) -> HashMap<Arc<str>, StoredKey> {
    let stored = |key: &file::KeyRecord| {
        let known = before.get(&*key.id).map(|stored| &stored.grant);
        let grant = Grant {
            id: Arc::from(&*key.id),
            rate: key.rate,
            origins: key.origins.clone(),
            allowance: known.map_or_else(|| Allowance::Key(Arc::default()), |grant| grant.allowance.clone()),
            requests: known.map(|grant| Arc::clone(&grant.requests)).unwrap_or_default(),
        };
        StoredKey { digest: key.digest, expires: key.expires, grant: Arc::new(grant) }
    };
    let stored = file.keys().iter().map(stored);
    stored.map(|stored| (Arc::clone(&stored.grant.id), stored)).collect()
}

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
