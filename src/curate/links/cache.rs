//! The file that stores the results of link checks, so that a later run requests only links that
//! are due.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::outcome::{Known, Outcome, Visit};

/// Maximum size of the file in bytes, enough for a million links.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
const FORMAT: u32 = 1;
/// A link that hasn't been checked for this long is forgotten.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(180 * 24);

/// What is known about links, by address.
#[derive(Debug, Default)]
pub struct LinkCache(BTreeMap<Box<str>, Known>);

#[derive(Deserialize)]
struct Document {
    format: u32,
    links: Vec<Known>,
}

/// Why a file isn't a link cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("it can't be read")]
    Read(#[from] io::Error),
    #[error("it isn't a link cache, or it's damaged")]
    Damaged(#[from] serde_json::Error),
    #[error("it has format {0}, but this version only reads format {FORMAT}")]
    Format(u32),
    #[error("it is larger than {MAX_BYTES} bytes")]
    TooLarge,
}

impl LinkCache {
    pub fn read(file: impl Read) -> Result<Self, CacheError> {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(CacheError::TooLarge);
        }
        let document: Document = serde_json::from_slice(&bytes)?;
        if document.format != FORMAT {
            return Err(CacheError::Format(document.format));
        }
        Ok(Self(document.links.into_iter().map(|known| (known.url.clone(), known)).collect()))
    }

    /// Writes the file, one link per line.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"format\":{FORMAT},\"links\":[")?;
        for (index, known) in self.0.values().enumerate() {
            out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, known)?;
        }
        out.write_all(b"\n]}\n")
    }

    pub(super) fn get(&self, url: &str) -> Option<&Known> {
        self.0.get(url)
    }

    pub(super) fn is_due(&self, url: &str, now: Timestamp) -> bool {
        self.0.get(url).is_none_or(|known| {
            // The next run may be allowed to reach private addresses, and a wrong clock may have
            // left a time in the future.
            known.due_at <= now || known.outcome == Outcome::NotPublic || known.checked_at > now
        })
    }

    pub(super) fn learn(&mut self, url: &str, visit: Visit, now: Timestamp) {
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let known = Known::after(url, visit, now, self.0.get(url));
        self.0.insert(url.into(), known);
    }

    pub(super) fn forget_old(&mut self, now: Timestamp) {
        self.0.retain(|_, known| now.duration_since(known.checked_at) < FORGOTTEN_AFTER);
    }
}
