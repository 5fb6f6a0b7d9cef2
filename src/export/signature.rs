//! Signatures of export files: `x.json.minisig` beside `x.json`, made with minisign.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minisign_verify::{Error, PublicKey, Signature as Minisig};
use serde::{Deserialize, Serialize};

use super::Code;

/// What a signature's file name has after the export's.
pub const SIGNATURE_EXTENSION: &str = "minisig";

/// The largest signature file that's read. minisign limits its two comments to 9 KiB.
const MAX_BYTES: u64 = 16 * 1024;

/// A signature file's text, and the id of the trusted key that made it, as minisign prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub text: Box<str>,
    pub key_id: String,
}

/// The minisign public keys, in base64, one of which must have signed each export. If there are
/// none, signatures are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedKeys(BTreeSet<Box<str>>);

impl TrustedKeys {
    /// Collects keys that [`is_public_key`] accepts.
    pub fn new(keys: impl IntoIterator<Item = String>) -> Self {
        Self(keys.into_iter().map(Into::into).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether exports that were checked with the other keys may be served with these.
    pub fn cover(&self, other: &Self) -> bool {
        self.is_empty() || (!other.is_empty() && other.0.is_subset(&self.0))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| &**key)
    }

    /// Checks the signature beside a file with this content. If it isn't valid, returns the code,
    /// the message and the fix.
    pub(super) fn check(&self, path: &Path, content: &[u8]) -> Result<Option<Signature>, (Code, String, String)> {
        if self.is_empty() {
            return Ok(None);
        }
        let (file, path) = (signature_path(path), path.display());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sign = format!("sign it with a trusted key, for example with `minisign -Sm {path}`");
        let invalid = |message: String| (Code::InvalidSignature, message, sign.clone());
        let text = match read_signature(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err((Code::Unsigned, format!("the export isn't signed: there is no `{name}` beside it"), sign));
            }
            Err(error) => return Err(invalid(format!("the signature `{name}` can't be read: {error}"))),
        };
        let signature = Minisig::decode(&text).map_err(|_| invalid(format!("`{name}` isn't a minisign signature")))?;
        let key_id = text.lines().nth(1).and_then(key_id).unwrap_or_default();
        let keys = self.iter().filter_map(|key| PublicKey::from_base64(key).ok());
        let mut verified = keys.map(|key| key.verify(content, &signature, true));
        match verified.find(|result| !matches!(result, Err(Error::UnexpectedKeyId))) {
            None => Err(invalid(format!("it's signed with the key {key_id}, which isn't trusted"))),
            Some(Ok(())) => Ok(Some(Signature { text: text.into(), key_id })),
            Some(Err(_)) => Err((
                Code::InvalidSignature,
                format!(
                    "`{name}` isn't a signature of this content by the key {key_id}: one of the two files was changed"
                ),
                format!("restore the signed files; if the change is intended, {sign}"),
            )),
        }
    }
}

/// The name of an export's signature file.
pub fn signature_path(export: &Path) -> PathBuf {
    export.with_added_extension(SIGNATURE_EXTENSION)
}

/// Reads a signature file.
pub fn read_signature(path: &Path) -> io::Result<String> {
    // Checked before opening: opening a named pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it's not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
    }
    Ok(text)
}

/// Whether a text is a minisign public key in base64.
pub fn is_public_key(text: &str) -> bool {
    PublicKey::from_base64(text).is_ok()
}

/// The id in a key or signature in base64: eight bytes, least significant first, after the two of
/// the algorithm.
fn key_id(base64: &str) -> Option<String> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    Some(format!("{:016X}", u64::from_le_bytes(bytes.get(2..10)?.try_into().ok()?)))
}
