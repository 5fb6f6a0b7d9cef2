//! Writing a file as a whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Failure;

/// Refuses a file that exists, so that a long command fails before its work.
pub(super) fn check_absent(path: &Path, force: bool) -> Result<(), Failure> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    Ok(())
}

/// Writes a temporary file next to the target and renames it. Without `force` an existing file stays.
pub(super) fn write_file(
    path: &Path,
    force: bool,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure { text: format!("{} can't be written: {error}", path.display()), code: 1 };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // Hidden, and not named like an export: a server that watches the folder doesn't read it.
    builder.prefix(".software-directory-").suffix(".tmp");
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    let mut out = BufWriter::new(file.as_file_mut());
    content(&mut out).and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    file.as_file().sync_all().map_err(failed)?;
    let persisted = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match persisted {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(error) => Err(failed(error.error)),
    }
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!("{} exists; add --force to overwrite it, or name another with -o", path.display()))
}
