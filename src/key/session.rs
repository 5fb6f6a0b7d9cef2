//! Browser sessions. A token names a key, the session and its expiry, and is signed with a secret of
//! the server's own. The secret is stored beside the key file, together with the sessions that have
//! been signed out, so replicas can share both.
//!
//! Codes in links sign a browser in: each works once, within ten minutes.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::KeyDigest;
use super::file::{settled_stamp, temporary_prefix};
use crate::file::{Access, Draft, FileStamp, Renamed, folder_of, lock_beside, open, sweep};

/// The maximum length of a session.
pub const SESSION_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Relative to the key file's folder. The file has a folder of its own, so a server can be allowed
/// to write it without being allowed to replace the key file.
const FILE_NAME: &str = "sessions/secret.json";

/// How far the clocks of replicas may differ, in seconds.
const MAX_SKEW: i64 = 60;

/// How many ended sessions are stored. Each takes about 40 bytes.
const MAX_ENDED: usize = 10_000;

const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The minimum length of a secret, in bytes.
const MIN_SECRET_BYTES: usize = 32;

/// How long to wait for another process's change to finish.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// A token that hasn't been verified yet: `KEY.SESSION.SECONDS.MAC`, with the MAC in hexadecimal.
pub(super) struct Token<'t> {
    pub(super) key_id: &'t str,
    /// `KEY.SESSION`.
    name: &'t str,
    /// In seconds since 1970.
    expires: i64,
    /// Everything before the MAC.
    signed: &'t str,
    mac: [u8; 32],
}

impl<'t> Token<'t> {
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (signed, digits) = text.rsplit_once('.')?;
        let (name, expires) = signed.rsplit_once('.')?;
        let (key_id, _) = name.split_once('.')?;
        let mut mac = [0; 32];
        hex::decode_to_slice(digits, &mut mac).ok()?;
        Some(Self { key_id, name, expires: expires.parse().ok()?, signed, mac })
    }
}

/// The content of the file.
#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    /// Empty until the first session starts.
    secret: String,
    /// The sessions that have been signed out, by `KEY.SESSION`, with their expiry. `KEY` alone
    /// stands for all of the key's sessions that expire no later.
    #[serde(default)]
    ended: BTreeMap<String, i64>,
}

impl State {
    fn mac(&self, digest: &KeyDigest, signed: &str) -> blake3::Hash {
        let secret = blake3::derive_key("software-directory session", self.secret.as_bytes());
        // With the digest, a session also ends if its key is replaced by another with the same id.
        blake3::keyed_hash(&secret, &[digest, signed.as_bytes()].concat())
    }

    fn end(&mut self, sessions: &BTreeMap<String, i64>, now: i64) {
        self.ended.extend(sessions.clone());
        self.ended.retain(|_, expires| now < expires.saturating_add(MAX_SKEW));
        if self.ended.len() > MAX_ENDED {
            // The key with the most ended sessions loses all older ones, which takes one entry. So
            // nobody can make the server forget another key's. A key's names are adjacent.
            let names: Vec<_> = self.ended.iter().map(|(name, expires)| (key_of(name), *expires)).collect();
            let most = names.chunk_by(|one, other| one.0 == other.0).max_by_key(|of_key| of_key.len());
            let last = most.into_iter().flatten().max_by_key(|(_, expires)| *expires);
            if let Some((key, last)) = last.map(|(key, last)| ((*key).to_owned(), *last)) {
                self.ended.retain(|name, _| key_of(name) != key);
                self.ended.insert(key, last);
            }
        }
    }
}

/// The id of an ended session's key.
fn key_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(key, _)| key)
}

