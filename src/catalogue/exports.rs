//! The validated exports, stored for download.

use std::borrow::Cow;
use std::io::{self, BufReader, Read, Write as _};
use std::ops::{Range, RangeInclusive};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use zstd::stream::Encoder;
use zstd::zstd_safe::CParameter;

use super::Catalogue;
use super::resource::Members;
use crate::catalogue::resource::{ExportRef, ExportResource};
use crate::export::{SetExport, write_compact};
use crate::scratch::{BulkReader, Span};
use crate::text::append;

/// The compression level for downloadable documents (zstd's scale, 1 to 22). Higher levels take far
/// longer and barely make the documents smaller.
const ZSTD_LEVEL: i32 = 3;

/// The compression window as a power of two: 128 KiB. A download's decoder then takes about 500
/// KiB: the window, two blocks of up to 128 KiB, and its state. The level's default of 2 MiB would
/// barely make the documents smaller.
const ZSTD_WINDOW_LOG: u32 = 17;

/// The compression window for product locations: 32 KiB. Their decoder, which only `ndjson` needs,
/// takes about 250 KiB.
const PLACES_WINDOW_LOG: u32 = 15;

/// The size of a product's location in bytes.
const PLACE_BYTES: usize = 8;

/// The block size for reading a stored document.
const BLOCK_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportDocument {
    /// What lists show, parsed from `object`.
    #[serde(skip)]
    pub resource: ExportResource,
    /// The same data as a JSON object.
    pub object: Span,
    /// The minisign signature of the document, by a key that's trusted.
    pub signature: Option<Box<str>>,
    pub(super) stored: StoredDocument,
}

/// A time in RFC 3339 format, in UTC and to the second; `None` if it can't be represented.
fn rfc3339(time: SystemTime) -> Option<String> {
    let time = jiff::Timestamp::try_from(time).ok()?;
    Some(jiff::Timestamp::from_second(time.as_second()).ok()?.to_string())
}

/// A document that can be downloaded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct StoredDocument {
    /// The number of the part that contains the document.
    part: u32,
    /// The range of the document in that part. It's compressed with zstd.
    compressed: Span,
    /// The range of the product locations, which follow the document and are also compressed. Each
    /// location consists of the gap since the previous product and the product's length, in bytes,
    /// as little-endian 32-bit numbers. Documents are smaller than 4 GiB.
    places: Span,
    /// The BLAKE3 hash of both ranges. They may be read from disk long after being written, so
    /// damage has to be detected.
    hash: [u8; 32],
}

impl StoredDocument {
    /// Compresses a document that will be stored at offset `start` of a part. `spans` are the
    /// products' ranges. Also returns the compressed bytes.
    pub(super) fn compress(
        (part, start): (u32, u64),
        document: &[u8],
        spans: &[Range<usize>],
    ) -> io::Result<(Self, Vec<u8>)> {
        let mut bytes = compress(document, ZSTD_WINDOW_LOG)?;
        let compressed = Span { start, length: bytes.len() as u64 };
        bytes.extend(compress(&places(spans)?, PLACES_WINDOW_LOG)?);
        let places = Span { start: compressed.end(), length: bytes.len() as u64 - compressed.length };
        Ok((Self { part, compressed, places, hash: *blake3::hash(&bytes).as_bytes() }, bytes))
    }

    /// The range of the document and its product locations.
    fn span(&self) -> Span {
        Span { length: self.compressed.length.saturating_add(self.places.length), ..self.compressed }
    }
}

fn compress(content: &[u8], window_log: u32) -> io::Result<Vec<u8>> {
    let mut encoder = Encoder::new(Vec::new(), ZSTD_LEVEL)?;
    encoder.set_parameter(CParameter::WindowLog(window_log))?;
    encoder.set_pledged_src_size(Some(content.len() as u64))?;
    encoder.write_all(content)?;
    encoder.finish()
}

