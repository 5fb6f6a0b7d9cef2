//! Replaces a whole folder with one step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::draft::{HIDDEN, RANDOM_LENGTH, SUFFIX};
use super::{folder_of, sweep, sync_folder};

/// The file in a folder that lists the others, one path a line.
const LIST: &str = ".software-directory-files";

/// A folder under a temporary name next to its target. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct FolderDraft {
    folder: TempDir,
    target: PathBuf,
    /// Another folder that may be in the target, and the file in it that shows what it is.
    tolerated: (&'static str, &'static str),
    /// The names in each folder, folders with a trailing slash.
    written: Mutex<BTreeSet<String>>,
    /// Marks the folder as in use.
    lock: File,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    #[error("{} isn't a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Replacing the folder would delete this.
    #[error("{} wasn't written by this command", .0.display())]
    Foreign(PathBuf),
    #[error("{} can't be written", .0.display())]
    Failed(PathBuf, #[source] io::Error),
}

impl FolderDraft {
    /// Starts a folder. Its target may contain what a draft wrote, and the `tolerated` folder if
    /// that contains a file of this name.
    pub(crate) fn new(target: &Path, tolerated: (&'static str, &'static str)) -> Result<Self, FolderError> {
        let failed = |error| FolderError::Failed(target.to_owned(), error);
        let target = if target.symlink_metadata().is_ok() {
            target.canonicalize().map_err(failed)?
        } else {
            fs::create_dir_all(folder_of(target)).map_err(failed)?;
            target.to_owned()
        };
        check(&target, &target, tolerated)?;
        let beside = folder_of(&target);
        sweep(beside, HIDDEN);
        let folder = loop {
            let folder = tempfile::Builder::new()
                .prefix(HIDDEN)
                .suffix(SUFFIX)
                .rand_bytes(RANDOM_LENGTH)
                .permissions(Permissions::from_mode(0o777))
                .tempdir_in(beside)
                .map_err(failed)?;
            let lock = File::open(folder.path()).map_err(failed)?;
            drop(lock.lock());
            // Another process may have swept the folder before it was locked.
            if folder.path().exists() {
                break (folder, lock);
            }
        };
        let (folder, lock) = folder;
        Ok(Self { folder, target, tolerated, written: Mutex::default(), lock })
    }

    /// Writes a file that isn't there yet. If the target has the same file, it keeps its time.
    pub(crate) fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let (path, old) = (self.folder.path().join(name), self.target.join(name));
        let write = || {
            let parent = folder_of(&path);
            fs::create_dir_all(parent)?;
            let mut file = File::create_new(&path)?;
            content(&mut file)?;
            if let Ok(before) = old.symlink_metadata()
                && before.is_file()
                && before.len() == file.metadata()?.len()
                && hash(&old).ok() == Some(hash(&path)?)
            {
                file.set_modified(before.modified()?)?;
            }
            Ok(())
        };
        write().map_err(|error| FolderError::Failed(self.target.join(name), error))?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Ok(())
    }

    /// Replaces the target, or creates it. At any moment, readers find the old folder or the new one,
    /// each complete, unless the file system can't exchange two folders: then neither may be there for
    /// an instant.
    pub(crate) fn publish(self) -> Result<(), FolderError> {
        let names: Vec<_> =
            std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect();
        self.write(LIST, |file| file.write_all((names.join("\n") + "\n").as_bytes()))?;
        let Self { folder, target, tolerated, lock, .. } = self;
        let failed = |error| FolderError::Failed(target.clone(), error);
        sync_files(&lock);
        check(&target, &target, tolerated)?;
        if target.exists() {
            exchange(folder.path(), &target).map_err(failed)?;
            // Something may have been added since.
            if let Err(error) = check(folder.path(), &target, tolerated) {
                exchange(folder.path(), &target).map_err(failed)?;
                return Err(error);
            }
        } else {
            fs::rename(folder.path(), &target).map_err(failed)?;
            let _ = folder.keep();
        }
        sync_folder(folder_of(&target)).map_err(failed)
    }
}

/// Finds what a draft didn't write in a folder, and names it as if the folder were at `shown`.
fn check(folder: &Path, shown: &Path, tolerated: (&str, &str)) -> Result<(), FolderError> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.is_dir() => {}
        _ => return Err(FolderError::NotAFolder(shown.to_owned())),
    }
    let list = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    // Whether each is a folder.
    let mut known: BTreeMap<&Path, bool> = BTreeMap::from([(Path::new(LIST), false)]);
    for path in list.lines().map(Path::new) {
        known.extend(path.ancestors().skip(1).map(|folder| (folder, true)));
        known.insert(path, false);
    }
    let is_tolerated = |path: &Path| path == Path::new(tolerated.0) && folder.join(path).join(tolerated.1).is_file();
    let mut left = vec![PathBuf::new()];
    while let Some(below) = left.pop() {
        let failed = |error| FolderError::Failed(shown.join(&below), error);
        for entry in fs::read_dir(folder.join(&below)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (below.join(entry.file_name()), entry.file_type().map_err(failed)?);
            let is_ours = match known.get(&*path) {
                Some(true) => kind.is_dir(),
                Some(false) => kind.is_file(),
                None => kind.is_dir() && is_tolerated(&path),
            };
            if !is_ours {
                return Err(FolderError::Foreign(shown.join(path)));
            }
            if kind.is_dir() && known.contains_key(&*path) {
                left.push(path);
            }
        }
    }
    Ok(())
}

