//! Atomic writes.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The prefix of temporary names. Files with this prefix are hidden and don't count as exports, so
/// a server that watches the folder ignores them.
pub(crate) const HIDDEN: &str = ".software-directory-";
/// A temporary name is the prefix, this many letters or digits, and [`SUFFIX`].
pub(super) const RANDOM_LENGTH: usize = 8;
pub(super) const SUFFIX: &str = ".tmp";

/// Who may read and write the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// This mode, minus the umask.
    Mode(u32),
    /// The owner and mode of the file being replaced, so a server with its own account can still
    /// read the file after an administrator has changed it. 0600 if there's no such file.
    Kept,
    /// The mode of the file being replaced, and its owner and group as far as this process may set
    /// them. 0666 minus the umask if there's no such file.
    KeptIfPermitted,
}

/// A file under a temporary name next to its target. Renaming it replaces the target in one step.
/// At any moment, even after a power failure, readers find either the old or the new content.
/// Dropping the draft removes the file.
#[derive(Debug)]
pub(crate) struct Draft {
    file: NamedTempFile,
    folder: File,
    target: PathBuf,
}

impl Draft {
    /// Creates an empty file. If the target is a symbolic link, the link itself is replaced.
    pub(crate) fn new(target: &Path, prefix: impl AsRef<OsStr>, access: Access) -> io::Result<Self> {
        let before = match access {
            Access::Mode(_) => None,
            Access::Kept | Access::KeptIfPermitted => metadata(target)?,
        };
        let mode = match access {
            Access::Mode(mode) => mode,
            Access::KeptIfPermitted if before.is_none() => 0o666,
            // Nobody else can open the file before it has the old one's permissions.
            Access::Kept | Access::KeptIfPermitted => 0o600,
        };
        let folder = folder_of(target);
        let file = loop {
            let file = tempfile::Builder::new()
                .prefix(&prefix)
                .suffix(SUFFIX)
                .rand_bytes(RANDOM_LENGTH)
                .permissions(Permissions::from_mode(mode))
                .tempfile_in(folder)?;
            // The lock marks the file as in use. On file systems without locks, nothing is swept.
            drop(file.as_file().lock());
            if file.as_file().metadata()?.nlink() > 0 {
                break file;
            }
            // The file was swept before it could be locked.
        };
        if let Some(before) = before {
            keep_access(file.as_file(), &before, access)?;
        }
        // Open the folder now, so that a folder that can't be synced is reported before anything is
        // replaced.
        Ok(Self { file, folder: File::open(folder)?, target: target.to_owned() })
    }

    /// Writes the content and syncs it.
    pub(crate) fn write(&mut self, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        content(self.file.as_file_mut())?;
        self.file.as_file().sync_all()
    }

    /// Renames the file to its target. Without `overwrite`, an existing file isn't replaced.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if this would replace a file, otherwise the system's error.
    pub(crate) fn rename(self, overwrite: bool) -> io::Result<Renamed> {
        let Self { file, folder, target } = self;
        let renamed = if overwrite { file.persist(&target) } else { file.persist_noclobber(&target) };
        match renamed {
            Err(failed) if !overwrite && failed.error.kind() != io::ErrorKind::AlreadyExists => {
                claim(failed.file, &target)?;
            }
            renamed => drop(renamed?),
        }
        Ok(Renamed { folder })
    }
}

/// The file has its final name, but may lose it in a power failure.
#[derive(Debug)]
#[must_use = "sync it, so that the name survives a power failure"]
pub(crate) struct Renamed {
    folder: File,
}

impl Renamed {
    pub(crate) fn sync(self) -> io::Result<()> {
        sync(&self.folder)
    }
}

/// Renames a file without replacing another, for file systems without hard links, such as cloud
/// storage: an empty file claims the name first.
fn claim(file: NamedTempFile, target: &Path) -> io::Result<()> {
    File::create_new(target)?;
    file.persist(target).map(drop).map_err(|failed| {
        // The name is still this process's own.
        let _ = fs::remove_file(target);
        failed.error
    })
}

/// Removes temporary files and folders left behind by killed processes. Those in use are locked.
pub(crate) fn sweep(folder: &Path, prefix: impl AsRef<OsStr>) {
    let is_temporary = |name: &OsStr| {
        let random = name.as_encoded_bytes().strip_prefix(prefix.as_ref().as_encoded_bytes());
        let random = random.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
        random.is_some_and(|random| random.len() == RANDOM_LENGTH && random.iter().all(u8::is_ascii_alphanumeric))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_temporary(&entry.file_name())) {
        let Ok(kind) = entry.file_type() else { continue };
        if !kind.is_symlink() && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let remove = if kind.is_dir() { fs::remove_dir_all } else { fs::remove_file };
            // What can't be removed does no harm; the next run will try again.
            let _ = remove(entry.path());
        }
    }
}

/// Syncs a folder, so that names just written to it survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    sync(&File::open(folder)?)
}

fn sync(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        // Some file systems, such as folders shared with virtual machines, can't sync folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// The folder that contains a file; `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file's metadata; `None` if it doesn't exist.
fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        metadata => metadata.map(Some),
    }
}

