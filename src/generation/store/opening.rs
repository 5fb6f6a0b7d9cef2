//! Marks made by processes that are opening a generation. If a process dies while doing so, its
//! mark remains, and a later startup uses another generation.
//!
//! A mark is a file `.opening-<generation>-…` that its process keeps locked, so the marks of
//! running processes don't count.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::file::{Access, Draft, open};
use crate::generation::Generation;
use crate::generation::failpoint::{Step, pass};
use crate::generation::store::Store;

pub(super) const OPENING: &str = ".opening-";

/// How many processes may die while opening a generation before the next startup uses another one.
pub(crate) const MAX_DEATHS: usize = 2;

/// This process's mark, removed when dropped; `None` if the folder can't be written to.
#[derive(Debug)]
pub(crate) struct Opening(#[expect(dead_code, reason = "removed when dropped")] Option<Draft>);

impl Store {
    /// Leaves a mark saying that this process is about to open a generation.
    pub(crate) fn mark_opening(&self, generation: &Generation) -> Opening {
        let mark = || {
            let prefix = format!("{OPENING}{generation}-");
            let mut mark = Draft::new(&self.folder.join(OPENING), prefix, Access::Mode(0o600))?;
            mark.write(|file| {
                file.lock()?;
                // An empty mark isn't locked yet.
                file.write_all(b"opening\n")
            })?;
            Ok::<_, io::Error>(mark)
        };
        let marked = mark().inspect_err(|error| tracing::debug!(%error, "can't mark a generation as being opened"));
        pass(Step::Opening);
        Opening(marked.ok())
    }

    /// How many processes have died while opening a generation since a process last succeeded, or
    /// since an operator rebuilt it.
    pub(crate) fn deaths(&self, generation: &Generation) -> usize {
        self.abandoned_marks(generation).count()
    }

    pub(crate) fn forget_deaths(&self, generation: &Generation) {
        self.abandoned_marks(generation).for_each(|mark| drop(fs::remove_file(mark)));
    }

    /// Removes marks for generations that are no longer current.
    pub(super) fn sweep_marks(&self) {
        let current = self.current_name();
        let current = current.as_deref().and_then(|name| name.split('-').next());
        for mark in self.marks().filter(|mark| generation_of(mark) != current && is_unlocked(mark)) {
            drop(fs::remove_file(mark));
        }
    }

    fn abandoned_marks(&self, generation: &Generation) -> impl Iterator<Item = PathBuf> {
        let is_of = move |mark: &PathBuf| generation_of(mark) == Some(generation.as_str());
        let has_content = |mark: &PathBuf| fs::symlink_metadata(mark).is_ok_and(|of| of.is_file() && of.len() > 0);
        self.marks().filter(is_of).filter(has_content).filter(|mark| is_unlocked(mark))
    }

    fn marks(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_mark = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(OPENING.as_bytes());
        entries.filter(is_mark).map(|entry| entry.path())
    }
}

/// The name of the generation that a mark is for.
fn generation_of(mark: &Path) -> Option<&str> {
    mark.file_name()?.to_str()?.strip_prefix(OPENING)?.split('-').next()
}

/// Whether a mark's process has ended. This takes a shared lock, so several observers don't mistake
/// each other for that process.
fn is_unlocked(mark: &Path) -> bool {
    let locked = open(mark, File::options().read(true)).map(|file| file.try_lock_shared());
    match locked {
        Ok(Ok(())) => true,
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_that_died_while_opening_a_generation_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let [one, other] = ["0123456789abcdef", "fedcba9876543210"].map(Generation::named);
        let abandon = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("written");
        assert_eq!(store.deaths(&one), 0);
        let living = store.mark_opening(&one);
        assert_eq!(store.deaths(&one), 0, "its process is alive");
        abandon(".opening-0123456789abcdef-aaaaaaaa.tmp", "opening\n");
        abandon(".opening-0123456789abcdef-bbbbbbbb.tmp", "");
        assert_eq!((store.deaths(&one), store.deaths(&other)), (1, 0), "an empty mark was never locked");
        drop(living);
        assert_eq!(store.deaths(&one), 1, "a process that opened it leaves no mark");
        store.forget_deaths(&one);
        assert_eq!(store.deaths(&one), 0);
    }
}