/// Encodes product locations.
fn places(spans: &[Range<usize>]) -> io::Result<Vec<u8>> {
    let mut places = Vec::with_capacity(spans.len() * PLACE_BYTES);
    let mut before = 0;
    for span in spans {
        for length in [span.start.checked_sub(before), span.end.checked_sub(span.start)] {
            let length = length.and_then(|length| u32::try_from(length).ok()).ok_or_else(misplaced)?;
            places.extend_from_slice(&length.to_le_bytes());
        }
        before = span.end;
    }
    Ok(places)
}

/// A document's size, and its SHA-256 hash in hexadecimal digits.
fn digest(mut document: impl Read) -> io::Result<(u64, String)> {
    let (mut sha256, mut size, mut block) = (Sha256::new(), 0, vec![0; BLOCK_BYTES]);
    loop {
        match document.read(&mut block)? {
            0 => return Ok((size, hex::encode(sha256.finalize()))),
            read => {
                sha256.update(&block[..read]);
                size += read as u64;
            }
        }
    }
}

fn misplaced() -> io::Error {
    io::Error::other("a record's location is outside its document")
}

impl ExportDocument {
    /// An export as shown in lists.
    pub(super) fn resource(set: &SetExport) -> io::Result<ExportResource> {
        let (count, export) = (|n: usize| n as u64, &set.export);
        let (size_bytes, sha256) = digest(set.document.reader(Span { start: 0, length: set.document.len()? })?)?;
        Ok(ExportResource {
            id: export.id.to_string(),
            name: export.name.to_string(),
            id_prefix: (!export.id_prefix.is_empty()).then(|| export.id_prefix.to_string()),
            license: export.license.to_string(),
            as_of: export.as_of.as_deref().map(str::to_owned),
            description: export.description.as_deref().map(str::to_owned),
            corrections: export.corrections.as_ref().map(|template| template.as_str().to_owned()),
            software_count: count(export.software_spans.len()),
            category_count: count(export.categories.len()),
            review_count: count(set.review_count()),
            glossary_count: count(export.glossary.len()),
            size_bytes,
            sha256,
            changed_at: export.modified.and_then(rfc3339),
            language: export.language.clone(),
            signed_by: export.signature.as_ref().map(|signature| signature.key_id.clone()),
        })
    }

    /// Whether the document and its product locations are within the download parts, which have
    /// these lengths.
    pub(super) fn fits(&self, downloads: &[u64]) -> bool {
        let end = self.stored.span().end().max(self.stored.places.end());
        downloads.get(self.stored.part as usize).is_some_and(|length| end <= *length)
    }

    /// Opens the document for download. The checksum is verified first, which takes time proportional
    /// to the compressed size.
    pub fn open(&self, catalogue: &Catalogue) -> io::Result<StoredExport> {
        let downloads = catalogue.downloads.get(self.stored.part as usize).ok_or(io::ErrorKind::NotFound)?;
        let verified = downloads.reader(self.stored.span()).and_then(|reader| self.verify(reader));
        if verified.is_err() {
            catalogue.note_damage();
        }
        verified?;
        let reference = serde_json::to_string(&ExportRef {
            id: Cow::Borrowed(&self.resource.id),
            name: Cow::Borrowed(&self.resource.name),
            license: Cow::Borrowed(&self.resource.license),
            as_of: self.resource.as_of.as_deref().map(Cow::Borrowed),
        })?;
        Ok(StoredExport {
            compressed: downloads.reader(self.stored.compressed)?,
            compressed_bytes: self.stored.compressed.length,
            size_bytes: self.resource.size_bytes,
            places: downloads.reader(self.stored.places)?,
            reference,
            id_prefix: self.resource.id_prefix.clone().unwrap_or_default(),
        })
    }

    fn verify(&self, reader: BulkReader) -> io::Result<()> {
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut BufReader::with_capacity(BLOCK_BYTES, reader), &mut hasher)?;
        if *hasher.finalize().as_bytes() != self.stored.hash {
            let what = format!("the document of export `{}` differs from what was written to disk", self.resource.id);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(())
    }
}

/// An export's document, ready to be read in one of its forms. It keeps its generation's download
/// file open, so it can outlive the generation.
#[derive(Debug)]
pub struct StoredExport {
    compressed: BulkReader,
    pub compressed_bytes: u64,
    /// The length of [`Self::json`].
    pub size_bytes: u64,
    places: BulkReader,
    /// What each `ndjson` line says about the export.
    reference: String,
    /// What the directory puts before the records' ids.
    id_prefix: String,
}

