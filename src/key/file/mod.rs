//! The key file: lists the keys, each with the key's SHA-256 and never the key itself.
//!
//! ```json
//! {"keys": [{"id": "k3Yp0aZ9", "name": "Example Ltd", "sha256": "9f86d081…", "created_at": "2026-01-31T09:30:00Z",
//!            "expires_at": null, "rate_per_minute": 600, "origins": ["https://example.org"]}]}
//! ```
//!
//! An empty list is a valid file: every request is rejected. Properties with other names are kept
//! when the file is rewritten.

mod check;
mod edit;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Expiry, KeyDigest, Origin, Rate};
use crate::error::chain;
use crate::file::FileStamp;
use crate::key::access::Quoted;
use crate::text::printable::printable;

pub(super) use edit::temporary_prefix;
pub use edit::{NewKey, create, revoke, rotate};

/// Far more than any key file needs (a key takes about 300 bytes). The size is checked before
/// the file is read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// On file systems with the coarsest timestamps, a file can change again within this time and keep
/// the same timestamp.
const COARSEST_TIME: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct KeyFile {
    keys: Vec<KeyRecord>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// A key in the file, with its properties in the order in which they're written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyRecord {
    /// The key's id, unique in the file.
    pub id: Box<str>,
    pub name: Box<str>,
    /// SHA-256 of the whole key, unique in the file.
    #[serde(rename = "sha256", serialize_with = "hexadecimal")]
    pub digest: KeyDigest,
    pub created_at: Timestamp,
    /// When the key expires; `None` means never.
    #[serde(rename = "expires_at")]
    pub expires: Option<Expiry>,
    #[serde(rename = "rate_per_minute")]
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
    /// Properties that this version doesn't know.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl KeyFile {
    /// Reads and checks a key file.
    ///
    /// # Errors
    ///
    /// If it can't be read or isn't valid, with all its problems at once.
    pub fn read(path: &Path) -> Result<Self, KeyFileError> {
        Self::parse(path, &read_bytes(path)?)
    }

    /// Checks the content of a key file. The path is for messages.
    pub fn parse(path: &Path, content: &[u8]) -> Result<Self, KeyFileError> {
        check::check(path, content)
    }

    /// The keys, in file order.
    pub fn keys(&self) -> &[KeyRecord] {
        &self.keys
    }

    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

fn hexadecimal<S: Serializer>(digest: &KeyDigest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(digest))
}

/// The content of a key file.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, KeyFileError> {
    let fail = |source| KeyFileError::from_io(path, source);
    // Checked before opening: opening a pipe would wait for a writer.
    if !fs::metadata(path).map_err(fail)?.is_file() {
        return Err(KeyFileError::NotAFile { path: path.to_owned() });
    }
    let mut content = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut content)).map_err(fail)?;
    if content.len() as u64 > MAX_BYTES {
        return Err(KeyFileError::TooLarge { path: path.to_owned(), max_bytes: MAX_BYTES });
    }
    Ok(content)
}

/// The device and stamp of a key file, which change with its content. `None` if it changed so
/// recently that its next change could have the same times.
pub(super) fn settled_stamp(path: &Path) -> Result<Option<(u64, FileStamp)>, KeyFileError> {
    let metadata = fs::metadata(path).map_err(|source| KeyFileError::from_io(path, source))?;
    let stamp = FileStamp::of(String::new(), &metadata);
    let is_settled = !stamp.has_changed_since(SystemTime::now() - COARSEST_TIME);
    Ok(is_settled.then(|| (metadata.dev(), stamp)))
}

/// Parses a digest written as 64 hexadecimal digits.
fn digest_from_hexadecimal(text: &str) -> Option<KeyDigest> {
    let mut digest = KeyDigest::default();
    hex::decode_to_slice(text, &mut digest).is_ok().then_some(digest)
}

