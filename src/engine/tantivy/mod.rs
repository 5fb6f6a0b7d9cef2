//! The tantivy engine: one field, one segment, documents in the order of ordinals, served from memory.
//!
//! All kinds of terms share one field and one dictionary. A term's frequency in a document is the code of its occurrences
//! in the sections, so that one posting list per word has all that the score needs.

mod build;
mod cursor;
mod terms;
mod visit;

use std::path::Path;
use std::sync::Arc;

use ::tantivy::directory::Directory as _;
use ::tantivy::directory::RamDirectory;
use ::tantivy::index::{Index, InvertedIndexReader};
use ::tantivy::postings::SegmentPostings;
use ::tantivy::schema::{Field, IndexRecordOption};
use ::tantivy::{ReloadPolicy, Term as IndexTerm};

pub use build::TantivyBuilder;

use super::{Engine, EngineError, EngineFiles, Match};
use crate::search::score::Scorer;
use crate::search::{Plan, Term, Want};

/// The name of the one field.
const FIELD: &str = "terms";

/// An open index.
pub struct TantivyEngine {
    field: Field,
    postings: Arc<InvertedIndexReader>,
    scorer: Scorer,
}

impl std::fmt::Debug for TantivyEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyEngine").field("documents", &self.scorer.documents()).finish_non_exhaustive()
    }
}

impl TantivyEngine {
    /// Opens an index from its files; the scorer knows its documents.
    ///
    /// # Errors
    /// Where the files are no index, or not of that many documents in one segment.
    pub fn open(files: &EngineFiles, scorer: Scorer) -> Result<Self, EngineError> {
        let directory = RamDirectory::create();
        for (name, content) in files {
            directory.atomic_write(Path::new(name), content).map_err(EngineError::index("loaded"))?;
        }
        let index = Index::open(directory).map_err(EngineError::index("opened"))?;
        let field = index.schema().get_field(FIELD).map_err(EngineError::index("opened"))?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(EngineError::index("opened"))?;
        let searcher = reader.searcher();
        let found = searcher.segment_readers().iter().map(|segment| segment.max_doc() as usize).sum();
        let [segment] = searcher.segment_readers() else {
            return Err(EngineError::Misfit { found, expected: scorer.documents() });
        };
        if found != scorer.documents() {
            return Err(EngineError::Misfit { found, expected: scorer.documents() });
        }
        let postings = segment.inverted_index(field).map_err(EngineError::index("opened"))?;
        Ok(Self { field, postings, scorer })
    }

    fn index_term(&self, term: &Term) -> IndexTerm {
        let mut text = String::with_capacity(24);
        term.write(&mut text);
        IndexTerm::from_field_text(self.field, &text)
    }

    fn postings(&self, term: &Term) -> Result<Option<SegmentPostings>, EngineError> {
        self.postings
            .read_postings(&self.index_term(term), IndexRecordOption::WithFreqs)
            .map_err(EngineError::index("read"))
    }
}

impl Engine for TantivyEngine {
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError> {
        self.postings.doc_freq(&self.index_term(term)).map_err(EngineError::index("read"))
    }

    fn visit(&self, plan: &Plan, want: Want, visitor: &mut dyn FnMut(Match)) -> Result<(), EngineError> {
        visit::visit(self, plan, want, visitor)
    }
}
