//! Decides which keys are accepted. This happens once, at startup, based on the options and what's
//! on disk, and never results in open access.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The default key file.
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
    Unreadable {
        /// The key file.
        path: PathBuf,
        reason: String,
    },
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
    fn a_service_behind_a_proxy_gets_no_development_key() {
        let error = decide(None, false, listen("127.0.0.1:8080"), true).expect_err("a proxy").to_string();
        assert!(error.contains("software-directory keys create --name \"…\" --keys keys.json"), "{error}");
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
}
