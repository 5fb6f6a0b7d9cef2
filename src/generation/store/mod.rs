//! Generations on disk.
//!
//! A generation is a folder `<generation>-<build>`: its parts, and last of all `manifest.json` with a checksum of each.
//! `CURRENT` names the current one and is replaced atomically. A folder without a manifest was never finished and means
//! nothing. Writers hold the lock; readers need none, for nothing that is finished is ever changed.

mod lock;
mod log;
mod opening;
mod pull;
mod read;
mod sweep;
mod write;

pub(crate) use opening::MAX_DEATHS;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::TantivyIndex;
use crate::export::{IdPrefixes, Skipped};
use crate::generation::Generation;
use crate::generation::artifact::{ENGINE, max_bytes};
use crate::generation::stamp::FolderStamp;
use crate::scratch::{Bulk, Span};

/// The file that names the current generation.
const CURRENT: &str = "CURRENT";
/// The file that makes a folder a generation.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The prefix of files that are being written.
const NEXT: &str = ".next-";
/// The folder of generations.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// The manifest of a generation on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of the index; another one can't be read.
    pub format: u32,
    /// The generation's name.
    pub generation: Generation,
    /// Which build of it: the rest of the folder's name.
    pub build: String,
    /// When it was built: RFC 3339, UTC.
    pub built_at: String,
    /// Number of products.
    pub software_count: u64,
    /// The stamp of the exports when they were read.
    pub inputs: FolderStamp,
    /// The operator's prefixes of ids that it was built with.
    #[serde(default)]
    pub id_prefixes: IdPrefixes,
    /// The invalid part of the exports, which it doesn't have.
    pub skipped: Skipped,
    /// The parts with their checksums.
    pub parts: Vec<PartEntry>,
}

/// The members that manifests of all index formats share.
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
    /// Its file's name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its BLAKE3 hash, in hexadecimal digits.
    pub blake3: String,
}

/// Why a generation can't be read or written.
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
    #[error("the generation in {} is damaged: {what}", folder.display())]
    Damaged { folder: PathBuf, what: String },
}

impl StoreError {
    fn io<'p>(doing: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> Self + 'p {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

impl Store {
    /// The generations of a folder, which needn't exist yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The manifest of a new generation, without its parts.
#[derive(Debug, Clone)]
pub struct NewGeneration {
    pub generation: Generation,
    /// When it was built: RFC 3339, UTC.
    pub built_at: String,
    /// Number of products.
    pub software_count: u64,
    /// The stamp of the exports when they were read.
    pub inputs: FolderStamp,
    /// The operator's prefixes of ids that it was built with.
    pub id_prefixes: IdPrefixes,
    /// The invalid part of the exports, which it doesn't have.
    pub skipped: Skipped,
}

impl Manifest {
    /// The name of the generation's folder.
    pub fn folder_name(&self) -> String {
        format!("{}-{}", self.generation, self.build)
    }

    /// Compares the names and sizes of the parts with those that a generation can have, before any of them is pulled or read. The
    /// fault is one of the manifest.
    pub(crate) fn check_parts(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for part in &self.parts {
            let Some(max_bytes) = max_bytes(&part.name).filter(|_| names.insert(&part.name)) else {
                return Err(format!("names a part {:?}", part.name));
            };
            if part.size > max_bytes {
                return Err(format!("says that {} has {} bytes; {max_bytes} are the most", part.name, part.size));
            }
        }
        let engine_files = self.parts.iter().filter_map(|part| part.name.strip_prefix(ENGINE));
        if TantivyIndex::has_files(engine_files) { Ok(()) } else { Err("names other files of the engine".to_owned()) }
    }
}

impl PartEntry {
    fn of(name: &str, content: &Bulk) -> io::Result<Self> {
        let size = content.len()?;
        let hash = match content {
            Bulk::Memory(bytes) => blake3::hash(bytes),
            _ => blake3::Hasher::new().update_reader(content.reader(Span { start: 0, length: size })?)?.finalize(),
        };
        Ok(Self::new(name, size, hash))
    }

    fn new(name: &str, size: u64, hash: blake3::Hash) -> Self {
        Self { name: name.to_owned(), size, blake3: hash.to_hex().as_str().to_owned() }
    }
}

/// Whether a folder's name is that of a generation: `<16 hexadecimal digits>-<build>`.
pub(crate) fn is_generation_name(name: &str) -> bool {
    name.split_once('-').is_some_and(|(generation, build)| {
        generation.len() == 16
            && generation.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !build.is_empty()
            && build.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether a part's name stays inside its folder.
pub(crate) fn is_part_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}
