//! A generation's name, derived from its content and the index format.

use std::fs::{self, File};
use std::path::PathBuf;
use std::{fmt, io};

use serde::{Deserialize, Serialize};

use crate::export::{ExportSet, IdPrefixes, Limits, Skipped, TrustedKeys, read_signature, signature_path};
use crate::scratch::{Bulk, Span};
use crate::search::ANALYZER_VERSION;
use crate::text::{meaning, stem};

/// The format of what's persisted. Incremented whenever a build would produce something different
/// from the same exports.
pub const INDEX_FORMAT: u32 = 25;

/// A generation's name: 16 hexadecimal digits from a BLAKE3 hash over the index format, the
/// versions of the analyzer, its libraries and the table of word meanings, and each export's id,
/// document and signature.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Generation(Box<str>);

impl Generation {
    /// The generation for a set of exports.
    pub fn of(set: &ExportSet) -> io::Result<Self> {
        let mut namer = Namer::new();
        for export in set.by_id() {
            let (document, length) = (&export.document, export.document.len()?);
            namer.begin(&export.export.id, length);
            match document {
                Bulk::Memory(bytes) => namer.0.update(bytes),
                Bulk::File(_) => namer.0.update_reader(document.reader(Span { start: 0, length })?)?,
            };
            if let Some(signature) = &export.export.signature {
                namer.sign(&signature.text);
            }
        }
        Ok(namer.finish())
    }

    /// The generation for the same exports with something else that affects the result.
    fn with(self, add: impl FnOnce(&mut Namer)) -> Self {
        let mut namer = Namer::new();
        namer.0.update(self.0.as_bytes());
        add(&mut namer);
        namer.finish()
    }

    /// The generation for the same exports with the keys that signed them.
    #[must_use]
    pub fn trusting(self, keys: &TrustedKeys) -> Self {
        if keys.is_empty() {
            return self;
        }
        self.with(|namer| keys.iter().for_each(|key| namer.sign(key)))
    }

    /// The generation for the same exports with the operator's id prefixes.
    #[must_use]
    pub fn prefixed(self, prefixes: &IdPrefixes) -> Self {
        if prefixes.is_empty() {
            return self;
        }
        self.with(|namer| {
            for (export, prefix) in prefixes {
                namer.begin(export, prefix.len() as u64);
                namer.0.update(prefix.as_bytes());
            }
        })
    }

    /// The generation for the same exports with or without meaning vectors.
    #[must_use]
    pub fn with_meaning(self, meaning: MeaningOption) -> Self {
        match meaning {
            MeaningOption::On => self,
            MeaningOption::Off => self.with(|namer| _ = namer.0.update(b"meaning off")),
        }
    }

    /// The generation for the same exports if they're just the valid part of a set. It has its own
    /// name even if only whole exports are left out, so it's never mistaken for a complete set
    /// without them.
    #[must_use]
    pub fn skipping(self, skipped: Skipped) -> Self {
        if skipped.is_none() {
            return self;
        }
        self.with(|namer| {
            namer.0.update(&skipped.exports.to_le_bytes());
            namer.0.update(&skipped.records.to_le_bytes());
        })
    }

    /// The generation for the files if nothing is left out, computed from their bytes alone. The
    /// files aren't checked or kept in memory, and the operator's prefixes aren't included. `None`
    /// if they can't form a generation as they are.
    pub fn from_files(files: &[PathBuf], limits: &Limits) -> io::Result<Option<Self>> {
        let ids = files.iter().map(|path| Some((path.file_stem()?.to_str()?, path)));
        let Some(mut files) = ids.collect::<Option<Vec<_>>>() else { return Ok(None) };
        files.sort_unstable();
        let mut namer = Namer::new();
        for (id, path) in files {
            // Check before opening, because opening a named pipe would wait for a writer.
            let metadata = fs::metadata(path)?;
            if !metadata.is_file() || metadata.len() > limits.max_file_bytes {
                return Ok(None);
            }
            namer.begin(id, metadata.len());
            let before = namer.0.count();
            namer.0.update_reader(File::open(path)?)?;
            if namer.0.count() - before != metadata.len() {
                return Ok(None);
            }
            if !limits.trusted_keys.is_empty() {
                let Ok(signature) = read_signature(&signature_path(path)) else { return Ok(None) };
                namer.sign(&signature);
            }
        }
        Ok(Some(namer.finish()))
    }

    /// A generation whose name is already known.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Computes a generation's name from its exports in id order.
#[derive(Debug)]
struct Namer(blake3::Hasher);

impl Namer {
    fn new() -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&INDEX_FORMAT.to_le_bytes());
        hasher.update(&ANALYZER_VERSION.to_le_bytes());
        hasher.update(stem::VERSION.as_bytes());
        hasher.update(&meaning::TABLE.to_le_bytes());
        for (major, minor, patch) in [char::UNICODE_VERSION, unicode_normalization::UNICODE_VERSION] {
            hasher.update(&[major, minor, patch]);
        }
        Self(hasher)
    }

    /// Starts hashing an export. Its bytes must be hashed next.
    fn begin(&mut self, id: &str, length: u64) {
        // Including the lengths means no two sets hash the same bytes.
        self.0.update(&(id.len() as u64).to_le_bytes());
        self.0.update(id.as_bytes());
        self.0.update(&length.to_le_bytes());
    }

    /// Hashes an export's signature, or a key.
    fn sign(&mut self, text: &str) {
        self.begin("minisig", text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn finish(self) -> Generation {
        Generation(self.0.finalize().to_hex()[..16].into())
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether records get meaning vectors, which searches use for ranking. It affects a generation's
/// name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeaningOption {
    #[default]
    On,
    Off,
}
