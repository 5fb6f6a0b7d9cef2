//! Pulls a leader's generation into the index folder. It's streamed to disk, resumed after
//! interruptions, and verified.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;

use crate::file::open_or_create_in;
use crate::generation::ChangeLog;
use crate::generation::INDEX_FORMAT;
use crate::generation::artifact::{CHANGES, MAX_LOG_BYTES};
use crate::generation::store::{MANIFEST, Manifest, PartEntry, Piece, Store, StoreError, StoredParts};
use crate::update::leader::FollowError;
use crate::update::leader::client::{Leader, RemoteGeneration};

/// The maximum size of a manifest. With a million records, it takes about 700 KiB.
const MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum number of parts; a generation has a dozen.
const MAX_PARTS: usize = 256;
/// The maximum total size of all parts in bytes. With a million records, they take 1.25 GB.
const MAX_BYTES: u64 = 256 * 1024 * 1024 * 1024;
/// How many bytes are read and written at a time.
const BLOCK_BYTES: usize = 64 * 1024;
/// A download that's interrupted after this many bytes is resumed immediately.
const MIN_PROGRESS: u64 = 256 * 1024;

/// The one field that manifests have in every index format.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// Pulls the generation with this folder name into the index folder, without making it current.
/// Returns its manifest and the number of bytes received.
pub(super) fn pull(leader: &Leader, store: &Store, name: &str) -> Result<(Manifest, u64), FollowError> {
    let mut remote = leader.generation(name);
    let manifest = read_manifest(name, &remote.file(MANIFEST, MAX_MANIFEST_BYTES)?)?;
    let bytes: u64 = manifest.parts.iter().map(|part| part.size).sum();
    let (folder, mut stored) = (store.begin_pull(name)?, store.stored_parts());
    tracing::info!(generation = name, bytes, leader = leader.url(), "downloading a generation");
    let mut received = 0;
    for part in &manifest.parts {
        if stored.link(part, &folder) {
            continue;
        }
        let pulled = pull_part(&mut remote, part, &mut stored, &folder);
        received += pulled.inspect_err(|error| {
            if is_disk_full(error) {
                store.end_pull(&folder);
            }
        })?;
    }
    Ok((store.finish_pull(&folder, &manifest)?, received))
}

/// Pulls the change log of a generation that the index folder already has with a different log, and
/// saves the generation with the pulled log.
pub(super) fn pull_log(leader: &Leader, store: &Store, name: &str, kept: &Manifest) -> Result<Manifest, FollowError> {
    let mut remote = leader.generation(name);
    let manifest = read_manifest(name, &remote.file(MANIFEST, MAX_MANIFEST_BYTES)?)?;
    let Some(part) = manifest.parts.iter().find(|part| part.name == CHANGES) else { return Ok(kept.clone()) };
    let log = remote.file(CHANGES, MAX_LOG_BYTES)?;
    if blake3::hash(&log).to_hex().as_str() != part.blake3 || ChangeLog::decode(&log).is_err() {
        let what = "its hash doesn't match the manifest, or it isn't a change log";
        return Err(FollowError::Damaged { url: remote.url_of(CHANGES), what });
    }
    Ok(store.save_again(kept, &log, manifest.built_at, kept.inputs.clone())?)
}

/// Reads a manifest and rejects anything a server would never write, because it determines file
/// names and disk use.
fn read_manifest(name: &str, text: &[u8]) -> Result<Manifest, FollowError> {
    let refused = |what: String| FollowError::Manifest { name: name.to_owned(), what };
    let head: Head = serde_json::from_slice(text).map_err(|error| refused(error.to_string()))?;
    if head.format != INDEX_FORMAT {
        return Err(FollowError::Incompatible { name: name.to_owned(), format: head.format });
    }
    let manifest: Manifest = serde_json::from_slice(text).map_err(|error| refused(error.to_string()))?;
    if manifest.folder_name() != name {
        return Err(refused("it belongs to another generation".to_owned()));
    }
    if manifest.parts.len() > MAX_PARTS {
        return Err(refused(format!("it names {} parts; at most {MAX_PARTS} are allowed", manifest.parts.len())));
    }
    manifest.check_parts().map_err(|fault| refused(format!("it {fault}")))?;
    let mut bytes = 0_u64;
    for part in &manifest.parts {
        if part.blake3.len() != 64 || !part.blake3.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(refused(format!("the part {} has no BLAKE3 hash", part.name)));
        }
        bytes = bytes.saturating_add(part.size);
    }
    if bytes > MAX_BYTES {
        return Err(refused(format!("its parts have {bytes} bytes; at most {MAX_BYTES} are allowed")));
    }
    Ok(manifest)
}

/// Pulls a part, starting where the file ends. Pieces that are already stored are copied. Returns
/// the number of bytes received.
fn pull_part(
    remote: &mut RemoteGeneration<'_>,
    part: &PartEntry,
    stored: &mut StoredParts,
    folder: &Path,
) -> Result<u64, FollowError> {
    let failed = |doing: &'static str| move |source| StoreError::Io { doing, path: folder.join(&part.name), source };
    let mut file = open_or_create_in(folder, &part.name).map_err(failed("opening"))?;
    let mut hasher = blake3::Hasher::new();
    if file.metadata().map_err(failed("reading"))?.len() > part.size {
        file.set_len(0).map_err(failed("writing"))?;
    }
    hasher.update_reader(&file).map_err(failed("reading"))?;
    let mut received = 0;
    while hasher.count() < part.size {
        let before = hasher.count();
        let next = stored_piece(part, before, stored);
        if let Some((start, piece)) = next
            && start == before
        {
            // If a piece turns out to be damaged, it's fetched again in the next round.
            if let Some(bytes) = stored.read(piece) {
                file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(&bytes)).map_err(failed("writing"))?;
                hasher.update(&bytes);
            }
            continue;
        }
        let range = before..next.map_or(part.size, |(start, _)| start);
        match receive(remote, part, range, &mut file, &mut hasher, &mut received) {
            Ok(()) => {}
            // An interruption far into a large part costs only one more request.
            Err(FollowError::Cut { .. }) if hasher.count() >= before + MIN_PROGRESS => {}
            Err(error) => return Err(error),
        }
    }
    if hasher.finalize().to_hex().as_str() != part.blake3 {
        // No byte of the part can be trusted, so start over.
        file.set_len(0).map_err(failed("writing"))?;
        let what = "its hash doesn't match the manifest";
        return Err(FollowError::Damaged { url: remote.url_of(&part.name), what });
    }
    file.sync_all().map_err(failed("syncing"))?;
    Ok(received)
}

