//! The output file of a command.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Failure;
use crate::file::{Access, Draft, HIDDEN, Renamed};

/// Refuses a file that exists, so that a long command fails before its work.
pub(super) fn check_absent(path: &Path, force: bool) -> Result<(), Failure> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    Ok(())
}

/// Writes a file as a whole or not at all. Without `force` an existing file stays.
pub(super) fn write_file(
    path: &Path,
    force: bool,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure { text: format!("{} can't be written: {error}", path.display()), code: 1 };
    let mut draft = Draft::new(path, HIDDEN, Access::Mode(0o666)).map_err(failed)?;
    let written = draft.write(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.flush()
    });
    written.map_err(failed)?;
    draft.rename(force).and_then(Renamed::sync).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => failed(error),
    })
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!("{} exists; add --force to overwrite it, or name another with -o", path.display()))
}