/// Signs and verifies tokens. If the file can't be used, everything is kept in memory.
pub(super) struct Sessions {
    /// `None` if nothing is to be stored.
    path: Option<PathBuf>,
    state: ArcSwap<State>,
    /// The state of the file when it was last read. The lock also serialises changes.
    seen: Mutex<Seen>,
    /// Held while sessions are being ended, so that only one thread at a time waits for the disk.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Seen {
    stamp: Option<(u64, FileStamp)>,
    /// Whether the current secret was in the file.
    is_stored: bool,
    /// The last warning.
    problem: Option<String>,
}

impl std::fmt::Debug for Sessions {
    /// Shows no secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Reads the file, if there is one. If the key file has no name, nothing is stored.
    pub(super) fn beside(key_file: &Path) -> Self {
        let path = key_file.file_name().map(|_| folder_of(key_file).join(FILE_NAME));
        let sessions = Self { path, state: ArcSwap::default(), seen: Mutex::default(), turn: Arc::default() };
        sessions.reload();
        sessions
    }

    /// Returns the token of a new session. The first one creates the secret, which blocks on disk
    /// I/O.
    pub(super) fn open(&self, key_id: &str, digest: &KeyDigest, now: Timestamp) -> io::Result<String> {
        let mut state = self.state.load_full();
        if state.secret.is_empty() {
            state = self.store(&BTreeMap::new(), now)?;
        }
        let expires = now.as_second().saturating_add(SESSION_LIFETIME.as_secs());
        let signed = format!("{key_id}.{}.{expires}", random::<8>()?);
        Ok(format!("{signed}.{}", state.mac(digest, &signed).to_hex()))
    }

    /// Whether a token was signed for this key, and the session hasn't ended.
    pub(super) fn is_open(&self, token: &Token<'_>, digest: &KeyDigest, now: Timestamp) -> bool {
        let (state, now) = (self.state.load(), now.as_second());
        // `blake3::Hash` compares in constant time.
        let is_signed = !state.secret.is_empty() && state.mac(digest, token.signed) == token.mac;
        let is_current = now < token.expires && token.expires <= now + SESSION_LIFETIME.as_secs() + MAX_SKEW;
        let has_ended = |name: &str| state.ended.get(name).is_some_and(|last| token.expires <= *last);
        is_signed && is_current && !has_ended(token.name) && !has_ended(token.key_id)
    }

    /// Ends sessions whose tokens have been verified. Blocks on disk I/O.
    pub(super) fn end(&self, tokens: &[String], now: Timestamp) -> io::Result<()> {
        let tokens = tokens.iter().filter_map(|token| Token::parse(token));
        self.store(&tokens.map(|token| (token.name.to_owned(), token.expires)).collect(), now).map(drop)
    }

    /// Reads the file if it changed. If it was deleted, all sessions end. Blocks on disk I/O.
    pub(super) fn reload(&self) {
        let Some(path) = &self.path else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = settled_stamp(path).ok().flatten();
        if stamp.is_some() && stamp == seen.stamp {
            return;
        }
        let mut state = State::clone(&self.state.load());
        match read(path) {
            Ok(found) => {
                state.secret = found.secret;
                state.ended.extend(found.ended);
                *seen = Seen { stamp, is_stored: true, problem: None };
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return seen.warn(path, &error),
            Err(_) if seen.is_stored => {
                tracing::info!(file = %path.display(), "all sessions have ended because their secret was deleted");
                (state.secret, seen.is_stored) = (String::new(), false);
            }
            Err(_) => return,
        }
        self.state.store(Arc::new(state));
    }

    /// Adds ended sessions to the file, and a secret if there's none.
    fn store(&self, ended: &BTreeMap<String, i64>, now: Timestamp) -> io::Result<Arc<State>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, new) = (self.state.load_full(), random::<MIN_SECRET_BYTES>()?);
        // If the secret was in the file but no longer is, it was deleted to end all sessions.
        let secret = if seen.is_stored || known.secret.is_empty() { &new } else { &known.secret };
        let update = |mut state: State| {
            if state.secret.is_empty() {
                state.secret.clone_from(secret);
            }
            state.end(&known.ended, now.as_second());
            state.end(ended, now.as_second());
            state
        };
        let stored = self.path.as_deref().map(|path| change(path, update).map_err(|error| (path, error)));
        if let Some(Err((path, error))) = &stored {
            seen.warn(path, error);
        }
        let state = match stored {
            Some(Ok(state)) => {
                (seen.stamp, seen.is_stored) = (None, true);
                state
            }
            _ => update(State::clone(&known)),
        };
        self.state.store(Arc::new(state));
        Ok(self.state.load_full())
    }
}

