//! What servers hold in memory of a generation, as checksummed pieces in an index of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use super::bulk::BulkLoader;
use super::cluster::{Cluster, ClusterError, ClusterRequest};
use super::document::{Checksum, Document};
use crate::engine::EngineError;

/// The end of the name of the parts' index.
pub(super) const PARTS: &str = "-parts";

/// The bytes of a piece.
const PIECE_BYTES: usize = 1024 * 1024;

/// The bytes of all parts at most: a damaged manifest doesn't take a server's memory.
const MAX_BYTES: u64 = 64 * 1024 * 1024 * 1024;

/// The pieces that are read at once.
const READ_AT_ONCE: usize = 8;

/// The id of the manifest.
const MANIFEST: &str = "manifest";

/// The parts of a generation, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    parts: BTreeMap<String, PartEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PartEntry {
    bytes: u64,
    /// The BLAKE3 hash in hexadecimal digits.
    blake3: String,
}

#[derive(Serialize, Deserialize)]
struct Piece {
    /// In base64.
    data: String,
}

/// Why parts can't be read.
#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    /// The cluster doesn't have them, or doesn't respond.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A part isn't as it was written.
    #[error("the part {name} of the generation in {index} is damaged: build it again with --reindex")]
    Damaged {
        /// The index.
        index: String,
        /// The part.
        name: String,
    },
}

/// Writes the parts of a generation to an index, and the manifest last.
///
/// # Errors
/// Where they can't be stored.
pub(super) async fn write_parts(
    cluster: &Arc<Cluster>,
    index: &str,
    parts: &[(String, Bytes)],
) -> Result<(), EngineError> {
    let mut manifest = Manifest::default();
    let mut loader = BulkLoader::new(Arc::clone(cluster), &format!("{index}{PARTS}"));
    for (name, content) in parts {
        for (number, piece) in content.chunks(PIECE_BYTES).enumerate() {
            let piece = Piece { data: BASE64_STANDARD.encode(piece) };
            loader.push(&document(&piece_id(name, number), &piece)?).await?;
        }
        let entry = PartEntry { bytes: content.len() as u64, blake3: blake3::hash(content).to_hex().to_string() };
        manifest.parts.insert(name.clone(), entry);
    }
    loader.finish().await?;
    loader.push(&document(MANIFEST, &manifest)?).await?;
    loader.finish().await
}

/// Reads parts of a generation, in the order of the names; one that the generation doesn't have is left out.
///
/// # Errors
/// Where the cluster doesn't respond or a part is damaged.
pub async fn read_parts(cluster: &Cluster, index: &str, names: &[&str]) -> Result<Vec<(String, Bytes)>, PartsError> {
    let damaged = |name: &str| PartsError::Damaged { index: index.to_owned(), name: name.to_owned() };
    let manifest: Manifest = read(cluster, index, MANIFEST).await?;
    let bytes = manifest.parts.values().map(|entry| entry.bytes).fold(0_u64, u64::saturating_add);
    if bytes > MAX_BYTES {
        return Err(damaged(MANIFEST));
    }
    let mut parts = Vec::new();
    for name in names {
        let Some(entry) = manifest.parts.get(*name) else { continue };
        let length = usize::try_from(entry.bytes).map_err(|_| damaged(name))?;
        let mut content = Vec::with_capacity(length);
        let numbers: Vec<_> = (0..length.div_ceil(PIECE_BYTES)).collect();
        for numbers in numbers.chunks(READ_AT_ONCE) {
            let ids: Vec<_> = numbers.iter().map(|number| piece_id(name, *number)).collect();
            let pieces = ids.iter().map(|id| read::<Piece>(cluster, index, id));
            for piece in try_join_all(pieces).await? {
                content.extend(BASE64_STANDARD.decode(piece.data).map_err(|_| damaged(name))?);
            }
        }
        if content.len() != length || blake3::hash(&content).to_hex().as_str() != entry.blake3 {
            return Err(damaged(name));
        }
        parts.push(((*name).to_owned(), content.into()));
    }
    Ok(parts)
}

async fn read<T: serde::de::DeserializeOwned>(cluster: &Cluster, index: &str, id: &str) -> Result<T, ClusterError> {
    cluster.send(ClusterRequest::get(&format!("/{index}{PARTS}/_source/{id}"))).await?.json()
}

fn piece_id(name: &str, number: usize) -> String {
    format!("{name}-{number}")
}

fn document(id: &str, content: &impl Serialize) -> Result<Document, EngineError> {
    let source = serde_json::to_vec(content).map_err(EngineError::index("written"))?;
    Ok(Document { id: id.to_owned(), source, checksum: Checksum::default() })
}