fn hash(path: &Path) -> io::Result<blake3::Hash> {
    Ok(blake3::Hasher::new().update_reader(File::open(path)?)?.finalize())
}

/// Swaps two folders, in one step if the file system can.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            let aside = one.with_extension("old");
            fs::rename(other, &aside)?;
            if let Err(error) = fs::rename(one, other) {
                fs::rename(&aside, other)?;
                return Err(error);
            }
            fs::rename(&aside, one)
        }
        swapped => Ok(swapped?),
    }
}

/// Syncs the file system that a folder is on. If that fails, so would each file's.
fn sync_files(folder: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::syncfs(folder);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        rustix::fs::sync();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    const TOLERATED: (&str, &str) = ("search", "entry.json");

    fn publish(target: &Path, files: &[(&str, &str)]) -> Result<(), FolderError> {
        let draft = FolderDraft::new(target, TOLERATED)?;
        files.iter().try_for_each(|(name, text)| draft.write(name, |file| file.write_all(text.as_bytes())))?;
        draft.publish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_replaced_as_a_whole_and_same_files_keep_their_times() {
        let place = tempfile::tempdir().expect("a folder");
        let target = place.path().join("new/site");
        publish(&target, &[("a/b.html", "same"), ("c.html", "old"), ("d/e.html", "gone")]).expect("published");
        let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for name in ["a/b.html", "c.html"] {
            File::open(target.join(name)).and_then(|file| file.set_modified(past)).expect("a time");
        }
        fs::create_dir(target.join("search")).expect("a folder");
        fs::write(target.join("search/entry.json"), "").expect("written");
        publish(&target, &[("a/b.html", "same"), ("c.html", "new")]).expect("replaced");
        assert_eq!(names(&target), [LIST, "a", "c.html"]);
        assert_eq!(names(target.parent().expect("a folder")), ["site"], "nothing is left beside it");
        let time = |name: &str| target.join(name).metadata().and_then(|of| of.modified()).expect("a time");
        assert_eq!(time("a/b.html"), past);
        assert_ne!(time("c.html"), past);
        let mode = target.metadata().expect("a folder").permissions().mode() & 0o777;
        let usual = place.path().join("new").metadata().expect("a folder").permissions().mode() & 0o777;
        assert_eq!(mode, usual, "a web server can read it");
    }

    #[test]
    fn a_folder_with_anything_else_is_refused_and_left_as_it_is() {
        let place = tempfile::tempdir().expect("a folder");
        let target = place.path().join("site");
        let publish = || publish(&target, &[("a/b.html", "text")]);
        fs::create_dir(&target).expect("a folder");
        publish().expect("an empty folder");
        let foreign = ["notes.txt", "a/notes.txt", "search", "a/b.html.bak"];
        for name in foreign {
            fs::write(target.join(name), "mine").expect("written");
            let error = publish().expect_err(name).to_string();
            assert!(error.contains(name), "{error}");
            assert_eq!(fs::read_to_string(target.join(name)).expect("kept"), "mine");
            fs::remove_file(target.join(name)).expect("removed");
        }
        fs::remove_file(target.join("a/b.html")).expect("removed");
        std::os::unix::fs::symlink("/etc/hostname", target.join("a/b.html")).expect("linked");
        publish().expect_err("a link");
        fs::remove_dir_all(&target).expect("removed");
        fs::write(&target, "a file").expect("written");
        assert!(matches!(publish(), Err(FolderError::NotAFolder(_))));
        assert_eq!(names(place.path()), ["site"]);
    }

    #[test]
    fn a_draft_that_fails_leaves_nothing_behind() {
        let place = tempfile::tempdir().expect("a folder");
        let target = place.path().join("site");
        let draft = FolderDraft::new(&target, TOLERATED).expect("a draft");
        // A draft in use isn't swept.
        drop(FolderDraft::new(&place.path().join("other"), TOLERATED).expect("a draft"));
        draft.write("a", |file| file.write_all(b"1")).expect("written");
        assert!(draft.write("a", |_| Ok(())).is_err(), "two files with one name");
        draft.write("b", |_| Err(io::ErrorKind::StorageFull.into())).expect_err("no space");
        drop(draft);
        assert_eq!(names(place.path()), [""; 0]);
        fs::create_dir(place.path().join(format!("{HIDDEN}a1B2c3D4{SUFFIX}"))).expect("left by a killed process");
        publish(&target, &[]).expect("published");
        assert_eq!(names(place.path()), ["site"]);
    }
}
