//! A generation's parts other than its documents, stored as checksummed pieces in a separate index.
//! Servers keep some of them in memory and read others piece by piece.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::bulk::BulkLoader;
use super::cluster::{Cluster, ClusterError, ClusterRequest};
use super::document::{Checksum, Document, Totals};
use crate::catalogue::{Bulk, Pieces, Span};
use crate::engine::{EngineError, FillError};

/// The suffix of the parts index's name.
pub(super) const PARTS: &str = "-parts";

/// The size of a piece in bytes. A part's last piece may be smaller.
const PIECE_BYTES: usize = 1024 * 1024;

/// The maximum size of a part that's read into memory. It keeps a damaged manifest from exhausting
/// a server's memory.
const MAX_BYTES: u64 = 64 * 1024 * 1024 * 1024;

const READ_AT_ONCE: usize = 8;

const MANIFEST: &str = "manifest";

/// What a generation's indices contain. It's written once everything has been verified, so an index
/// without a manifest belongs to an unfinished fill.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The parts' sizes in bytes.
    pub(super) parts: BTreeMap<String, u64>,
    pub(super) products: Totals,
    pub(super) reviews: Totals,
    /// Number of shards in the product index.
    pub(super) shards: usize,
}

#[derive(Serialize, Deserialize)]
struct Piece {
    /// In base64.
    data: String,
    /// The BLAKE3 hash of the piece's id and bytes, in hexadecimal.
    blake3: String,
}

#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("part {name} of the generation in {index} is damaged; rebuild it with --reindex")]
    Damaged { index: String, name: String },
    #[error("a scratch file can't be written")]
    File(#[source] io::Error),
}

impl From<PartsError> for EngineError {
    fn from(error: PartsError) -> Self {
        match error {
            PartsError::Cluster(error) => error.into(),
            other => Self::index("read")(other),
        }
    }
}

/// Writes parts and returns their sizes. Apart from requests in flight, only one piece is in memory
/// at a time.
pub(super) async fn write_parts(
    cluster: &Arc<Cluster>,
    index: &str,
    parts: &[(String, Bulk)],
) -> Result<BTreeMap<String, u64>, FillError> {
    let mut sizes = BTreeMap::new();
    let mut loader = BulkLoader::new(Arc::clone(cluster), &format!("{index}{PARTS}"));
    for (name, content) in parts {
        let size_bytes = content.len().map_err(FillError::Scratch)?;
        for (number, start) in (0..).zip((0..size_bytes).step_by(PIECE_BYTES)) {
            let span = Span { start, length: (size_bytes - start).min(PIECE_BYTES as u64) };
            let (id, data) = (piece_id(name, number), content.read(span).map_err(FillError::Scratch)?);
            let piece = Piece { data: BASE64_STANDARD.encode(&data), blake3: checksum(&id, &data) };
            loader.push(&document(&id, &piece)?).await?;
        }
        sizes.insert(name.clone(), size_bytes);
    }
    loader.finish().await?;
    Ok(sizes)
}

pub(super) async fn write_manifest(
    cluster: &Arc<Cluster>,
    index: &str,
    manifest: &Manifest,
) -> Result<(), EngineError> {
    let mut loader = BulkLoader::new(Arc::clone(cluster), &format!("{index}{PARTS}"));
    loader.push(&document(MANIFEST, manifest)?).await?;
    loader.finish().await
}

#[derive(Debug)]
pub struct Parts {
    cluster: Arc<Cluster>,
    index: Arc<str>,
    pub(super) manifest: Manifest,
}

impl Parts {
    /// Reads the manifest.
    pub async fn open(cluster: Arc<Cluster>, index: &str) -> Result<Self, PartsError> {
        let manifest = read(&cluster, index, MANIFEST).await?;
        Ok(Self { cluster, index: index.into(), manifest })
    }

    /// Reads every part and verifies its checksums.
    pub(super) async fn verify(&self) -> Result<(), PartsError> {
        for part in self.manifest.parts.keys().filter_map(|name| self.get(name)) {
            part.copy_to(&mut io::sink()).await?;
        }
        Ok(())
    }

    /// Replaces a part of a generation that isn't being served. If this is interrupted, the
    /// generation is no longer complete.
    pub async fn replace(&mut self, name: &str, content: Bulk) -> Result<(), FillError> {
        let sizes = write_parts(&self.cluster, &self.index, &[(name.to_owned(), content)]).await?;
        self.manifest.parts.extend(sizes);
        Ok(write_manifest(&self.cluster, &self.index, &self.manifest).await?)
    }

