//! Writes a command's output file. An export is locked, read, and replaced if it's still what was
//! read, after its changes have been printed the way `diff` does.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Failure, print_note};
use crate::curate::diff::{Set, compare, render};
use crate::error::chain;
use crate::export::{self, Export, IdPrefixes, Limits, signature_path};
use crate::file::{Access, Destination, Draft, HIDDEN, Renamed, folder_of, lock_beside, lock_path, sweep};

/// Rejects an existing file, so that a long command fails before doing its work.
pub(super) fn check_absent(path: &Path, force: bool) -> Result<(), Failure> {
    match destination(path)? {
        Destination::File(target) if !force && target.symlink_metadata().is_ok() => Err(exists(path)),
        _ => Ok(()),
    }
}

/// Replaces a whole file, or writes to a device or named pipe. Without `force`, an existing file is
/// kept.
pub(super) fn write_file(
    path: &Path,
    force: bool,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = match destination(path)? {
        Destination::File(target) => {
            draft(&target, content).and_then(|draft| draft.rename(force)).and_then(Renamed::sync)
        }
        Destination::Stream => {
            File::options().append(true).open(path).and_then(|mut file| write_buffered(&mut file, content))
        }
    };
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => failed(path, &error),
    })
}

/// A complete file that hasn't replaced its target yet.
pub(super) fn draft(target: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Draft> {
    sweep(folder_of(target), HIDDEN);
    let mut draft = Draft::new(target, HIDDEN, Access::KeptIfPermitted)?;
    draft.write(|file| write_buffered(file, content))?;
    Ok(draft)
}

fn write_buffered(file: &mut File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    out.flush()
}

pub(super) fn destination(path: &Path) -> Result<Destination, Failure> {
    Destination::of(path).map_err(|error| failed(path, &error))
}

pub(super) fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure { text: format!("{} can't be written: {error}", path.display()), code: 1 }
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} already exists; add --force to overwrite it, or choose another file with -o",
        path.display()
    ))
}

/// How many added, removed and changed records are shown per section.
const SHOWN_CHANGES: usize = 20;

/// How long to wait for other commands that edit the same export. None of them waits for a person
/// while it holds the lock.
const LOCK_WAIT: Duration = Duration::from_mins(1);

/// An export that no other command can change while this exists.
pub(super) struct Locked<'p> {
    path: &'p Path,
    /// The file itself, even if the path is a link.
    target: PathBuf,
    _lock: File,
}

impl<'p> Locked<'p> {
    pub(super) fn new(path: &'p Path) -> Result<Self, Failure> {
        let name = path.display();
        let target = match destination(path)? {
            Destination::File(target) if target.is_file() => target,
            _ => return Err(Failure::usage(format!("{name} doesn't exist or isn't a regular file"))),
        };
        let lock = lock_beside(&target, 0o666, LOCK_WAIT).map_err(|error| {
            let lock = lock_path(&target);
            let lock = lock.display();
            let text = match error {
                TryLockError::Error(error) => format!(
                    "{name} can't be changed because its lock {lock} can't be acquired: {error}. The folder must be \
                     writable and on a file system with locks, which some network drives lack; otherwise, change a \
                     copy elsewhere"
                ),
                TryLockError::WouldBlock => format!(
                    "{name} is unchanged because another process has held its lock {lock} for a minute; try again \
                     later, or find the process with `fuser -v {lock}`"
                ),
            };
            Failure { text, code: 1 }
        })?;
        Ok(Self { path, target, _lock: lock })
    }

    pub(super) fn open(&self, max_file_bytes: u64) -> Result<Export, Failure> {
        read_export(self.path, max_file_bytes, ", so it can't be changed")
    }

    /// Replaces the export. If it isn't what was `read` any more, it's left as it is: another
    /// command has changed it while it wasn't locked, or a program that doesn't use the lock.
    pub(super) fn replace(&self, read: blake3::Hash, json: &str) -> Result<(), Failure> {
        let failed = |error| failed(self.path, &error);
        let draft = draft(&self.target, |out| out.write_all(json.as_bytes())).map_err(failed)?;
        if !fs::read(&self.target).is_ok_and(|now| blake3::hash(&now) == read) {
            let name = self.path.display();
            let text =
                format!("{name} has changed since this command read it, so nothing was written; run the command again");
            return Err(Failure { text, code: 1 });
        }
        draft.rename(true).and_then(Renamed::sync).map_err(failed)?;
        note_signature(self.path);
        Ok(())
    }
}

/// Reads a valid export. `consequence` is part of the message if it isn't valid.
pub(super) fn read_export(path: &Path, max_file_bytes: u64, consequence: &str) -> Result<Export, Failure> {
    let limits = Limits { max_file_bytes, ..Limits::default() };
    let today = export::latest_day(jiff::Timestamp::now());
    let report = export::read(&[path.to_owned()], &limits, &IdPrefixes::default(), today, &|_, _| {})?;
    let is_valid = report.is_valid();
    report.exports.into_iter().next().filter(|_| is_valid).ok_or_else(|| {
        let name = path.display();
        Failure::usage(format!("{name} isn't a valid export{consequence}; see software-directory check {name}"))
    })
}

/// Says that an export that was just written no longer matches the signature beside it.
pub(super) fn note_signature(export: &Path) {
    let signature = signature_path(export);
    if signature.is_file() {
        let (signature, export) = (signature.display(), export.display());
        print_note(&format!(
            "The signature {signature} is no longer valid; sign the export again: minisign -Sm {export}"
        ));
    }
}

pub(super) fn print_changes(export: &Export, json: &str) -> Result<(), Failure> {
    let set = |document: bytes::Bytes| {
        Set::read([Ok((&*export.id, "", document))]).map_err(|error| Failure::usage(chain(&error)))
    };
    let (old, new) = (set(export.document.clone())?, set(json.to_owned().into())?);
    let options = render::Options { old: "the export", new: "its update", limit: SHOWN_CHANGES };
    // Failing to write to standard error is no reason to stop.
    let _ = render::text(&compare(&old, &new), &options, &mut anstream::stderr().lock());
    Ok(())
}
