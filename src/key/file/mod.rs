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
mod error;
mod exposure;

pub(super) use edit::temporary_prefix;
pub use edit::{NewKey, create, revoke, rotate};
pub use error::{KeyFileError, KeyFinding};
pub use exposure::exposure;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::rate::UNLIMITED;
use super::{Expiry, KeyDigest, Origin, Rate};
use crate::file::FileStamp;

/// Far more than any key file needs (a key takes about 300 bytes). The size is checked before
/// the file is read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// On file systems with the coarsest timestamps, a file can change again within this time and keep
/// the same timestamp.
const COARSEST_TIME: Duration = Duration::from_secs(2);

/// A valid key file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeyFile {
    keys: Vec<KeyRecord>,
    other: Map<String, Value>,
}

/// A key in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRecord {
    /// The key's id, unique in the file.
    pub id: Box<str>,
    pub name: Box<str>,
    /// SHA-256 of the whole key, unique in the file.
    pub digest: KeyDigest,
    pub created_at: Timestamp,
    /// When the key expires; `None` means never.
    pub expires: Option<Expiry>,
    /// Requests per minute.
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
    /// Properties that this version doesn't know.
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
        let keys = self.keys.iter().map(WrittenKey::from).collect();
        let mut text = serde_json::to_vec_pretty(&WrittenFile { keys, other: &self.other })?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The file as it's written: properties in a readable order, unknown ones last.
#[derive(Serialize)]
struct WrittenFile<'a> {
    keys: Vec<WrittenKey<'a>>,
    #[serde(flatten)]
    other: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct WrittenKey<'a> {
    id: &'a str,
    name: &'a str,
    sha256: String,
    created_at: String,
    expires_at: Option<String>,
    /// A number, or `none`.
    rate_per_minute: Value,
    origins: Vec<&'a str>,
    #[serde(flatten)]
    other: &'a Map<String, Value>,
}

impl<'a> From<&'a KeyRecord> for WrittenKey<'a> {
    fn from(key: &'a KeyRecord) -> Self {
        Self {
            id: &key.id,
            name: &key.name,
            sha256: hex::encode(key.digest),
            created_at: key.created_at.to_string(),
            expires_at: key.expires.map(|expiry| expiry.to_string()),
            rate_per_minute: key.rate.per_minute().map_or_else(|| UNLIMITED.into(), Value::from),
            origins: key.origins.iter().map(Origin::as_str).collect(),
            other: &key.other,
        }
    }
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
