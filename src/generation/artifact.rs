//! A generation's parts as named byte sequences: what a build creates, what's stored on disk, and
//! what a snapshot is opened from. The same code opens fresh and stored generations.

use std::io;

use bytes::Bytes;

use crate::catalogue::MAX_DOWNLOADS;
use crate::scratch::Bulk;

pub const TABLES: &str = "catalogue.tables";
pub const TEXTS: &str = "catalogue.texts";
/// The name prefix of the parts that contain the validated exports, for download. A number follows,
/// starting from 0.
const DOWNLOADS: &str = "catalogue.downloads.";
/// The product versions, sorted by id. The next generation is compared with them.
pub const VERSIONS: &str = "catalogue.versions";
pub const CHANGES: &str = "changes";
pub const SEARCH: &str = "search";
/// The name prefix of the search index's files.
pub const INDEX: &str = "engine.";

/// The maximum size of a part in bytes. For a million records, all parts together take 1.25 GB.
const MAX_PART_BYTES: u64 = 64 << 30;
/// The maximum size of the change log in bytes: twice as much as is ever written.
pub(crate) const MAX_LOG_BYTES: u64 = 64 << 20;

/// The maximum size in bytes of a part with this name; `None` if no generation has such a part.
pub(crate) fn max_bytes(name: &str) -> Option<u64> {
    match name {
        CHANGES => Some(MAX_LOG_BYTES),
        TABLES | TEXTS | VERSIONS | SEARCH => Some(MAX_PART_BYTES),
        name => (is_download(name) || name.starts_with(INDEX)).then_some(MAX_PART_BYTES),
    }
}

/// The named parts that a build has created, in memory or in scratch files.
pub type Parts = Vec<(String, Bulk)>;

/// The parts of a generation that are needed to open a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Artifact {
    /// Each part's name and content.
    pub parts: Vec<(String, Bytes)>,
    /// The named download parts, which stay on disk.
    pub downloads: Vec<(String, Bulk)>,
}

pub fn download_name(number: usize) -> String {
    format!("{DOWNLOADS}{number}")
}

pub fn is_download(name: &str) -> bool {
    let number = name.strip_prefix(DOWNLOADS).and_then(|number| number.parse().ok());
    number.is_some_and(|number| number < MAX_DOWNLOADS && download_name(number) == name)
}

impl Artifact {
    /// Reads the parts that a build has created into memory.
    pub fn read(parts: Parts) -> io::Result<Self> {
        let parts = parts.into_iter().map(|(name, content)| Ok((name, content.read_all()?)));
        Ok(Self { parts: parts.collect::<io::Result<_>>()?, downloads: Vec::new() })
    }

    /// Removes a part and returns its content.
    pub fn take(&mut self, name: &str) -> Option<Bytes> {
        let index = self.parts.iter().position(|(of, _)| of == name)?;
        Some(self.parts.swap_remove(index).1)
    }

    /// Removes the parts whose names start with a prefix, and returns them with the rest of their
    /// names.
    pub fn take_prefixed(&mut self, prefix: &str) -> Vec<(String, Bytes)> {
        let taken = self.parts.extract_if(.., |(name, _)| name.starts_with(prefix));
        taken.map(|(name, content)| (name[prefix.len()..].to_owned(), content)).collect()
    }

    /// Removes the download parts and returns them in numerical order.
    pub fn take_downloads(&mut self) -> Vec<Bulk> {
        let mut take = |name: String| {
            let elsewhere = self.downloads.iter().find(|(of, _)| *of == name).map(|(_, content)| content.clone());
            elsewhere.or_else(|| self.take(&name).map(Bulk::Memory))
        };
        let downloads = (0..).map_while(|number| take(download_name(number))).collect();
        self.downloads.clear();
        downloads
    }
}
