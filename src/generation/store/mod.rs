//! Generations on disk.
//!
//! A generation is a folder `<generation>-<build>` with its parts and, written last,
//! `manifest.json` with a checksum of each. `CURRENT` names the current one and is replaced
//! atomically. A folder without a manifest was never finished and is ignored. Writers hold the
//! lock. Readers don't need it, because nothing that's finished ever changes.

mod opening;
mod read;
mod write;

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use opening::MAX_DEATHS;
use serde::{Deserialize, Serialize};
pub use write::{Forgotten, build_name};

use crate::export::{IdPrefixes, Skipped, TrustedKeys};
use crate::file::{lock_within, open};
use crate::generation::Generation;
use crate::generation::artifact::{INDEX, max_bytes};
use crate::generation::failpoint::{Step, reach};
use crate::generation::name::MeaningOption;
use crate::generation::source::FolderStamp;
use crate::index::IndexFiles;
use crate::scratch::{Bulk, Span};

/// The file that names the current generation.
const CURRENT: &str = "CURRENT";
/// The file that completes a generation's folder.
const MANIFEST: &str = "manifest.json";
/// The prefix of files being written.
const NEXT: &str = ".next-";

/// A folder of generations.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// The manifest of a generation on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The index format. Other formats can't be read.
    pub format: u32,
    pub generation: Generation,
    /// Which build of the generation this is, by its time: the rest of the folder's name.
    pub build: String,
    /// When the generation was built (RFC 3339 in UTC).
    pub built_at: String,
    pub software_count: u64,
    /// The stamp of the exports when they were read.
    pub inputs: FolderStamp,
    #[serde(default)]
    pub id_prefixes: IdPrefixes,
    #[serde(default)]
    pub meaning: MeaningOption,
    #[serde(default)]
    pub trusted_keys: TrustedKeys,
    pub skipped: Skipped,
    pub parts: Vec<PartEntry>,
}

/// The fields that manifests have in every index format.
#[derive(Debug, Deserialize)]
struct Head {
    format: u32,
    generation: Generation,
    build: String,
    built_at: String,
}

/// A part of a generation on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    pub name: String,
    /// The part's size in bytes.
    pub size: u64,
    /// The part's BLAKE3 hash, in hexadecimal digits.
    pub blake3: String,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{doing} {} failed", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{} is locked by another process, such as a server or a --reindex that writes the same index; \
         `fuser {}` names it",
        path.display(), path.display()
    )]
    Locked { path: PathBuf },
    #[error("another process has just written the same index: run the command again")]
    Overtaken,
    #[error("the generation in {} is damaged: {what}", folder.display())]
    Damaged { folder: PathBuf, what: String },
}

impl StoreError {
    fn io<'p>(doing: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> Self + 'p {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

impl Store {
    /// The generations in a folder, which needn't exist yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Checks that a folder is still the current one, so that what was read there isn't outdated. The
    /// lock must be held.
    fn check_current(&self, name: Option<&str>) -> Result<(), StoreError> {
        if self.current_name().as_deref() == name { Ok(()) } else { Err(StoreError::Overtaken) }
    }
}

impl Manifest {
    pub fn folder_name(&self) -> String {
        format!("{}-{}", self.generation, self.build)
    }

    /// Checks the names and sizes of the parts against what a generation can have, before any are
    /// read. An error says what's wrong with the manifest.
    pub(crate) fn check_parts(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for part in &self.parts {
            let Some(max_bytes) = max_bytes(&part.name).filter(|_| names.insert(&part.name)) else {
                return Err(format!("names an unknown or repeated part {:?}", part.name));
            };
            if part.size > max_bytes {
                return Err(format!(
                    "says that {} has {} bytes; at most {max_bytes} are allowed",
                    part.name, part.size
                ));
            }
        }
        let index_files = self.parts.iter().filter_map(|part| part.name.strip_prefix(INDEX));
        if IndexFiles::has_files(index_files) { Ok(()) } else { Err("names unexpected index files".to_owned()) }
    }
}

impl PartEntry {
    fn of(name: &str, content: &Bulk) -> io::Result<Self> {
        let size = content.len()?;
        let mut hasher = blake3::Hasher::new();
        let hash = hasher.update_reader(content.reader(Span { start: 0, length: size })?)?.finalize();
        Ok(Self { name: name.to_owned(), size, blake3: hash.to_hex().as_str().to_owned() })
    }
}

/// Whether a folder's name is a generation's: `<16 hexadecimal digits>-<build>`.
fn is_generation_name(name: &str) -> bool {
    name.split_once('-').is_some_and(|(generation, build)| {
        generation.len() == 16
            && generation.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !build.is_empty()
            && build.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The file that's locked while writing.
const LOCK: &str = "LOCK";
/// How long a writer waits for another writer. It's longer than writing takes, not counting builds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

impl Store {
    /// Checks that the folder can be locked, if it exists.
    pub fn check_lock(&self) -> Result<(), StoreError> {
        if self.folder.exists() { self.lock().map(drop) } else { Ok(()) }
    }

    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let path = self.folder.join(LOCK);
        let file = self.open_lock().map_err(StoreError::io("opening", &path))?;
        match lock_within(&file, LOCK_TIMEOUT) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path }),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("locking", &path)(error)),
        }
        reach(Step::StoreLocked).map_err(StoreError::io("locking", &path))?;
        Ok(file)
    }

    /// Opens the lock file. Only its owner may open it, because any process that can open it can
    /// hold the lock.
    pub(super) fn open_lock(&self) -> io::Result<File> {
        let mut options = File::options();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = open(&self.folder.join(LOCK), &mut options)?;
        // An earlier version created the file with read access for others. If someone else owns it,
        // its permissions don't change.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
        Ok(file)
    }
}
