//! Finds and reads generations. Every byte is checked against the manifest's checksums.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::catalogue::Bulk;
use crate::file::{open, open_in};
use crate::generation::INDEX_FORMAT;
use crate::generation::artifact::{Artifact, TABLES, TEXTS, is_download};
use crate::generation::source::{FileStamp, FolderStamp};
use crate::generation::store::{CURRENT, Head, MANIFEST, Manifest, PartEntry, Store, StoreError, is_generation_name};

/// The maximum size of a pointer or manifest. No manifest exceeds about 6 MiB, so anything larger
/// isn't ours.
const MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;

impl Store {
    /// The name of the current generation's folder; `None` if there is none.
    pub fn current_name(&self) -> Option<String> {
        let name =
            String::from_utf8(read_small(open(&self.folder.join(CURRENT), File::options().read(true))).ok()?).ok()?;
        let name = name.trim();
        is_generation_name(name).then(|| name.to_owned())
    }

    /// The manifests of loadable generations: the current one, then the others, newest first.
    pub fn candidates(&self) -> Vec<Manifest> {
        let current = self.current_name();
        let mut others: Vec<_> =
            self.generation_names().into_iter().filter(|name| Some(name) != current.as_ref()).collect();
        others.sort_by_key(|name| std::cmp::Reverse(self.manifest(name).map(|manifest| manifest.built_at)));
        current.into_iter().chain(others).filter_map(|name| self.manifest(&name)).collect()
    }

    pub fn current(&self) -> Option<Manifest> {
        self.manifest(&self.current_name()?)
    }

    /// The current generation's index format, if it was built by a version of the program that uses
    /// another format. As far as this version can tell, it's complete, so it's left alone.
    pub fn foreign_format(&self) -> Option<u32> {
        Some(self.foreign(&self.current_name()?)?.format)
    }

    /// The manifest in a generation's folder; `None` if it doesn't exist or has a different index
    /// format.
    pub fn manifest(&self, name: &str) -> Option<Manifest> {
        let text = read_small(open_in(&self.folder.join(name), MANIFEST)).ok()?;
        let manifest: Manifest = serde_json::from_slice(&text).ok()?;
        (manifest.format == INDEX_FORMAT && manifest.folder_name() == name).then_some(manifest)
    }

    /// The header of a manifest with another index format.
    pub(super) fn foreign(&self, name: &str) -> Option<Head> {
        let text = read_small(open_in(&self.folder.join(name), MANIFEST)).ok()?;
        let head: Head = serde_json::from_slice(&text).ok()?;
        (head.format != INDEX_FORMAT && format!("{}-{}", head.generation, head.build) == name).then_some(head)
    }

    /// The stamps of `CURRENT` and of the files in the folder that it names. They reveal changes
    /// without reading the files.
    pub(crate) fn stamp(&self) -> FolderStamp {
        let named = self.current_name().map(|name| self.folder.join(name));
        let files = named.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let paths = files.map(|entry| entry.path()).chain([self.folder.join(CURRENT)]);
        let stamp = |path: PathBuf| Some(FileStamp::of(path.display().to_string(), &path.symlink_metadata().ok()?));
        let mut stamps: FolderStamp = paths.filter_map(stamp).collect();
        stamps.sort_unstable();
        stamps
    }

    /// The first part that a generation's folder doesn't contain in full, which is how a folder
    /// looks while it's being copied. Says what's there instead.
    pub(crate) fn unfinished_part(&self, manifest: &Manifest) -> Option<String> {
        // An invalid manifest is reported when the generation is loaded.
        manifest.check_parts().ok()?;
        let folder = self.folder.join(manifest.folder_name());
        manifest.parts.iter().find_map(|PartEntry { name, size, .. }| match fs::symlink_metadata(folder.join(name)) {
            Ok(found) if found.len() >= *size => None,
            Ok(found) => Some(format!("its part {name} has {} of {size} bytes", found.len())),
            Err(error) => Some(format!("its part {name} can't be found ({error})")),
        })
    }

