//! The development key: created once on this machine, so that trying out the service takes no
//! setup.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{ApiKey, KeyKind};
use crate::file::{Access, Draft, HIDDEN, Renamed};

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
    let notice = match (write(folder, &path, &key, distrust.is_some()), distrust) {
        // Another server that started at the same moment was faster, so both use its key.
        (Err(error), None) if error.kind() == io::ErrorKind::AlreadyExists => match read(&path) {
            Ok(Some(key)) => return Ok(DevelopmentKey { key, notice: None }),
            _ => Some(format!(
                "the development key can't be saved in {}: {error}; the next start will create another one",
                path.display()
            )),
        },
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
    let mut draft = Draft::new(path, HIDDEN, Access::Mode(0o600))?;
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
    }

    #[test]
    fn only_the_owner_can_read_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        kept(folder.path());
        let mode = fs::metadata(folder.path().join(FILE_NAME)).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
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