impl Seen {
    /// Logs once why the file can't be used.
    fn warn(&mut self, path: &Path, error: &io::Error) {
        let problem = Some(error.to_string());
        if self.problem != problem {
            tracing::warn!(
                "sessions and sign-outs are only remembered until this server restarts, because {} can't be read or \
                 changed: {error}; the server needs a valid file, or none, in a folder that it can write to",
                path.display()
            );
        }
        self.problem = problem;
    }
}

fn read(path: &Path) -> io::Result<State> {
    let mut content = Vec::new();
    open(&fs::canonicalize(path)?, fs::OpenOptions::new().read(true))?.take(MAX_BYTES).read_to_end(&mut content)?;
    let state: State = serde_json::from_slice(&content)?;
    if state.secret.len() < MIN_SECRET_BYTES {
        return Err(io::Error::other(format!("its secret is shorter than {MIN_SECRET_BYTES} bytes")));
    }
    Ok(state)
}

/// Changes the file, or creates it, under a lock that other processes also take.
fn change(path: &Path, update: impl FnOnce(State) -> State) -> io::Result<State> {
    let (folder, prefix) = (folder_of(path), temporary_prefix(path));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let _lock = lock_beside(path, 0o600, LOCK_WAIT)?;
    sweep(folder, &prefix);
    let found = match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => State::default(),
        found => found?,
    };
    let state = update(found);
    let content = serde_json::to_vec(&state)?;
    let mut draft = Draft::new(path, &prefix, Access::Kept)?;
    draft.write(|file| file.write_all(&content))?;
    draft.rename(true).and_then(Renamed::sync)?;
    Ok(state)
}

/// Random bytes in hexadecimal.
fn random<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

const LIFETIME: Duration = Duration::from_mins(10);

/// The codes that have been issued and not used yet.
#[derive(Debug, Default)]
pub struct SignInCodes(Mutex<Vec<Code>>);

struct Code {
    text: String,
    key_id: Box<str>,
    issued: Instant,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl SignInCodes {
    /// Issues a code with 128 random bits for a key.
    pub fn issue(&self, key_id: &str, now: Instant) -> Result<String, getrandom::Error> {
        let text = random::<16>()?;
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.push(Code { text: text.clone(), key_id: key_id.into(), issued: now });
        Ok(text)
    }

    /// Consumes a code. Returns its key's id; `None` if the code is unknown, used or too old.
    pub fn redeem(&self, code: &str, now: Instant) -> Option<Box<str>> {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| now.saturating_duration_since(code.issued) < LIFETIME);
        let at = codes.iter().position(|known| bool::from(known.text.as_bytes().ct_eq(code.as_bytes())))?;
        Some(codes.swap_remove(at).key_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_within_ten_minutes() {
        let (codes, start) = (SignInCodes::default(), Instant::now());
        let issue = |id| codes.issue(id, start).expect("random bytes");
        let (one, other) = (issue("one"), issue("other"));
        assert_ne!(one, other);
        assert_eq!(codes.redeem("", start), None);
        assert_eq!(codes.redeem(&one, start + Duration::from_secs(599)).as_deref(), Some("one"));
        assert_eq!(codes.redeem(&one, start), None, "used");
        assert_eq!(codes.redeem(&other, start + LIFETIME), None, "too old");
        assert!(!format!("{codes:?}").contains(&other));
    }
}
