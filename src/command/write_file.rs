//! Writes a command's output file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Failure;
use crate::file::{Access, Destination, Draft, HIDDEN, Renamed, folder_of, sweep};

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