/// Why a key file can't be read or changed. The messages say how to fix it and contain no secrets.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("there is no key file {}; create one with: software-directory keys create --name \"…\" --keys {}", path.display(), Quoted(path))]
    Missing { path: PathBuf },
    #[error("the key file {} can't be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the key file {} is not a regular file; choose another one with --keys", path.display())]
    NotAFile { path: PathBuf },
    #[error("the key file {} is larger than {max_bytes} bytes; choose another one with --keys", path.display())]
    TooLarge { path: PathBuf, max_bytes: u64 },
    #[error("the key file {} is not valid: {reason}", path.display())]
    Syntax {
        path: PathBuf,
        /// The error, with its line and column.
        reason: String,
    },
    #[error("the key file {} is not valid: {}", path.display(), Findings(findings))]
    Invalid {
        path: PathBuf,
        /// All problems, in file order.
        findings: Vec<KeyFinding>,
    },
    #[error("the key file {} can't be created because there is no folder {}; create the folder first", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("the key file {} couldn't be changed; it was left as it was", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(
        "the key file {} is unchanged because another process has held its lock {} for {} s. Unless that is a change in \
         progress (`software-directory keys`), find the process with `fuser -v {}`, end it, and try again",
        path.display(), lock.display(), waited.as_secs(), Quoted(lock)
    )]
    Locked {
        path: PathBuf,
        lock: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    #[error("no key was created because it couldn't be printed")]
    NotShown(#[source] io::Error),
    #[error("no key can be created because the operating system provides no random numbers")]
    Random(#[from] getrandom::Error),
    #[error("{}", unknown_id(id, path, known))]
    UnknownId {
        id: String,
        path: PathBuf,
        /// The existing ids, closest match first.
        known: Vec<Box<str>>,
    },
}

/// One problem in a key file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFinding {
    /// Where the problem is: a JSON pointer.
    pub pointer: String,
    /// What's wrong, and how to fix it.
    pub message: String,
}

impl KeyFileError {
    fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Read { path, source },
        }
    }

    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// The error with its causes, as shown in a terminal, with each finding on its own line.
    pub fn report(&self) -> String {
        match self {
            Self::Invalid { path, findings } => {
                let line = |KeyFinding { pointer, message }: &KeyFinding| {
                    format!("\n  {} {}", printable(pointer), printable(message))
                };
                let lines: String = findings.iter().map(line).collect();
                format!("the key file {} is not valid:{lines}", printable(&path.to_string_lossy()))
            }
            _ => printable(&self.with_causes()).into_owned(),
        }
    }

    /// The error with its causes on one line, for logs and status.
    pub fn with_causes(&self) -> String {
        chain(self)
    }
}

struct Findings<'a>(&'a [KeyFinding]);

impl fmt::Display for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, KeyFinding { pointer, message }) in self.0.iter().enumerate() {
            write!(f, "{}{pointer} {message}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

fn unknown_id(id: &str, path: &Path, known: &[Box<str>]) -> String {
    let start = format!("no key in {} has the id `{id}`", path.display());
    // As many ids as fit on a line, closest match first.
    match known {
        [] => format!("{start}: there are no keys in it"),
        known if known.len() <= 5 => format!("{start}; the existing ids are: {}", known.join(", ")),
        known => format!("{start}; the nearest ids are: {} (see `keys list`)", known[..3].join(", ")),
    }
}

/// A warning if other accounts can read or change the file, with the command to fix it. Reading it
/// through the file's group is fine: that's how a server with its own account reads it.
pub fn exposure(path: &Path) -> Option<String> {
    // A file that can't be examined can't be read either; that's reported elsewhere.
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let what = match (mode & 0o002 != 0, mode & 0o020 != 0, mode & 0o004 != 0) {
        (true, _, _) => "changed by every account on this machine, so any of them can add a key for itself",
        (_, true, _) => "changed by its group, so any account in it can add a key for itself",
        (_, _, true) => "read by every account on this machine",
        _ => return None,
    };
    let (path, command) = (path.display(), Quoted(path));
    Some(format!("the key file {path} can be {what} (mode {mode:04o}); run: chmod g-w,o-rwx {command}"))
}
