//! Decides which keys are accepted. This happens once, at startup, based on the options and what's
//! on disk, and never results in open access. Without a key file, a development key is used.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{ApiKey, KeyKind};
use crate::file::{self, Draft, HIDDEN, Renamed};

pub const DEFAULT_KEY_FILE: &str = "keys.json";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    File(PathBuf),
    /// The development key, on this machine only, until a key file with this name appears.
    Development(PathBuf),
}

/// Why the service can't start. The exit code is 2, and the message contains the command to run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeySetupError {
    #[error(
        "there is no key file {}; create one with:\n\n  software-directory keys create --name \"…\" --keys {}",
        .0.display(), Quoted(.0)
    )]
    Missing(PathBuf),
    #[error(
        "{listen} can be reached from other machines, so keys are needed, but there is no key file {}; create one with:\n\n  \
         software-directory keys create --name \"…\" --keys {}\n\nor listen on 127.0.0.1",
        path.display(), Quoted(path)
    )]
    Exposed {
        listen: SocketAddr,
        /// The key file that was expected.
        path: PathBuf,
    },
    #[error(
        "--trusted-proxy and --public-url are for callers on other machines, so keys are needed, but there is no key file {}; create \
         one with:\n\n  software-directory keys create --name \"…\" --keys {}\n\nor leave these options out",
        .0.display(), Quoted(.0)
    )]
    Proxied(PathBuf),
    #[error("the key file {} can't be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
}

/// Decides which keys are accepted. `keys` is the key file named by the operator. `has_proxy` says
/// whether the settings are for a service behind a proxy, through which other machines can reach a
/// local address.
pub fn access(keys: Option<&Path>, listen: SocketAddr, has_proxy: bool) -> Result<Access, KeySetupError> {
    let path = keys.unwrap_or(Path::new(DEFAULT_KEY_FILE));
    // A dangling symbolic link counts as an unreadable key file, not as a missing one.
    match path.symlink_metadata() {
        Ok(_) => decide(keys, true, listen, has_proxy),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => decide(keys, false, listen, has_proxy),
        Err(error) => Err(KeySetupError::Unreadable { path: path.to_owned(), reason: error.to_string() }),
    }
}

fn decide(keys: Option<&Path>, exists: bool, listen: SocketAddr, has_proxy: bool) -> Result<Access, KeySetupError> {
    let path = keys.unwrap_or(Path::new(DEFAULT_KEY_FILE)).to_owned();
    let this_machine_only = listen.ip().to_canonical().is_loopback();
    match (exists, keys) {
        (true, _) => Ok(Access::File(path)),
        (false, Some(_)) => Err(KeySetupError::Missing(path)),
        (false, None) if has_proxy => Err(KeySetupError::Proxied(path)),
        (false, None) if this_machine_only => Ok(Access::Development(path)),
        (false, None) => Err(KeySetupError::Exposed { listen, path }),
    }
}

/// A path quoted for the shell.
pub(crate) struct Quoted<'a>(pub(crate) &'a Path);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.to_string_lossy();
        let plain = |c: char| c.is_alphanumeric() || "/._-+:@%\\".contains(c);
        if text.chars().all(plain) { f.write_str(&text) } else { write!(f, "'{}'", text.replace('\'', "'\\''")) }
    }
}

/// The development key's file, beside the key file.
pub const FILE_NAME: &str = "development-key";

#[derive(Debug)]
pub struct DevelopmentKey {
    pub key: ApiKey,
    /// Why the key differs from the last run's key, or will be different at the next start.
    pub notice: Option<String>,
}

/// Returns the key stored in a folder. Creates one if there's none or it can't be trusted. Without a
/// writable folder, the key only lasts as long as the server runs.
pub fn obtain(folder: Option<&Path>) -> Result<DevelopmentKey, getrandom::Error> {
    let Some(folder) = folder else {
        return Ok(DevelopmentKey { key: ApiKey::generate(KeyKind::Development)?, notice: None });
    };
    let path = folder.join(FILE_NAME);
    let distrust = match read(&path) {
        Ok(Some(key)) => return Ok(DevelopmentKey { key, notice: None }),
        Ok(None) => None,
        Err(reason) => Some(reason),
    };
    let key = ApiKey::generate(KeyKind::Development)?;
    let written = write(folder, &path, &key, distrust.is_some());
    // Another server that started at the same moment was faster, so both use its key.
    if distrust.is_none()
        && written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
        && let Ok(Some(key)) = read(&path)
    {
        return Ok(DevelopmentKey { key, notice: None });
    }
    let notice = match (written, distrust) {
        (Err(error), _) => Some(format!(
            "the development key can't be saved in {}: {error}; the next start will create another one",
            path.display()
        )),
        (Ok(()), Some(reason)) => Some(format!("created a new development key because {} {reason}", path.display())),
        (Ok(()), None) => None,
    };
    Ok(DevelopmentKey { key, notice })
}