    /// Returns a part; `None` if the generation doesn't have it.
    pub fn get(&self, name: &str) -> Option<Part> {
        let size_bytes = *self.manifest.parts.get(name)?;
        let (cluster, index) = (Arc::clone(&self.cluster), Arc::clone(&self.index));
        Some(Part { cluster, index, name: name.into(), size_bytes })
    }
}

#[derive(Debug, Clone)]
pub struct Part {
    cluster: Arc<Cluster>,
    index: Arc<str>,
    name: Arc<str>,
    size_bytes: u64,
}

impl Part {
    pub async fn read(&self) -> Result<Bytes, PartsError> {
        let length = usize::try_from(self.size_bytes).ok().filter(|_| self.size_bytes <= MAX_BYTES);
        let mut content = Vec::with_capacity(length.ok_or_else(|| self.damaged())?);
        self.copy_to(&mut content).await?;
        Ok(content.into())
    }

    pub async fn copy_to(&self, file: &mut (impl io::Write + Send)) -> Result<(), PartsError> {
        let numbers: Vec<_> = (0..self.size_bytes.div_ceil(PIECE_BYTES as u64)).collect();
        for numbers in numbers.chunks(READ_AT_ONCE) {
            for piece in try_join_all(numbers.iter().map(|number| self.piece(*number))).await? {
                file.write_all(&piece).map_err(PartsError::File)?;
            }
        }
        Ok(())
    }

    /// Reads a piece by its number, which starts from 0.
    async fn piece(&self, number: u64) -> Result<Bytes, PartsError> {
        let id = piece_id(&self.name, number);
        let piece: Piece = read(&self.cluster, &self.index, &id).await?;
        let data = BASE64_STANDARD.decode(piece.data).map_err(|_| self.damaged())?;
        let length = self.size_bytes.saturating_sub(number.saturating_mul(PIECE_BYTES as u64)).min(PIECE_BYTES as u64);
        if data.len() as u64 != length || checksum(&id, &data) != piece.blake3 {
            return Err(self.damaged());
        }
        Ok(data.into())
    }

    fn damaged(&self) -> PartsError {
        PartsError::Damaged { index: self.index.to_string(), name: self.name.to_string() }
    }

    /// Wraps the part for threads that may block. Must be called on a runtime, which then does the
    /// reading.
    pub fn blocking(self) -> BlockingPart {
        BlockingPart { part: self, runtime: Handle::current() }
    }
}

/// A part for threads that may block; the runtime does the reading.
#[derive(Debug)]
pub struct BlockingPart {
    part: Part,
    runtime: Handle,
}

impl Pieces for BlockingPart {
    fn size_bytes(&self) -> u64 {
        self.part.size_bytes
    }

    fn read(&self, at: u64) -> io::Result<(u64, Bytes)> {
        let (sender, receiver) = oneshot::channel();
        let (part, number) = (self.part.clone(), at / PIECE_BYTES as u64);
        // Read in a task, because a runtime that's shutting down drops tasks instead of panicking.
        self.runtime.spawn(async move { drop(sender.send(part.piece(number).await)) });
        let piece = receiver.blocking_recv().map_err(|_| io::Error::other("the server is shutting down"))?;
        Ok((number * PIECE_BYTES as u64, piece.map_err(|error| io::Error::other(EngineError::from(error)))?))
    }
}

async fn read<T: serde::de::DeserializeOwned>(cluster: &Cluster, index: &str, id: &str) -> Result<T, ClusterError> {
    cluster.send(ClusterRequest::document(&format!("/{index}{PARTS}/_source/{id}"))).await?.json()
}

fn piece_id(name: &str, number: u64) -> String {
    format!("{name}-{number}")
}

/// A piece's checksum. Covers the id, so that no piece can be mistaken for another.
fn checksum(id: &str, data: &[u8]) -> String {
    blake3::Hasher::new().update(id.as_bytes()).update(data).finalize().to_hex().to_string()
}

fn document(id: &str, content: &impl Serialize) -> Result<Document, EngineError> {
    let source = serde_json::to_vec(content).map_err(EngineError::index("written"))?;
    Ok(Document { id: id.to_owned(), source, checksum: Checksum::default() })
}