fn keep_access(file: &File, before: &Metadata, access: Access) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        match fchown(file, Some(before.uid()), Some(before.gid())) {
            // A member of the group may keep the group.
            Err(_) if access == Access::KeptIfPermitted => _ = fchown(file, None, Some(before.gid())),
            changed => changed?,
        }
    }
    // Some file systems have the same permissions for all files, and refuse to change them.
    if now.permissions() == before.permissions() { Ok(()) } else { file.set_permissions(before.permissions()) }
}

/// What writing to a path affects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// An existing or new file, which is replaced as a whole. Symbolic links are followed, not
    /// replaced.
    File(PathBuf),
    /// A device, named pipe or open descriptor such as `/dev/stdout`, which is written to directly.
    Stream,
}

impl Destination {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        if is_descriptor(path) || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Ok(Self::Stream);
        }
        match fs::canonicalize(path) {
            Ok(target) => Ok(Self::File(target)),
            // A link to a file that doesn't exist yet is also followed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
                Ok(target) => Self::of(&super::folder_of(path).join(target)),
                Err(_) => Ok(Self::File(path.to_owned())),
            },
            Err(error) => Err(error),
        }
    }
}

/// Whether a path names an open descriptor. That may be a regular file, which `> file` must not
/// replace.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
        || ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{chown, symlink};

    use super::*;

    fn draft(target: &Path, access: Access) -> Draft {
        let mut draft = Draft::new(target, HIDDEN, access).expect("a file");
        draft.write(|file| file.write_all(b"new")).expect("written");
        draft
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("a file").permissions().mode() & 0o777
    }

    #[test]
    fn the_old_file_is_visible_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.json");
        fs::write(&target, "old").expect("written");
        let draft = draft(&target, Access::Mode(0o644));
        assert_eq!(fs::read(&target).expect("a file"), b"old");
        draft.rename(true).and_then(Renamed::sync).expect("renamed");
        assert_eq!(fs::read(&target).expect("a file"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_draft_that_is_dropped_or_may_not_overwrite_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.json");
        drop(draft(&target, Access::Kept));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        fs::write(&target, "old").expect("written");
        let error = draft(&target, Access::Kept).rename(false).expect_err("it exists");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).expect("a file"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn leftovers_of_killed_processes_are_swept_but_drafts_in_use_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.json");
        for name in [".software-directory-a1B2c3D4.tmp", ".software-directory-short.tmp", ".other-a1B2c3D4.tmp"] {
            fs::write(folder.path().join(name), "left").expect("written");
        }
        let draft = draft(&target, Access::Kept);
        sweep(folder.path(), HIDDEN);
        draft.rename(true).and_then(Renamed::sync).expect("renamed");
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        left.sort();
        assert_eq!(left, [".other-a1B2c3D4.tmp", ".software-directory-short.tmp", "a.json"]);
    }

    #[test]
    fn new_files_are_private_and_replaced_files_keep_their_mode_unless_one_is_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.json");
        for (access, expected) in [
            (Access::Kept, 0o600),
            (Access::Mode(0o640), 0o640),
            (Access::Kept, 0o640),
            (Access::KeptIfPermitted, 0o640),
        ] {
            draft(&target, access).rename(true).and_then(Renamed::sync).expect("renamed");
            assert_eq!(mode(&target), expected, "{access:?}");
        }
        // Only root can give files away.
        if chown(&target, Some(1234), Some(2345)).is_ok() {
            draft(&target, Access::KeptIfPermitted).rename(true).and_then(Renamed::sync).expect("renamed");
            let owned = fs::metadata(&target).expect("a file");
            assert_eq!((owned.uid(), owned.gid(), mode(&target)), (1234, 2345, 0o640));
        }
    }

    #[test]
    fn without_hard_links_a_name_is_claimed_but_an_existing_file_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.json");
        claim(draft(&target, Access::Mode(0o644)).file, &target).expect("renamed");
        assert_eq!(fs::read(&target).expect("a file"), b"new");
        fs::write(&target, "old").expect("written");
        claim(draft(&target, Access::Mode(0o644)).file, &target).expect_err("it exists");
        assert_eq!(fs::read(&target).expect("a file"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn links_are_followed_and_devices_are_streams() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        let of = |name: &str| Destination::of(&folder.join(name)).expect("found");
        let file = |name: &str| Destination::File(folder.join(name));
        fs::write(folder.join("a"), "").expect("written");
        fs::create_dir(folder.join("elsewhere")).expect("a folder");
        symlink("a", folder.join("link")).expect("a link");
        symlink("link", folder.join("second")).expect("a link");
        symlink("elsewhere/new", folder.join("dangling")).expect("a link");
        assert_eq!((of("a"), of("new"), of("link"), of("second")), (file("a"), file("new"), file("a"), file("a")));
        assert_eq!(of("dangling"), file("elsewhere/new"));
        symlink("/dev/null", folder.join("device")).expect("a link");
        for stream in ["device", "/dev/null", "/dev/stdout", "/dev/fd/1"] {
            assert_eq!(of(stream), Destination::Stream, "{stream}");
        }
        symlink("circle", folder.join("circle")).expect("a link");
        assert!(Destination::of(&folder.join("circle")).is_err());
    }
}