/// Returns the stored key, or why it can't be trusted.
fn read(path: &Path) -> Result<Option<ApiKey>, String> {
    let metadata = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(|error| format!("can't be read: {error}"))?,
    };
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if !is_private(&metadata) {
        return Err("could be read by other accounts".to_owned());
    }
    let mut text = String::new();
    fs::File::open(path)
        .and_then(|file| file.take(1024).read_to_string(&mut text))
        .map_err(|error| format!("can't be read: {error}"))?;
    match ApiKey::parse(text.trim_end()) {
        Ok(key) if key.kind() == KeyKind::Development => Ok(Some(key)),
        _ => Err("didn't contain a development key".to_owned()),
    }
}

fn write(folder: &Path, path: &Path, key: &ApiKey, replace: bool) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut draft = Draft::new(path, HIDDEN, file::Access::Mode(0o600))?;
    draft.write(|file| writeln!(file, "{}", key.expose()))?;
    draft.rename(replace).and_then(Renamed::sync)
}

fn is_private(metadata: &fs::Metadata) -> bool {
    // The lowest six bits are the permissions of group and others.
    metadata.permissions().mode().trailing_zeros() >= 6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(address: &str) -> SocketAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn an_existing_key_file_is_always_used() {
        for address in ["127.0.0.1:8080", "0.0.0.0:8080"] {
            assert_eq!(decide(None, true, listen(address), false), Ok(Access::File("keys.json".into())));
            assert_eq!(decide(Some(Path::new("k")), true, listen(address), true), Ok(Access::File("k".into())));
        }
    }

    #[test]
    fn without_a_key_file_only_this_machine_gets_a_development_key() {
        for local in ["127.0.0.1:8080", "127.8.8.8:0", "[::1]:8080", "[::ffff:127.0.0.1]:8080"] {
            assert_eq!(
                decide(None, false, listen(local), false),
                Ok(Access::Development("keys.json".into())),
                "{local}"
            );
        }
        for exposed in ["0.0.0.0:8080", "[::]:8080", "192.168.1.2:8080", "10.0.0.1:80", "[::ffff:0.0.0.0]:80"] {
            let error = decide(None, false, listen(exposed), false).expect_err(exposed).to_string();
            assert!(error.contains("software-directory keys create --name \"…\" --keys keys.json"), "{error}");
        }
    }

    #[test]
    fn if_the_named_key_file_is_missing_the_error_says_which_command_to_run() {
        for address in ["127.0.0.1:8080", "0.0.0.0:8080"] {
            let error =
                decide(Some(Path::new("my keys.json")), false, listen(address), true).expect_err("missing").to_string();
            assert!(error.contains("software-directory keys create --name \"…\" --keys 'my keys.json'"), "{error}");
        }
    }

    #[test]
    fn a_dangling_link_is_not_a_missing_key_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("keys.json");
        std::os::unix::fs::symlink("/nowhere/at/all", &link).expect("a link");
        assert_eq!(access(Some(&link), listen("127.0.0.1:8080"), false), Ok(Access::File(link)));
    }

    fn kept(folder: &Path) -> DevelopmentKey {
        obtain(Some(folder)).expect("random numbers")
    }

    #[test]
    fn the_key_is_created_once_and_reused_on_later_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new/folder");
        let first = kept(&folder);
        let second = kept(&folder);
        assert_eq!(first.key, second.key);
        assert_eq!((first.key.kind(), first.notice, second.notice), (KeyKind::Development, None, None));
        let mode = fs::metadata(folder.join(FILE_NAME)).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only the owner can read it");
    }

    #[test]
    fn a_key_that_others_could_read_is_replaced_with_a_notice() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = kept(folder.path());
        fs::set_permissions(folder.path().join(FILE_NAME), fs::Permissions::from_mode(0o640)).expect("a mode");
        let second = kept(folder.path());
        assert_ne!(first.key, second.key);
        assert!(second.notice.is_some_and(|notice| notice.contains("other accounts")));
        assert_eq!(kept(folder.path()).key, second.key);
    }

    #[test]
    fn an_invalid_development_key_is_replaced_with_a_notice() {
        let live = ApiKey::generate(KeyKind::Live).expect("random numbers");
        for content in ["", "nonsense", live.expose(), "sd_dev_abcdefgh_0000000000000000000000000000"] {
            let folder = tempfile::tempdir().expect("a folder");
            let first = kept(folder.path());
            // Written in place to preserve the mode.
            fs::write(folder.path().join(FILE_NAME), content).expect("written");
            let second = kept(folder.path());
            assert_ne!(first.key, second.key);
            assert!(second.notice.is_some_and(|notice| notice.contains("didn't contain")), "{content}");
        }
    }

    #[test]
    fn without_a_folder_the_key_is_kept_in_memory() {
        let key = obtain(None).expect("random numbers");
        assert_eq!((key.key.kind(), key.notice), (KeyKind::Development, None));
    }

    #[test]
    fn an_unwritable_folder_still_yields_a_key_but_with_a_notice() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let key = kept(&file.join("folder"));
        assert!(key.notice.is_some_and(|notice| notice.contains("next start")));
    }
}
