//! One generation of the directory: built whole, checked, persisted, published with one atomic store, and watched for.

mod directory;

pub use directory::{Degraded, Directory};

use std::sync::Arc;

use bytes::Bytes;

use crate::export::Export;

/// One immutable generation of the directory. A request takes the current one once and uses nothing else.
#[derive(Debug)]
pub struct Snapshot {}

impl Snapshot {
    /// Builds a generation in memory.
    ///
    /// # Errors
    /// Where the engine can't index the records.
    pub fn build(exports: &[Export]) -> Result<Arc<Self>, Box<dyn std::error::Error + Send + Sync>> {
        todo!("{exports:?}")
    }

    /// The generation's name: the hash of its content and of the index format, as hexadecimal digits.
    #[must_use]
    pub fn generation(&self) -> &str {
        todo!()
    }
}

/// An export as it was validated, for download.
#[derive(Debug)]
pub struct ExportDocument {}

impl ExportDocument {
    /// The licence that governs the document: a URI.
    #[must_use]
    pub fn license(&self) -> &str {
        todo!()
    }

    /// The whole document, byte for byte.
    #[must_use]
    pub fn json(&self) -> Bytes {
        todo!()
    }

    /// One record a line, each an object that also carries `export` (id, name, license, `as_of`).
    #[must_use]
    pub fn ndjson(&self) -> Bytes {
        todo!()
    }
}
