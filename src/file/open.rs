//! Opens files without following links, so nobody can plant one that redirects a read or a write.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};

/// Doesn't follow links, and doesn't wait for the other end of a named pipe.
const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// Opens a regular file. Its name must not be a link, but its folder may be one.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[expect(clippy::cast_possible_wrap, reason = "the flags' highest bit isn't set")]
    ordinary(options.custom_flags(FLAGS.bits() as i32).open(path)?)
}

/// Opens a regular file in a folder for reading. Neither may be a link.
pub(crate) fn open_in(folder: &Path, name: &str) -> io::Result<File> {
    let folder = open_folder(folder)?;
    let flags = OFlags::RDONLY | FLAGS | OFlags::CLOEXEC;
    ordinary(rustix::fs::openat(folder, name, flags, Mode::empty())?.into())
}

/// Creates a hard link. Both the file and the new link are given as a folder and a name. Neither
/// folder may be a symbolic link. If the file is a symbolic link, the new link is one too.
pub(crate) fn link_in(from: (&Path, &str), to: (&Path, &str)) -> io::Result<()> {
    let folders = (open_folder(from.0)?, open_folder(to.0)?);
    Ok(rustix::fs::linkat(folders.0, from.1, folders.1, to.1, AtFlags::empty())?)
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

fn ordinary(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it isn't a regular file"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_not_followed() {
        let place = tempfile::tempdir().expect("a folder");
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("folder")).expect("a folder");
        fs::write(path("folder/file"), "content").expect("written");
        fs::write(path("outside"), "outside").expect("written");
        symlink(path("outside"), path("folder/link")).expect("linked");
        symlink(path("nowhere"), path("folder/dangling")).expect("linked");
        symlink(path("folder"), path("linked")).expect("linked");

        let read = |file: io::Result<File>| file.and_then(io::read_to_string);
        assert_eq!(read(open_in(&path("folder"), "file")).expect("a regular file"), "content");
        assert_eq!(
            read(open(&path("linked/file"), File::options().read(true))).expect("its folder is a link"),
            "content"
        );
        open_in(&path("linked"), "file").expect_err("the folder is a link");
        for name in ["link", "dangling", "nothing", "."] {
            open_in(&path("folder"), name).expect_err(name);
            open(&path("folder").join(name), File::options().read(true)).expect_err(name);
        }
        fs::create_dir(path("other")).expect("a folder");
        symlink(path("other"), path("other-linked")).expect("linked");
        for (from, to) in [("linked", "other"), ("folder", "other-linked")] {
            link_in((&path(from), "file"), (&path(to), "file")).expect_err("a folder is a link");
        }
        link_in((&path("folder"), "file"), (&path("other"), "file")).expect("linked");
        assert_eq!(read(open_in(&path("other"), "file")).expect("a regular file"), "content");
        link_in((&path("folder"), "link"), (&path("other"), "link")).expect("linked");
        assert!(path("other/link").is_symlink());
    }
}
