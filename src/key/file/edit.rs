//! Changes to the key file: one at a time, each whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::{Timestamp, Unit};
use serde_json::Map;
use tempfile::NamedTempFile;

use super::{KeyFile, KeyFileError, KeyRecord};
use crate::key::{ApiKey, Expiry, KeyKind, Origin, Rate};

/// A key to be made.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Whose key it is: not empty, at most 200 characters, no control characters.
    pub name: String,
    /// Until when it is valid; `None` is for ever.
    pub expires: Option<Expiry>,
    /// Requests a minute.
    pub rate: Rate,
    /// Web origins that may use it; empty means any.
    pub origins: Vec<Origin>,
}

impl NewKey {
    /// Checks the name. The text goes on from «the name».
    ///
    /// # Errors
    /// Where a key file with this name would be refused.
    pub fn check_name(&self) -> Result<(), String> {
        super::check::check_name(&self.name)
    }
}

/// Makes a key and adds it to the file, which is made where there is none. The key itself is nowhere but in the answer.
///
/// # Errors
/// Where the file is invalid or can't be changed; it is as before then.
pub fn create(path: &Path, new: NewKey, now: Timestamp) -> Result<(ApiKey, KeyRecord), KeyFileError> {
    change(path, |file| {
        let mut key = ApiKey::generate(KeyKind::Live)?;
        while file.keys.iter().any(|known| *known.id == *key.id()) {
            key = ApiKey::generate(KeyKind::Live)?;
        }
        let record = KeyRecord {
            id: key.id().into(),
            name: new.name.into(),
            digest: key.digest(),
            created_at: now.round(Unit::Second).unwrap_or(now),
            expires: new.expires,
            rate: new.rate,
            origins: new.origins,
            other: Map::new(),
        };
        file.keys.push(record.clone());
        Ok((key, record))
    })
}

/// Takes a key out of the file, so that nobody is let in with it any more.
///
/// # Errors
/// Where no key has this id, there is no file, it is invalid or can't be changed.
pub fn revoke(path: &Path, id: &str) -> Result<KeyRecord, KeyFileError> {
    // Nothing is made, not even the lock file, where there is no key file.
    super::read_bytes(path)?;
    change(path, |file| {
        if let Some(at) = file.keys.iter().position(|key| *key.id == *id) {
            return Ok(file.keys.remove(at));
        }
        let mut known: Vec<Box<str>> = file.keys.iter().map(|key| key.id.clone()).collect();
        known.sort_by_key(|known| strsim::osa_distance(known, id));
        Err(KeyFileError::UnknownId { id: id.to_owned(), path: path.to_owned(), known })
    })
}

fn change<T>(path: &Path, edit: impl FnOnce(&mut KeyFile) -> Result<T, KeyFileError>) -> Result<T, KeyFileError> {
    let write_error = |source| KeyFileError::Write { path: path.to_owned(), source };
    // A rename onto a symbolic link would replace the link and leave the file behind it as it was.
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(write_error(error)),
    };
    let folder = folder_of(&target);
    if !folder.is_dir() {
        return Err(KeyFileError::NoFolder { path: path.to_owned(), folder });
    }
    let _lock = lock(&folder, &target).map_err(write_error)?;
    let mut file = match KeyFile::read(&target) {
        Err(error) if error.is_missing() => KeyFile::default(),
        read => read?,
    };
    let done = edit(&mut file)?;
    let content = file.to_json().map_err(|error| write_error(error.into()))?;
    replace(&folder, &target, &content).map_err(write_error)?;
    Ok(done)
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Waits for other changes under way; let go when dropped. The lock has a file of its own, for the key file itself is
/// replaced by another one with each change. It stays there: removing it would let two in.
fn lock(folder: &Path, target: &Path) -> io::Result<File> {
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or(target.as_os_str()));
    name.push(".lock");
    let path = folder.join(name);
    let lock = match OpenOptions::new().write(true).create(true).truncate(false).open(&path) {
        // Made by another account: it can still be locked.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(&path)?,
        opened => opened?,
    };
    lock.lock()?;
    Ok(lock)
}

/// Replaces the file in one step: a reader finds the old content or the new, even after a power failure.
fn replace(folder: &Path, target: &Path, content: &[u8]) -> io::Result<()> {
    // Made with mode 0600.
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    keep_access(file.as_file(), target)?;
    file.as_file().sync_all()?;
    file.persist(target)?;
    sync_folder(folder)
}

/// The new file gets owner and mode of the old one: a server under an account of its own must still be able to read it
/// after an administrator added a key.
#[cfg(unix)]
fn keep_access(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let before = match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        fchown(file, Some(before.uid()), Some(before.gid()))?;
    }
    file.set_permissions(before.permissions())
}

#[cfg(not(unix))]
fn keep_access(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