/// The first stored piece that starts at or after an offset in a part, and where it starts.
fn stored_piece<'p>(part: &'p PartEntry, from: u64, stored: &StoredParts) -> Option<(u64, &'p Piece)> {
    let mut end = 0;
    let mut pieces = part.pieces.iter().map(|piece| {
        let start = end;
        end += piece.size;
        (start, piece)
    });
    pieces.find(|(start, piece)| *start >= from && stored.has(piece))
}

/// Appends a range of a part, or the whole part if the server doesn't support ranges. The file and
/// the hash always cover the same bytes.
fn receive(
    remote: &mut RemoteGeneration<'_>,
    part: &PartEntry,
    range: Range<u64>,
    file: &mut File,
    hasher: &mut blake3::Hasher,
    received: &mut u64,
) -> Result<(), FollowError> {
    let url = remote.url_of(&part.name);
    let failed = |source| StoreError::Io { doing: "writing", path: part.name.clone().into(), source };
    let (range, mut body) = remote.open(&part.name, range, part.size)?;
    if range.start == 0 {
        file.set_len(0).map_err(failed)?;
        hasher.reset();
    }
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = match body.read(&mut block) {
            Ok(0) if hasher.count() < range.end => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let read = read.map_err(|source| FollowError::Cut { url: url.clone(), received: hasher.count(), source })?;
        if read == 0 {
            return Ok(());
        }
        *received += read as u64;
        if hasher.count() + read as u64 > range.end {
            return Err(FollowError::Damaged { url, what: "it is longer than the manifest says" });
        }
        file.write_all(&block[..read]).map_err(failed)?;
        hasher.update(&block[..read]);
    }
}

fn is_disk_full(error: &FollowError) -> bool {
    let FollowError::Store(StoreError::Io { source, .. }) = error else { return false };
    matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NAME: &str = "0123456789abcdef-0001";

    fn manifest() -> Value {
        json!({
            "format": INDEX_FORMAT, "generation": "0123456789abcdef", "build": "0001", "built_at": "2026-01-01T00:00:00Z",
            "software_count": 1, "inputs": [], "skipped": {"exports": 0, "records": 0},
            "parts": [{"name": "search", "size": 1, "blake3": "0".repeat(64)}]
        })
    }

    fn refused(manifest: &Value) -> String {
        read_manifest(NAME, manifest.to_string().as_bytes()).expect_err("refused").to_string()
    }

    #[test]
    fn an_error_about_another_format_names_both_formats() {
        let mut other = manifest();
        other["format"] = json!(INDEX_FORMAT + 1);
        other["parts"] = json!("another shape");
        assert!(refused(&other).contains(&format!("index format {}", INDEX_FORMAT + 1)));
    }

    #[test]
    fn a_manifest_that_contains_paths_or_huge_sizes_is_rejected() {
        read_manifest(NAME, manifest().to_string().as_bytes()).expect("a valid manifest");
        for name in ["../evil", "/etc/passwd", "a/b", "..", ".next-1", "", "manifest.json", "a\\b", "a\0b"] {
            let mut hostile = manifest();
            hostile["parts"][0]["name"] = json!(name);
            assert!(refused(&hostile).contains("it names an unknown or repeated part"), "{name}");
        }
        let mut twice = manifest();
        twice["parts"] = json!([manifest()["parts"][0], manifest()["parts"][0]]);
        assert!(refused(&twice).contains("it names an unknown or repeated part"));
        let mut huge = manifest();
        huge["parts"][0]["size"] = json!(u64::MAX);
        assert!(refused(&huge).contains("are allowed"));
        let mut many = manifest();
        many["parts"] =
            (0..300).map(|n| json!({"name": format!("p{n}"), "size": 1, "blake3": "0".repeat(64)})).collect();
        assert!(refused(&many).contains("300 parts"));
        let mut unhashed = manifest();
        unhashed["parts"][0]["blake3"] = json!("");
        assert!(refused(&unhashed).contains("no BLAKE3 hash"));
        let mut misfit = manifest();
        let piece = |size: u64| json!({"size": size, "blake3": "0".repeat(64)});
        for pieces in [json!([piece(0)]), json!([piece(1), piece(1)]), json!([piece(u64::MAX), piece(2)])] {
            misfit["parts"][0]["pieces"] = pieces;
            assert!(refused(&misfit).contains("don't add up to its size"));
        }
        for size in [0, (64 << 20) + 1] {
            misfit["parts"][0]["size"] = json!(size + 1);
            misfit["parts"][0]["pieces"] = json!([piece(1), piece(size)]);
            assert!(refused(&misfit).contains(&format!("with {size} bytes; a piece has 1 to 67108864")));
        }
        let mut other = manifest();
        other["build"] = json!("../x");
        assert!(refused(&other).contains("another generation"));
        assert!(read_manifest(NAME, b"<html>").is_err());
    }
}