impl StoredExport {
    /// The document as stored: a zstd frame (RFC 8878).
    pub fn compressed(self) -> BulkReader {
        self.compressed
    }

    /// A range of the stored document.
    pub fn compressed_range(self, range: RangeInclusive<u64>) -> BulkReader {
        self.compressed.range(range)
    }

    /// The document, exactly as validated, byte for byte.
    pub fn json(self) -> io::Result<impl Read + Send> {
        decoder(self.compressed)
    }

    /// A range of the document. Everything before it is decompressed and discarded.
    pub fn json_range(self, range: RangeInclusive<u64>) -> io::Result<impl Read + Send> {
        let mut json = self.json()?;
        io::copy(&mut json.by_ref().take(*range.start()), &mut io::sink())?;
        Ok(json.take((range.end() + 1).saturating_sub(*range.start())))
    }

    /// One record per line: the export's own object plus `api_id`, its id in the directory, and
    /// `export` (id, name, licence, date), so the licence always comes with it. A record's own
    /// properties with these names move to `additional_properties`. Only one record is in memory at
    /// a time.
    pub fn ndjson(self) -> io::Result<impl Read + Send> {
        let Self { compressed, places, reference, id_prefix, .. } = self;
        let (document, places) = (decoder(compressed)?, decoder(places)?);
        Ok(Lines { document, places, reference, id_prefix, line: io::Cursor::default() })
    }
}

fn decoder(compressed: BulkReader) -> io::Result<zstd::Decoder<'static, BufReader<BulkReader>>> {
    let mut decoder = zstd::Decoder::with_buffer(BufReader::with_capacity(BLOCK_BYTES, compressed))?;
    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(decoder)
}

/// A document's records as lines.
struct Lines<R> {
    document: R,
    places: R,
    reference: String,
    id_prefix: String,
    /// The current line, which may be partly read.
    line: io::Cursor<String>,
}

impl<R: Read> Lines<R> {
    /// Builds the line for the next record; `false` after the last one.
    fn advance(&mut self) -> io::Result<bool> {
        let mut place = [0; PLACE_BYTES];
        if self.places.read(&mut place[..1])? == 0 {
            return Ok(false);
        }
        self.places.read_exact(&mut place[1..])?;
        let [a, b, c, d, length @ ..] = place;
        let (gap, length) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(length));
        io::copy(&mut self.document.by_ref().take(gap.into()), &mut io::sink())?;
        let mut record = Vec::new();
        self.document.by_ref().take(length.into()).read_to_end(&mut record)?;
        if record.len() != length as usize {
            return Err(misplaced());
        }
        let mut line = String::with_capacity(record.len() + self.reference.len() + 64);
        write_line(&mut line, &record, &self.id_prefix, &self.reference)?;
        self.line = io::Cursor::new(line);
        Ok(true)
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.line.read(buffer)?;
            if read > 0 || buffer.is_empty() || !self.advance()? {
                return Ok(read);
            }
        }
    }
}

fn write_line(line: &mut String, record: &[u8], id_prefix: &str, reference: &str) -> io::Result<()> {
    let record: Members<'_> = serde_json::from_slice(record)?;
    let mut own = String::new();
    line.push('{');
    for (name, value) in record.0 {
        let members = if matches!(&*name, "api_id" | "export") { &mut own } else { &mut *line };
        members.push_str(&serde_json::to_string(&name)?);
        members.push(':');
        write_compact(value.get(), members);
        members.push(',');
        if name == "id" {
            let id: Cow<'_, str> = serde_json::from_str(value.get())?;
            append(line, format_args!("\"api_id\":{},", serde_json::to_string(&format!("{id_prefix}{id}"))?));
        }
    }
    if let Some(own) = own.strip_suffix(',') {
        append(line, format_args!("\"additional_properties\":{{{own}}},"));
    }
    append(line, format_args!("\"export\":{reference}}}\n"));
    Ok(())
}
