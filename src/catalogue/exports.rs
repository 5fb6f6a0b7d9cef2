//! The exports as they were validated, for download.

use std::io;
use std::ops::Range;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Catalogue;
use super::arena::{Arena, Span};
use super::bulk::Bulk;
use crate::export::{Export, write_compact};
use crate::resource::{ExportRef, ExportResource};

/// Compression of the documents kept for download (zstd's scale, 1 to 22): nearly as small as higher ones, at a
/// fraction of their time.
const ZSTD_LEVEL: i32 = 3;

/// One export of the directory.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportDocument {
    /// What lists show.
    pub resource: ExportResource,
    /// The same as a JSON object without its closing brace.
    pub object: Span,
    /// What the answer of each of its products ends with.
    pub tail: Span,
    /// Where the document lies among those for download, compressed with zstd.
    compressed: Span,
    /// BLAKE3 of what lies there, for it may be read from a disk long after it was written.
    hash: [u8; 32],
    /// Where each product's element lies in the document: start and end. A document is below 4 GiB.
    software_spans: Vec<(u32, u32)>,
}

/// A document among those for download.
pub(super) struct StoredDocument {
    compressed: Span,
    hash: [u8; 32],
    software_spans: Vec<(u32, u32)>,
}

impl StoredDocument {
    /// Compresses a document. `spans` are those of its products.
    ///
    /// # Errors
    /// Where it can't be compressed.
    pub(super) fn push(downloads: &mut Arena, document: &[u8], spans: &[Range<usize>]) -> io::Result<Self> {
        let compressed = zstd::bulk::compress(document, ZSTD_LEVEL)?;
        let place = |at: usize| u32::try_from(at).map_err(io::Error::other);
        let software_spans =
            spans.iter().map(|span| Ok((place(span.start)?, place(span.end)?))).collect::<io::Result<_>>()?;
        Ok(Self {
            hash: *blake3::hash(&compressed).as_bytes(),
            compressed: downloads.push(&compressed),
            software_spans,
        })
    }
}

impl ExportDocument {
    /// What lists show of an export.
    pub(super) fn resource(export: &Export) -> ExportResource {
        let count = |n: usize| n as u64;
        ExportResource {
            id: export.id.to_string(),
            name: export.name.to_string(),
            license: export.license.to_string(),
            as_of: export.as_of.as_deref().map(str::to_owned),
            software_count: count(export.software.len()),
            category_count: count(export.categories.len()),
            review_count: count(export.reviews.len()),
            glossary_count: count(export.glossary.len()),
            size_bytes: count(export.document.len()),
        }
    }

    /// Lays out in the arena what is shown of an export whose document is stored.
    ///
    /// # Errors
    /// Where it can't be written.
    pub(super) fn push(
        arena: &mut Arena,
        resource: ExportResource,
        tail: &[u8],
        stored: StoredDocument,
    ) -> Result<Self, serde_json::Error> {
        let object = arena.push_open_object(&resource)?;
        let StoredDocument { compressed, hash, software_spans } = stored;
        Ok(Self { resource, object, tail: arena.push(tail), compressed, hash, software_spans })
    }

    /// The first byte of the arena behind the export's texts.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.object.end().max(self.tail.end())
    }

    /// The first byte behind its document among those for download.
    #[must_use]
    pub const fn download_end(&self) -> u64 {
        self.compressed.end()
    }

    /// The whole document, byte for byte. Takes time in proportion to its size.
    ///
    /// # Errors
    /// Where the kept document can't be read, or is damaged.
    pub fn json(&self, catalogue: &Catalogue) -> io::Result<Bytes> {
        let document = self.decompress(&catalogue.downloads);
        if document.is_err() {
            catalogue.note_damage();
        }
        document
    }

    fn decompress(&self, downloads: &Bulk) -> io::Result<Bytes> {
        let size = usize::try_from(self.resource.size_bytes).map_err(io::Error::other)?;
        let compressed = downloads.read(self.compressed)?;
        if blake3::hash(&compressed) != self.hash {
            let what = format!("the document of the export `{}` isn't what was written to disk", self.resource.id);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        zstd::bulk::decompress(&compressed, size).map(Bytes::from)
    }

    /// One record a line, each the export's own object with `export` (id, name, licence, date) added, so that the licence
    /// stays on each. A record's own property `export` moves to `additional_properties`.
    ///
    /// # Errors
    /// Where the kept document can't be read, or is damaged.
    pub fn ndjson(&self, catalogue: &Catalogue) -> io::Result<Bytes> {
        let document = self.json(catalogue)?;
        let reference = serde_json::to_string(&ExportRef {
            id: &self.resource.id,
            name: &self.resource.name,
            license: &self.resource.license,
            as_of: self.resource.as_of.as_deref(),
        })?;
        let mut lines = String::with_capacity(document.len() + self.software_spans.len() * (reference.len() + 16));
        for (start, end) in &self.software_spans {
            write_line(&mut lines, &document, *start as usize..*end as usize, &reference)?;
        }
        Ok(Bytes::from(lines))
    }
}

fn write_line(lines: &mut String, document: &[u8], range: Range<usize>, reference: &str) -> io::Result<()> {
    let record = document.get(range).ok_or_else(|| io::Error::other("a record's span lies outside its document"))?;
    let record: Members<'_> = serde_json::from_slice(record)?;
    let mut own = None;
    lines.push('{');
    for (name, value) in record.0 {
        if name == "export" {
            own = Some(value);
            continue;
        }
        lines.push_str(&serde_json::to_string(&name)?);
        lines.push(':');
        write_compact(value.get(), lines);
        lines.push(',');
    }
    if let Some(own) = own {
        lines.push_str(r#""additional_properties":{"export":"#);
        write_compact(own.get(), lines);
        lines.push_str("},");
    }
    lines.push_str(r#""export":"#);
    lines.push_str(reference);
    lines.push_str("}\n");
    Ok(())
}

/// An object's members in the order written, their values untouched.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
