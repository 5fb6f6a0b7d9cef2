//! Where a command's output goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
    use std::os::unix::fs::symlink;

    use super::*;

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
