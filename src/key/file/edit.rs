//! Changes the key file: one change at a time, all or nothing.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use jiff::{Timestamp, Unit};
use serde_json::Map;

use super::{KeyFile, KeyFileError, KeyRecord};
use crate::file::{Access, Draft, Renamed, folder_of, lock_beside, lock_path, sweep};
use crate::key::{ApiKey, Expiry, KeyKind, Origin, Rate};

/// How long a change waits for another change to finish. Each takes only milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct NewKey {
    /// The key holder's name: not empty, at most 200 characters, no control characters.
    pub name: String,
    /// When the key expires; `None` means never.
    pub expires: Option<Expiry>,
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
}

impl NewKey {
    /// Checks the name. An error message continues a sentence that starts with "the name".
    pub fn check_name(&self) -> Result<(), String> {
        super::check::check_name(&self.name)
    }
}

/// Creates a key and adds it to the file, which is created if it doesn't exist. The key itself is
/// only in the return value and in whatever `show` does with it.
///
/// `show` is called when everything is written but not valid yet, so a process killed at any moment
/// leaves no valid key that wasn't shown.
///
/// # Errors
///
/// If the file is invalid or can't be changed, or if the key can't be shown. The file is then
/// unchanged.
pub fn create(
    path: &Path,
    new: NewKey,
    now: Timestamp,
    show: impl FnOnce(&ApiKey) -> io::Result<()>,
) -> Result<(ApiKey, KeyRecord), KeyFileError> {
    let edit = |file: &mut KeyFile| {
        let key = unused_key(file)?;
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
    };
    let show = |(key, _): &(ApiKey, KeyRecord)| show(key).map_err(KeyFileError::NotShown);
    change(path, LOCK_WAIT, edit, show)
}

/// Removes a key from the file, so that it's no longer accepted.
pub fn revoke(path: &Path, id: &str) -> Result<KeyRecord, KeyFileError> {
    // If there's no key file, nothing gets created, not even the lock file.
    super::read_bytes(path)?;
    let edit = |file: &mut KeyFile| {
        let at = position(file, id, path)?;
        Ok(file.keys.remove(at))
    };
    change(path, LOCK_WAIT, edit, |_| Ok(()))
}

/// Adds a successor to a key, with the same name, rate, origins and expiry. The old key stays valid
/// until `old_expires`, or until its own expiry if that's earlier. `show` is called as in
/// [`create`].
///
/// Returns the records of the new key and the old one.
pub fn rotate(
    path: &Path,
    id: &str,
    old_expires: Expiry,
    now: Timestamp,
    show: impl FnOnce(&ApiKey) -> io::Result<()>,
) -> Result<(KeyRecord, KeyRecord), KeyFileError> {
    super::read_bytes(path)?;
    let edit = |file: &mut KeyFile| {
        let at = position(file, id, path)?;
        let key = unused_key(file)?;
        let new = KeyRecord {
            id: key.id().into(),
            digest: key.digest(),
            created_at: now.round(Unit::Second).unwrap_or(now),
            ..file.keys[at].clone()
        };
        let old = &mut file.keys[at];
        old.expires = Some(old.expires.map_or(old_expires, |expires| expires.earlier(old_expires)));
        let old = old.clone();
        file.keys.push(new.clone());
        Ok((key, new, old))
    };
    let show = |(key, _, _): &(ApiKey, KeyRecord, KeyRecord)| show(key).map_err(KeyFileError::NotShown);
    let (_, new, old) = change(path, LOCK_WAIT, edit, show)?;
    Ok((new, old))
}

/// A new key with an id that isn't in the file yet.
fn unused_key(file: &KeyFile) -> Result<ApiKey, KeyFileError> {
    loop {
        let key = ApiKey::generate(KeyKind::Live)?;
        if file.keys.iter().all(|known| *known.id != *key.id()) {
            return Ok(key);
        }
    }
}