    pub(super) fn generation_names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| is_generation_name(name)).collect()
    }

    /// Reads a generation's parts and checks every byte of them. Parts that are rarely requested
    /// stay in their files.
    pub fn load(&self, manifest: &Manifest) -> Result<Artifact, StoreError> {
        self.load_parts(manifest, |_| true)
    }

    /// Reads the parts of a generation that are needed to open the catalogue.
    pub fn load_catalogue(&self, manifest: &Manifest) -> Result<Artifact, StoreError> {
        self.load_parts(manifest, |name| [TABLES, TEXTS].contains(&name) || is_download(name))
    }

    fn load_parts(&self, manifest: &Manifest, is_needed: impl Fn(&str) -> bool) -> Result<Artifact, StoreError> {
        let mut artifact = Artifact::default();
        self.each_part(manifest, is_needed, |part, file| {
            if is_download(&part.name) {
                artifact.downloads.push((part.name.clone(), Bulk::File(Arc::new(file.try_clone()?))));
                return check(file, part);
            }
            let (content, is_whole) = read(file, part)?;
            artifact.parts.push((part.name.clone(), Bytes::from(content)));
            Ok(is_whole)
        })?;
        Ok(artifact)
    }

    /// Checks that a generation on disk, including its manifest, is still what was written. Takes
    /// little memory, however large the generation is.
    pub fn verify(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let name = manifest.folder_name();
        // Another process may have updated the exports' stamp.
        let found = self.manifest(&name).map(|found| Manifest { inputs: manifest.inputs.clone(), ..found });
        if found.as_ref() != Some(manifest) {
            let what = format!("its {MANIFEST} has changed since it was written");
            return Err(StoreError::Damaged { folder: self.folder.join(name), what });
        }
        self.each_part(manifest, |_| true, |part, file| check(file, part))
    }

    /// Opens the needed parts one after the other and passes each to `read`, which returns whether it
    /// matches the manifest.
    fn each_part(
        &self,
        manifest: &Manifest,
        is_needed: impl Fn(&str) -> bool,
        mut read: impl FnMut(&PartEntry, &File) -> io::Result<bool>,
    ) -> Result<(), StoreError> {
        let folder = self.folder.join(manifest.folder_name());
        let damaged = |what: String| StoreError::Damaged { folder: folder.clone(), what };
        manifest.check_parts().map_err(|fault| damaged(format!("its manifest {fault}")))?;
        for part in manifest.parts.iter().filter(|part| is_needed(&part.name)) {
            let path = folder.join(&part.name);
            let file = open_in(&folder, &part.name);
            let is_whole = file.and_then(|file| read(part, &file)).map_err(StoreError::io("reading", &path))?;
            if !is_whole {
                return Err(damaged(format!("the part {} doesn't match its manifest", part.name)));
            }
        }
        Ok(())
    }
}

fn read_small(file: io::Result<File>) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file?.take(MAX_MANIFEST_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

/// Reads a part, and returns whether it matches the manifest.
pub(super) fn read(file: &File, part: &PartEntry) -> io::Result<(Vec<u8>, bool)> {
    // Don't let a damaged manifest or a file that has grown decide how much memory is used.
    let length = file.metadata()?.len().min(part.size);
    let mut content = Vec::new();
    // Running out of memory is an error like any other.
    content.try_reserve_exact(usize::try_from(length).map_err(io::Error::other)?).map_err(io::Error::other)?;
    file.take(part.size).read_to_end(&mut content)?;
    let is_whole = file.metadata()?.len() == part.size && blake3::hash(&content).to_hex().as_str() == part.blake3;
    Ok((content, is_whole))
}

/// Returns whether a part matches the manifest, without keeping it.
pub(super) fn check(file: &File, part: &PartEntry) -> io::Result<bool> {
    if file.metadata()?.len() != part.size {
        return Ok(false);
    }
    let hash = blake3::Hasher::new().update_reader(file)?.finalize();
    Ok(hash.to_hex().as_str() == part.blake3)
}
