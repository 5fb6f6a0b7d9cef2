//! How a generation is named: by its content and by the form of the index.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::export::Export;

/// The form of what is persisted. Counted up whenever a build makes something else of the same exports.
pub const INDEX_FORMAT: u32 = 4;

/// A generation's name: 16 hexadecimal digits, the start of a BLAKE3 hash over the index format and the id and document
/// of every export.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Generation(Box<str>);

impl Generation {
    /// The generation that exports make, in whatever order they come.
    #[must_use]
    pub fn of(exports: &[Export]) -> Self {
        let mut exports: Vec<_> = exports.iter().collect();
        exports.sort_by(|a, b| a.id.cmp(&b.id));
        let mut hasher = blake3::Hasher::new();
        hasher.update(&INDEX_FORMAT.to_le_bytes());
        for export in exports {
            // Lengths in between, so that no two sets read alike.
            hasher.update(&(export.id.len() as u64).to_le_bytes());
            hasher.update(export.id.as_bytes());
            hasher.update(&(export.document.len() as u64).to_le_bytes());
            hasher.update(&export.document);
        }
        Self(hasher.finalize().to_hex()[..16].into())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
