//! The parts of a catalogue without products, for servers with an engine that has these: categories, glossary, exports and their documents.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::catalogue::arena::Arena;
use crate::catalogue::builder::CatalogueBuildError;
use crate::catalogue::exports::{ExportDocument, StoredDocument};
use crate::catalogue::products::ProductWriter;
use crate::catalogue::records::RecordTables;
use crate::catalogue::resource::{CategoryResource, ExportResource};
use crate::catalogue::{Bulk, Columns, GlossaryEntry, Reviews};
use crate::scratch::Scratch;

/// The parts that servers hold, as [`CatalogueParts`](crate::catalogue::CatalogueParts).
#[derive(Debug)]
pub struct ScratchParts {
    /// The encoded tables.
    pub tables: Bulk,
    /// The texts.
    pub arena: Bulk,
    /// The exports as they were validated, compressed.
    pub downloads: Bulk,
}

#[derive(Debug)]
pub(super) struct StoredExports {
    /// The texts so far.
    arena: Arena,
    /// The encoded [`ExportDocument`]s: each has the places of its records.
    documents: BufWriter<File>,
    downloads: File,
    download_bytes: u64,
    count: usize,
}

impl StoredExports {
    pub(super) fn new(scratch: &Scratch) -> io::Result<Self> {
        Ok(Self {
            arena: Arena::default(),
            documents: BufWriter::new(scratch.file()?),
            downloads: scratch.file()?,
            download_bytes: 0,
            count: 0,
        })
    }

    /// Adds an export's document with the spans of its products.
    pub(super) fn push(
        &mut self,
        resource: ExportResource,
        document: &[u8],
        spans: &[Range<usize>],
    ) -> Result<(), CatalogueBuildError> {
        let stored = StoredDocument::compress(self.download_bytes, document, spans);
        let (stored, compressed) = stored.map_err(CatalogueBuildError::Compress)?;
        self.downloads.write_all(&compressed).map_err(CatalogueBuildError::Scratch)?;
        self.download_bytes += compressed.len() as u64;
        write(&mut self.documents, &ExportDocument::push(&mut self.arena, resource, stored)?)?;
        self.count += 1;
        Ok(())
    }

    /// Ends the parts, with the categories, the glossary of the exports, and the number of products that aren't demo records.
    pub(super) fn finish(
        self,
        categories: &[CategoryResource],
        glossary: impl FnOnce(&mut Arena) -> Result<Vec<GlossaryEntry>, serde_json::Error>,
        real: u32,
        scratch: &Scratch,
    ) -> Result<ScratchParts, CatalogueBuildError> {
        let Self { mut arena, documents, downloads, count, .. } = self;
        let products = ProductWriter::new(&mut arena, &[]).map_err(CatalogueBuildError::Product)?.finish();
        let columns = Columns { category_bounds: vec![0], real, ..Columns::default() };
        let objects = categories.iter().map(|category| arena.push_json(category)).collect::<Result<Vec<_>, _>>()?;
        let glossary = glossary(&mut arena)?;
        let records = RecordTables { products, columns, reviews: Reviews::default() };
        let mut tables = BufWriter::new(scratch.file().map_err(CatalogueBuildError::Scratch)?);
        // The fields of `Tables`; the exports come last.
        write(&mut tables, &(records, categories, objects, glossary, count))?;
        let mut documents = flushed(documents)?;
        let copied = documents.rewind().and_then(|()| io::copy(&mut documents, &mut tables));
        copied.map_err(CatalogueBuildError::Scratch)?;
        Ok(ScratchParts {
            tables: Bulk::File(Arc::new(flushed(tables)?)),
            arena: Bulk::Memory(arena.into_bytes().into()),
            downloads: Bulk::File(Arc::new(downloads)),
        })
    }
}

fn write(file: &mut impl io::Write, value: &impl Serialize) -> Result<(), CatalogueBuildError> {
    let encoded = postcard::to_stdvec(value)?;
    file.write_all(&encoded).map_err(CatalogueBuildError::Scratch)
}

fn flushed(file: BufWriter<File>) -> Result<File, CatalogueBuildError> {
    file.into_inner().map_err(|error| CatalogueBuildError::Scratch(error.into_error()))
}
