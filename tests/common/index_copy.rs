//! Copies an index folder the way `rsync` or `aws s3 sync` does.

use std::fs;
use std::path::Path;

/// Copies the current generation, and then `CURRENT`.
pub(crate) fn copy_index(from: &Path, to: &Path) {
    copy_current_generation(from, to);
    copy_pointer(from, to);
}

pub(crate) fn copy_current_generation(from: &Path, to: &Path) {
    let current = fs::read_to_string(from.join("CURRENT")).expect("a current generation");
    let (from, to) = (from.join(current.trim()), to.join(current.trim()));
    fs::create_dir_all(&to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

pub(crate) fn copy_pointer(from: &Path, to: &Path) {
    let next = to.join(".CURRENT.part");
    fs::copy(from.join("CURRENT"), &next).expect("copied");
    fs::rename(next, to.join("CURRENT")).expect("renamed");
}
