//! Replaces a whole folder in one step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use super::draft::{HIDDEN, RANDOM_LENGTH, SUFFIX};
use super::{folder_of, sweep, sync_folder};

/// The file in a folder that lists the others, one path a line.
const LIST: &str = ".software-directory-files";

/// A folder that only one program adds to another: its name, and a file that shows what it is.
pub(crate) type Addition = (&'static str, &'static str);

/// A folder under a temporary name next to its target. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct FolderDraft {
    folder: TempDir,
    target: PathBuf,
    addition: Addition,
    written: Mutex<BTreeSet<String>>,
    /// Marks the folder as in use.
    lock: File,
}

impl FolderDraft {
    /// Starts a folder.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if the target contains anything but what a draft wrote and
    /// the addition, [`io::ErrorKind::NotADirectory`] if it isn't a folder, otherwise the system's error.
    pub(crate) fn new(target: &Path, addition: Addition) -> io::Result<Self> {
        let target = match target.symlink_metadata() {
            Ok(_) => target.canonicalize().map_err(in_path(target))?,
            Err(_) => target.to_owned(),
        };
        let beside = folder_of(&target);
        fs::create_dir_all(beside).map_err(in_path(beside))?;
        check(&target, &target, addition)?;
        sweep(beside, HIDDEN);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(HIDDEN)
                .suffix(SUFFIX)
                .rand_bytes(RANDOM_LENGTH)
                .permissions(Permissions::from_mode(0o777))
                .tempdir_in(beside)?;
            let lock = File::open(folder.path())?;
            drop(lock.lock());
            // Another process may have swept the folder before it was locked.
            if folder.path().exists() {
                return Ok(Self { folder, target, addition, written: Mutex::default(), lock });
            }
        }
    }

    /// Creates a file that isn't there yet.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let path = self.folder.path().join(name);
        fs::create_dir_all(folder_of(&path)).and_then(|()| File::create_new(&path)).map_err(in_path(&path))
    }

    /// Finishes a file. If the target has the same one, it keeps its time.
    pub(crate) fn finish(&self, name: &str, file: &File) -> io::Result<()> {
        let [path, old] = [self.folder.path(), &self.target].map(|folder| folder.join(name));
        if let Ok(before) = old.symlink_metadata()
            && before.is_file()
            && before.len() == file.metadata()?.len()
            && hash(&old).ok() == Some(hash(&path)?)
        {
            file.set_modified(before.modified()?)?;
        }
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Ok(())
    }

    /// Replaces the target, or creates it. At any moment, readers find the old folder or the new one,
    /// each complete; on a file system that can't exchange folders, they find neither for an instant.
    ///
    /// # Errors
    ///
    /// Like [`Self::new`], if something has been added to the target.
    pub(crate) fn publish(self) -> io::Result<()> {
        let names: String =
            self.written.lock().unwrap_or_else(PoisonError::into_inner).iter().flat_map(|name| [name, "\n"]).collect();
        let mut list = self.create(LIST)?;
        list.write_all(names.as_bytes())?;
        self.finish(LIST, &list)?;
        let Self { folder, target, addition, lock, .. } = self;
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&lock)?;
        if target.exists() {
            exchange(folder.path(), &target).map_err(in_path(&target))?;
            if let Err(error) = check(folder.path(), &target, addition) {
                exchange(folder.path(), &target).map_err(in_path(&target))?;
                return Err(error);
            }
        } else {
            fs::rename(folder.path(), &target).map_err(in_path(&target))?;
            let _ = folder.keep();
        }
        drop(lock);
        sync_folder(folder_of(&target))
    }
}

fn in_path(path: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    |error| io::Error::new(error.kind(), format!("{} can't be written: {error}", path.display()))
}

/// Finds what a draft didn't write in a folder, and names it as if the folder were at `shown`.
fn check(folder: &Path, shown: &Path, (addition, file): Addition) -> io::Result<()> {
    let list = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    // Whether each is a folder.
    let mut known: BTreeMap<&Path, bool> = BTreeMap::from([(Path::new(LIST), false)]);
    for path in list.lines().map(Path::new) {
        known.extend(path.ancestors().skip(1).map(|folder| (folder, true)));
        known.insert(path, false);
    }
    let is_addition = |path: &Path| path == Path::new(addition) && folder.join(path).join(file).is_file();
    let mut left = vec![PathBuf::new()];
    while let Some(below) = left.pop() {
        let entries = match fs::read_dir(folder.join(&below)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(in_path(&shown.join(&below)))?,
        };
        for entry in entries {
            let entry = entry?;
            let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
            match known.get(&*path) {
                Some(true) if kind.is_dir() => left.push(path),
                Some(false) if kind.is_file() => {}
                None if kind.is_dir() && is_addition(&path) => {}
                _ => {
                    let text = format!("{} wasn't written by this command", shown.join(path).display());
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
                }
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
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let aside = one.with_extension("old");
            fs::rename(other, &aside)?;
            // If this fails, the old folder goes back.
            let renamed = fs::rename(one, other);
            fs::rename(&aside, if renamed.is_ok() { one } else { other }).and(renamed)
        }
        swapped => Ok(swapped?),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    const SEARCH: Addition = ("search", "entry.json");

    fn publish(target: &Path, files: &[(&str, &str)]) -> io::Result<()> {
        let draft = FolderDraft::new(target, SEARCH)?;
        for (name, text) in files {
            let mut file = draft.create(name)?;
            file.write_all(text.as_bytes())?;
            draft.finish(name, &file)?;
        }
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
        assert_eq!(publish().expect_err("a file").kind(), io::ErrorKind::NotADirectory);
        assert_eq!(names(place.path()), ["site"]);
    }

    #[test]
    fn a_draft_that_fails_leaves_nothing_behind() {
        let place = tempfile::tempdir().expect("a folder");
        let target = place.path().join("site");
        let draft = FolderDraft::new(&target, SEARCH).expect("a draft");
        // A draft in use isn't swept.
        drop(FolderDraft::new(&place.path().join("other"), SEARCH).expect("a draft"));
        draft.create("a").expect("a file");
        draft.create("a").expect_err("two files with one name");
        drop(draft);
        assert_eq!(names(place.path()), [""; 0]);
        fs::create_dir(place.path().join(format!("{HIDDEN}a1B2c3D4{SUFFIX}"))).expect("left by a killed process");
        publish(&target, &[]).expect("published");
        assert_eq!(names(place.path()), ["site"]);
    }
}
