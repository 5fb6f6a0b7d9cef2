//! Generations on disk.
//!
//! A generation is a folder `<generation>-<build>`: its parts, and last of all `manifest.json` with a checksum of each.
//! `CURRENT` names the current one and is replaced atomically. A folder without a manifest was never finished and means
//! nothing. Writers hold the lock; readers need none, for nothing that is finished is ever changed.

mod lock;
mod log;
mod pull;
mod read;
mod sweep;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::read::read_small;
use self::write::{CURRENT_STEPS, replace, write_generation, write_manifest};
use crate::export::{IdPrefixes, Skipped};
use crate::generation::artifact::Parts;
use crate::generation::failpoint::{Step, reach};
use crate::generation::stamp::FolderStamp;
use crate::generation::{Generation, INDEX_FORMAT};
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
        /// The operation.
        doing: &'static str,
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    #[error(
        "{} is locked by another process, such as a server or a --reindex that writes the same index; \
         `fuser {}` names it",
        path.display(), path.display()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    #[error("the generation in {} is damaged: {what}", folder.display())]
    Damaged {
        /// The generation's folder.
        folder: PathBuf,
        /// The fault.
        what: String,
    },
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

    /// The name of the generation's current folder; `None` where nothing is.
    pub fn current_name(&self) -> Option<String> {
        let name = String::from_utf8(read_small(&self.folder.join(CURRENT)).ok()?).ok()?;
        let name = name.trim();
        is_generation_name(name).then(|| name.to_owned())
    }

    /// The manifests of what could be loaded: the current generation, then the others from the newest on.
    pub fn candidates(&self) -> Vec<Manifest> {
        let current = self.current_name();
        let mut others: Vec<_> =
            self.generation_names().into_iter().filter(|name| Some(name) != current.as_ref()).collect();
        others.sort_by_key(|name| std::cmp::Reverse(self.manifest(name).map(|manifest| manifest.built_at)));
        current.into_iter().chain(others).filter_map(|name| self.manifest(&name)).collect()
    }

    /// The manifest of the current generation.
    pub fn current(&self) -> Option<Manifest> {
        self.manifest(&self.current_name()?)
    }

    /// Whether the current generation was made by a version of the program that has another form of index. It is whole
    /// by the checks of this version, and is left as it is.
    pub fn is_foreign_current(&self) -> bool {
        self.current_name().is_some_and(|name| self.foreign(&name).is_some())
    }

    /// The manifest of a generation's folder; `None` where it isn't there or isn't of this form of index.
    pub fn manifest(&self, name: &str) -> Option<Manifest> {
        let text = read_small(&self.folder.join(name).join(MANIFEST)).ok()?;
        let manifest: Manifest = serde_json::from_slice(&text).ok()?;
        (manifest.format == INDEX_FORMAT && manifest.folder_name() == name).then_some(manifest)
    }

    /// The head of a manifest of another form of index.
    fn foreign(&self, name: &str) -> Option<Head> {
        let text = read_small(&self.folder.join(name).join(MANIFEST)).ok()?;
        let head: Head = serde_json::from_slice(&text).ok()?;
        (head.format != INDEX_FORMAT && format!("{}-{}", head.generation, head.build) == name).then_some(head)
    }

    fn generation_names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| is_generation_name(name)).collect()
    }

    /// Makes the folder where there is none.
    pub fn create(&self) -> Result<(), StoreError> {
        let created = reach(Step::StoreFolder).and_then(|()| fs::create_dir_all(&self.folder));
        created.map_err(StoreError::io("creating", &self.folder))
    }

    /// Writes a generation and makes it current; older ones but one are removed. Answers its manifest.
    ///
    /// # Errors
    /// If the disk refuses, or another process holds the lock for too long; what was current stays so.
    pub fn save(&self, parts: &Parts, about: NewGeneration) -> Result<Manifest, StoreError> {
        self.create()?;
        let _lock = self.lock()?;
        let entries = parts.iter().map(|(name, content)| PartEntry::of(name, content)).collect::<io::Result<_>>();
        let manifest = Manifest {
            format: INDEX_FORMAT,
            build: self.unused_build(&about.generation),
            generation: about.generation,
            built_at: about.built_at,
            software_count: about.software_count,
            inputs: about.inputs,
            id_prefixes: about.id_prefixes,
            skipped: about.skipped,
            parts: entries.map_err(StoreError::io("reading scratch files in", &self.folder))?,
        };
        let folder = self.folder.join(manifest.folder_name());
        let written = write_generation(&folder, parts, &manifest).and_then(|()| self.point_to(&manifest));
        // Where only the last sync failed it is current, and would leave nothing current. Folders that can't be removed now are
        // swept with the next generation.
        if written.is_err() && self.current_name().as_ref() != Some(&manifest.folder_name()) {
            drop(fs::remove_dir_all(&folder));
        }
        written?;
        self.sweep();
        Ok(manifest)
    }

    /// Makes an existing generation current, and notes which files make it, so that the next start needn't read them.
    pub fn make_current(&self, manifest: &Manifest, inputs: FolderStamp) -> Result<Manifest, StoreError> {
        let _lock = self.lock()?;
        let is_noted = manifest.inputs == inputs;
        let manifest = Manifest { inputs, ..manifest.clone() };
        if !is_noted {
            write_manifest(&self.folder.join(manifest.folder_name()), &manifest)?;
        }
        if self.current_name().as_deref() != Some(&manifest.folder_name()) {
            self.point_to(&manifest)?;
        }
        Ok(manifest)
    }

    fn unused_build(&self, generation: &Generation) -> String {
        let taken = |build: &u32| self.folder.join(format!("{generation}-{build:04}")).exists();
        let build = (1..u32::MAX).find(|build| !taken(build)).unwrap_or_default();
        format!("{build:04}")
    }

    fn point_to(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let path = self.folder.join(CURRENT);
        replace(&self.folder, &path, format!("{}\n", manifest.folder_name()).as_bytes(), CURRENT_STEPS)
    }
}

/// The manifest of a new generation, without its parts.
#[derive(Debug, Clone)]
pub struct NewGeneration {
    /// Its name.
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
