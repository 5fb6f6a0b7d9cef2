//! Whether other accounts may read or change a key file.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::key::access::Quoted;

/// A warning if other accounts can read or change the file, with the command to fix it. Reading it
/// through the file's group is fine: that's how a server with its own account reads it.
pub fn exposure(path: &Path) -> Option<String> {
    // A file that can't be examined can't be read either; that's reported elsewhere.
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let what = match (mode & 0o002 != 0, mode & 0o020 != 0, mode & 0o004 != 0) {
        (true, _, _) => "changed by every account on this machine, so any of them can add a key for itself",
        (_, true, _) => "changed by its group, so any account in it can add a key for itself",
        (_, _, true) => "read by every account on this machine",
        _ => return None,
    };
    let (path, command) = (path.display(), Quoted(path));
    Some(format!("the key file {path} can be {what} (mode {mode:04o}); run: chmod g-w,o-rwx {command}"))
}