/// A key's position in the file.
fn position(file: &KeyFile, id: &str, path: &Path) -> Result<usize, KeyFileError> {
    file.keys.iter().position(|key| *key.id == *id).ok_or_else(|| {
        let mut known: Vec<Box<str>> = file.keys.iter().map(|key| key.id.clone()).collect();
        known.sort_by_key(|known| strsim::osa_distance(known, id));
        KeyFileError::UnknownId { id: id.to_owned(), path: path.to_owned(), known }
    })
}

/// Changes the file under its lock. `before_commit` is called once the new content is on disk under
/// a temporary name.
fn change<T>(
    path: &Path,
    lock_wait: Duration,
    edit: impl FnOnce(&mut KeyFile) -> Result<T, KeyFileError>,
    before_commit: impl FnOnce(&T) -> Result<(), KeyFileError>,
) -> Result<T, KeyFileError> {
    let write_error = |source| KeyFileError::Write { path: path.to_owned(), source };
    // Renaming onto a symbolic link would replace the link and leave its target unchanged.
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(write_error(error)),
    };
    let folder = folder_of(&target);
    if !folder.is_dir() {
        return Err(KeyFileError::NoFolder { path: path.to_owned(), folder: folder.to_owned() });
    }
    let _lock = lock(path, &target, lock_wait)?;
    sweep(folder, temporary_prefix(&target));
    let mut file = match KeyFile::read(&target) {
        Err(error) if error.is_missing() => KeyFile::default(),
        read => read?,
    };
    let done = edit(&mut file)?;
    let content = file.to_json().map_err(|error| write_error(error.into()))?;
    let mut draft = Draft::new(&target, temporary_prefix(&target), Access::Kept).map_err(write_error)?;
    draft.write(|file| file.write_all(&content)).map_err(write_error)?;
    before_commit(&done)?;
    draft.rename(true).and_then(Renamed::sync).map_err(write_error)?;
    Ok(done)
}

/// The prefix of temporary names for a file, such as `.keys.json.`.
pub(in crate::key) fn temporary_prefix(target: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or(target.as_os_str()));
    name.push(".");
    name
}

/// Waits for other changes in progress, up to a time limit; unlocks when dropped.
fn lock(path: &Path, target: &Path, wait: Duration) -> Result<File, KeyFileError> {
    // Any account that can open the file can hold the lock and so keep keys from being revoked.
    lock_beside(target, 0o600, wait).map_err(|error| match error {
        TryLockError::Error(source) => KeyFileError::Write { path: path.to_owned(), source },
        TryLockError::WouldBlock => {
            KeyFileError::Locked { path: path.to_owned(), lock: lock_path(target), waited: wait }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use super::*;

    fn locked_folder() -> (tempfile::TempDir, PathBuf, File) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.json");
        fs::write(&path, "{\"keys\":[]}").expect("written");
        let held = lock(&path, &path, Duration::ZERO).expect("free");
        (folder, path, held)
    }

    #[test]
    fn a_change_gives_up_if_the_lock_is_not_released() {
        let (_folder, path, held) = locked_folder();
        let change = || change(&path, Duration::ZERO, |_| Ok(()), |()| Ok(()));
        let error = change().expect_err("held");
        let text = error.to_string();
        assert!(matches!(error, KeyFileError::Locked { .. }), "{text}");
        assert!(text.contains(".keys.json.lock") && text.contains("fuser"), "{text}");
        drop(held);
        change().expect("free again");
    }

    #[test]
    fn the_lock_file_is_created_private_but_works_with_other_modes() {
        let (folder, path, held) = locked_folder();
        let lock_path = folder.path().join(".keys.json.lock");
        assert_eq!(held.metadata().expect("metadata").permissions().mode() & 0o777, 0o600);
        drop(held);
        fs::set_permissions(&lock_path, fs::Permissions::from_mode(0o444)).expect("changed");
        lock(&path, &path, Duration::ZERO).expect("locked");
    }
}
