//! Builds an index in memory: one segment, documents in the order they come.

use std::path::Path;

use ::tantivy::TantivyDocument;
use ::tantivy::directory::{Directory as _, RamDirectory};
use ::tantivy::index::Index;
use ::tantivy::indexer::SingleSegmentIndexWriter;
use ::tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use ::tantivy::tokenizer::TextAnalyzer;

use super::FIELD;
use super::terms::{self, Frequencies};
use crate::engine::{EngineError, EngineFiles};
use crate::search::Term;
use crate::search::score::Occurrences;

/// The name under which the index knows its tokenizer.
const TOKENIZER: &str = "frequencies";

/// Memory for the segment's hash table, in bytes; the segment itself may take more.
const MEMORY_BUDGET: usize = 128 * 1024 * 1024;

/// An index being built.
pub struct TantivyBuilder {
    writer: SingleSegmentIndexWriter,
    directory: RamDirectory,
    field: Field,
    term: String,
}

impl std::fmt::Debug for TantivyBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyBuilder").finish_non_exhaustive()
    }
}

impl TantivyBuilder {
    /// An empty index.
    ///
    /// # Errors
    /// Where tantivy refuses to create it.
    pub fn new() -> Result<Self, EngineError> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(false);
        let field = schema.add_text_field(FIELD, TextOptions::default().set_indexing_options(indexing));
        let directory = RamDirectory::create();
        let mut builder = Index::builder().schema(schema.build());
        let tokenizers = ::tantivy::tokenizer::TokenizerManager::new();
        tokenizers.register(TOKENIZER, TextAnalyzer::from(Frequencies));
        builder = builder.tokenizers(tokenizers);
        let writer = builder
            .single_segment_index_writer(directory.clone(), MEMORY_BUDGET)
            .map_err(EngineError::index("created"))?;
        Ok(Self { writer, directory, field, term: String::new() })
    }

    /// Adds the next document: its terms with their occurrences.
    ///
    /// # Errors
    /// Where the index refuses it.
    pub fn push<'t>(&mut self, document: impl Iterator<Item = (&'t Term, Occurrences)>) -> Result<(), EngineError> {
        let mut text = String::with_capacity(4096);
        for (term, occurrences) in document {
            self.term.clear();
            term.write(&mut self.term);
            terms::write(&mut text, &self.term, occurrences.code());
        }
        let mut document = TantivyDocument::default();
        document.add_text(self.field, &text);
        self.writer.add_document(document).map_err(EngineError::index("written"))
    }

    /// Ends the index and hands over its files.
    ///
    /// # Errors
    /// Where the index can't be written.
    pub fn finish(self) -> Result<EngineFiles, EngineError> {
        let index = self.writer.finalize().map_err(EngineError::index("written"))?;
        let metas = index.load_metas().map_err(EngineError::index("read"))?;
        let mut names: Vec<_> = metas.list_segment_files().into_iter().collect();
        names.push(Path::new("meta.json").to_owned());
        names.sort();
        let mut files = EngineFiles::new();
        for name in names {
            if self.directory.exists(&name).map_err(EngineError::index("read"))? {
                let content = self.directory.atomic_read(&name).map_err(EngineError::index("read"))?;
                files.push((name.to_string_lossy().into_owned(), content));
            }
        }
        Ok(files)
    }
}
