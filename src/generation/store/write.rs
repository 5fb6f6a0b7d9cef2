//! Writing so that a reader, or a restart at any moment, finds the old whole or the new whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use bytes::Bytes;

use crate::generation::artifact::Parts;
use crate::generation::failpoint::{Step, reach};
use crate::generation::store::{MANIFEST, Manifest, NEXT, StoreError};
use crate::scratch::{Bulk, Span};

/// Writes a generation's folder, its manifest last.
pub(super) fn write_generation(folder: &Path, parts: &Parts, manifest: &Manifest) -> Result<(), StoreError> {
    let created = fs::create_dir(folder).and_then(|()| reach(Step::StoreBegun));
    created.map_err(StoreError::io("creating", folder))?;
    for (name, content) in parts {
        let path = folder.join(name);
        write_synced(&path, content).map_err(StoreError::io("writing", &path))?;
    }
    write_manifest(folder, manifest)?;
    reach(Step::StoreWhole).map_err(StoreError::io("syncing", folder))?;
    folder.parent().map_or(Ok(()), sync_folder)
}

/// Writes a generation's manifest, or another in its place.
pub(super) fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    let path = folder.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest).map_err(io::Error::other);
    let text = text.map_err(StoreError::io("writing", &path))?;
    replace(folder, &path, &text, MANIFEST_STEPS)
}

/// Where replacing a file can go wrong: created, half written, synced, renamed.
type ReplaceSteps = [Step; 4];
const MANIFEST_STEPS: ReplaceSteps =
    [Step::ManifestCreated, Step::ManifestHalf, Step::ManifestSynced, Step::ManifestRenamed];
/// Where making a generation current can go wrong.
pub(super) const CURRENT_STEPS: ReplaceSteps =
    [Step::CurrentCreated, Step::CurrentHalf, Step::CurrentSynced, Step::CurrentRenamed];

/// Replaces a file so that a reader, or a restart at any moment, sees the old one whole or the new one whole.
pub(super) fn replace(folder: &Path, path: &Path, content: &[u8], steps: ReplaceSteps) -> Result<(), StoreError> {
    let [created, half, synced, renamed] = steps;
    let mut builder = tempfile::Builder::new();
    builder.prefix(NEXT);
    #[cfg(unix)]
    builder.permissions(readable());
    let mut next = builder.tempfile_in(folder).map_err(StoreError::io("writing in", folder))?;
    let written = reach(created)
        .and_then(|()| write_in_halves(next.as_file_mut(), &Bulk::Memory(Bytes::copy_from_slice(content)), half))
        .and_then(|()| next.as_file().sync_all())
        .and_then(|()| reach(synced));
    written.map_err(StoreError::io("writing", path))?;
    next.persist(path).map_err(|error| StoreError::io("replacing", path)(error.error))?;
    reach(renamed).map_err(StoreError::io("replacing", path))?;
    sync_folder(folder)
}

pub(super) fn write_synced(path: &Path, content: &Bulk) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    reach(Step::PartCreated)?;
    write_in_halves(&mut file, content, Step::PartHalf)?;
    reach(Step::PartWritten)?;
    file.sync_all()?;
    reach(Step::PartSynced)
}

/// Writes a file in two pieces, for what can go wrong in between.
fn write_in_halves(file: &mut File, content: &Bulk, between: Step) -> io::Result<()> {
    let length = content.len()?;
    let half = length / 2;
    let mut write = |start, length| match content {
        Bulk::Memory(bytes) => file.write_all(&bytes[Span { start, length }.range()]),
        _ => io::copy(&mut content.reader(Span { start, length })?, file).map(drop),
    };
    write(0, half)?;
    reach(between)?;
    write(half, length - half)
}

/// Makes sure that names just written survive a power cut.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("syncing", folder))?;
    }
    Ok(())
}

/// The index holds no secret: its files get the permissions of other files in its folder.
#[cfg(unix)]
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o644)
}
