//! Opens files without following links, so nobody can plant one that redirects a read or a write,
//! locks them, and notices when they change.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{io, thread};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::folder_of;

/// Doesn't follow links, and doesn't wait for the other end of a named pipe.
const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// Opens a regular file. Its name must not be a link, but its folder may be one.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[expect(clippy::cast_possible_wrap, reason = "the flags' highest bit isn't set")]
    ordinary(options.custom_flags(FLAGS.bits() as i32).open(path)?)
}

/// Opens a regular file in a folder for reading. Neither may be a link.
pub(crate) fn open_in(folder: &Path, name: &str) -> io::Result<File> {
    let folder = open_folder(folder)?;
    let flags = OFlags::RDONLY | FLAGS | OFlags::CLOEXEC;
    ordinary(rustix::fs::openat(folder, name, flags, Mode::empty())?.into())
}

/// Creates a hard link. Both the file and the new link are given as a folder and a name. Neither
/// folder may be a symbolic link. If the file is a symbolic link, the new link is one too.
pub(crate) fn link_in(from: (&Path, &str), to: (&Path, &str)) -> io::Result<()> {
    let folders = (open_folder(from.0)?, open_folder(to.0)?);
    Ok(rustix::fs::linkat(folders.0, from.1, folders.1, to.1, AtFlags::empty())?)
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

fn ordinary(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it isn't a regular file"))
}

/// How often to retry a lock that's held.
const INTERVAL: Duration = Duration::from_millis(20);

/// Locks a file. If another process holds the lock, waits at most this long.
///
/// # Errors
///
/// [`TryLockError::WouldBlock`] if another process held it the whole time, otherwise the system's
/// error.
pub(crate) fn lock_within(file: &File, time: Duration) -> Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if started.elapsed() < time => thread::sleep(INTERVAL),
            outcome => return outcome,
        }
    }
}

/// The lock for a file that each change replaces: the hidden file `.NAME.lock` next to it.
pub(crate) fn lock_path(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or(file.as_os_str()));
    name.push(".lock");
    folder_of(file).join(name)
}

/// Holds [`lock_path`] until the returned file is dropped. The lock file is created with this mode,
/// minus the umask. It's never removed, since that would let two processes hold the lock at once.
///
/// # Errors
///
/// The same as for [`lock_within`].
pub(crate) fn lock_beside(file: &Path, mode: u32, time: Duration) -> Result<File, TryLockError> {
    let path = lock_path(file);
    let lock = match open(&path, File::options().write(true).create(true).truncate(false).mode(mode)) {
        // Another account created the file, but it can still be locked.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open(&path, File::options().read(true)).map_err(|_| error)
        }
        opened => opened,
    };
    let lock = lock.map_err(TryLockError::Error)?;
    lock_within(&lock, time).map(|()| lock)
}

/// A file's name, size, times and identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileStamp {
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// The modification time, in nanoseconds since 1970.
    pub modified_ns: u128,
    /// The inode, and the time of the last status change in seconds and nanoseconds. No program can
    /// set that time back, so it reveals a file that was replaced by another of the same size and
    /// time.
    pub identity: (u64, i64, i64),
}

impl FileStamp {
    pub(crate) fn of(name: String, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            name,
            size: metadata.len(),
            modified_ns: modified.map_or(0, |since| since.as_nanos()),
            identity: (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file was, or may have been, changed after a given time.
    pub(crate) fn has_changed_since(&self, moment: SystemTime) -> bool {
        let moment_ns = moment.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let (_, seconds, nanoseconds) = self.identity;
        let inode_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        self.modified_ns > moment_ns || u128::try_from(inode_ns).is_ok_and(|changed_ns| changed_ns > moment_ns)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_not_followed() {
        let place = tempfile::tempdir().expect("a folder");
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("folder")).expect("a folder");
        fs::write(path("folder/file"), "content").expect("written");
        fs::write(path("outside"), "outside").expect("written");
        symlink(path("outside"), path("folder/link")).expect("linked");
        symlink(path("nowhere"), path("folder/dangling")).expect("linked");
        symlink(path("folder"), path("linked")).expect("linked");

        let read = |file: io::Result<File>| file.and_then(io::read_to_string);
        assert_eq!(read(open_in(&path("folder"), "file")).expect("a regular file"), "content");
        assert_eq!(
            read(open(&path("linked/file"), File::options().read(true))).expect("its folder is a link"),
            "content"
        );
        open_in(&path("linked"), "file").expect_err("the folder is a link");
        for name in ["link", "dangling", "nothing", "."] {
            open_in(&path("folder"), name).expect_err(name);
            open(&path("folder").join(name), File::options().read(true)).expect_err(name);
        }
        fs::create_dir(path("other")).expect("a folder");
        symlink(path("other"), path("other-linked")).expect("linked");
        for (from, to) in [("linked", "other"), ("folder", "other-linked")] {
            link_in((&path(from), "file"), (&path(to), "file")).expect_err("a folder is a link");
        }
        link_in((&path("folder"), "file"), (&path("other"), "file")).expect("linked");
        assert_eq!(read(open_in(&path("other"), "file")).expect("a regular file"), "content");
        link_in((&path("folder"), "link"), (&path("other"), "link")).expect("linked");
        assert!(path("other/link").is_symlink());
    }
}
