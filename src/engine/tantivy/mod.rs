//! The tantivy engine: one field, one segment, documents in the order of ordinals, served from memory.
//!
//! All kinds of terms share one field and one dictionary. A term's frequency in a document is the code of its occurrences
//! in the sections, so that one posting list per word has all that the score needs.

mod build;
mod cursor;
mod frequent;
mod gathered;
mod list;
mod term_filter;
mod visit;
mod window;

use std::path::Path;
use std::sync::Arc;

use ::tantivy::directory::Directory as _;
use ::tantivy::directory::RamDirectory;
use ::tantivy::index::{Index, InvertedIndexReader};
use ::tantivy::postings::TermInfo;
use ::tantivy::schema::{Field, IndexRecordOption};
use ::tantivy::termdict::TermStreamer;
use ::tantivy::{ReloadPolicy, Term as IndexTerm};
use rustc_hash::FxHashMap;

pub use build::TantivyBuilder;

use self::frequent::Frequent;
use self::list::List;
use self::term_filter::TermFilter;
use super::{Engine, EngineError, EngineFiles, Visitor};
use crate::search::budget::Budget;
use crate::search::score::Scorer;
use crate::search::{Plan, StemId, Term};

/// The name of the one field.
const FIELD: &str = "terms";

/// The name of the one file that isn't tantivy's: a [`TermFilter`].
const FILTER: &str = "filter";

/// An open index.
pub struct TantivyEngine {
    field: Field,
    postings: Arc<InvertedIndexReader>,
    /// Where the postings of each stem lie, in the first 4 GiB: those of ten million records. A query that ends in the
    /// beginning of a word asks for hundreds of them, and the dictionary takes some 0.3 µs for each.
    stems: Vec<Place>,
    /// The frequent terms, by where their postings begin.
    frequent: FxHashMap<usize, Frequent>,
    filter: TermFilter,
    scorer: Scorer,
}

/// Where the postings of a term lie.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    start: u32,
    bytes: u32,
    documents: u32,
}

impl TryFrom<&TermInfo> for Place {
    type Error = EngineError;

    fn try_from(term: &TermInfo) -> Result<Self, EngineError> {
        let start = u32::try_from(term.postings_range.start).map_err(EngineError::index("opened"))?;
        let bytes = u32::try_from(term.postings_range.len()).map_err(EngineError::index("opened"))?;
        Ok(Self { start, bytes, documents: term.doc_freq })
    }
}

impl From<&Place> for TermInfo {
    fn from(place: &Place) -> Self {
        let start = place.start as usize;
        Self { doc_freq: place.documents, postings_range: start..start + place.bytes as usize, positions_range: 0..0 }
    }
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
        let mut filter = None;
        for (name, content) in files {
            if name == FILTER {
                filter = TermFilter::open(content.clone());
                continue;
            }
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
        let filter = filter.ok_or_else(|| EngineError::index("opened")("its filter is missing or makes no sense"))?;
        let postings = segment.inverted_index(field).map_err(EngineError::index("opened"))?;
        let stems = stems(&postings)?;
        let mut engine = Self { field, postings, stems, frequent: FxHashMap::default(), filter, scorer };
        engine.frequent = engine.read_frequent()?;
        Ok(engine)
    }

    /// The term, if any document has it.
    fn find(&self, term: &Term) -> Result<Option<TermInfo>, EngineError> {
        if let Term::Word(stem) = term {
            let place = self.stems.get(*stem as usize).filter(|place| place.documents > 0);
            return Ok(place.map(TermInfo::from));
        }
        let mut text = String::with_capacity(24);
        term.write(&mut text);
        if !self.filter.may_have(text.as_bytes()) {
            return Ok(None);
        }
        let term = IndexTerm::from_field_text(self.field, &text);
        self.postings.get_term_info(&term).map_err(EngineError::index("read"))
    }

    /// What is known of a term beside its postings, if it is a frequent one.
    fn frequent(&self, term: &TermInfo) -> Option<&Frequent> {
        // Most aren't, which takes no look into the table.
        let is_frequent = Frequent::is(term.doc_freq, &self.scorer);
        is_frequent.then(|| self.frequent.get(&term.postings_range.start)).flatten()
    }

    /// Reads the postings of all frequent terms. Names alone are hardly ever searched for.
    fn read_frequent(&self) -> Result<FxHashMap<usize, Frequent>, EngineError> {
        let mut frequent = FxHashMap::default();
        let mut room = Vec::new();
        let mut read = |kind: u8, term: &TermInfo| {
            if Frequent::pays_for(kind, term.doc_freq, &self.scorer) {
                let about = Frequent::read(kind, self.read(term)?, term.doc_freq, &self.scorer, &mut room);
                frequent.insert(term.postings_range.start, about);
            }
            Ok::<_, EngineError>(())
        };
        for place in &self.stems {
            read(Term::WORD, &place.into())?;
        }
        for kind in [Term::PREFIX, Term::CONCEPT] {
            let mut terms = terms_of(&self.postings, kind)?;
            while let Some((_, term)) = terms.next() {
                read(kind, term)?;
            }
        }
        Ok(frequent)
    }

    /// The posting list of a term, at its first document.
    fn read(&self, term: &TermInfo) -> Result<List, EngineError> {
        self.postings
            .read_block_postings_from_terminfo(term, IndexRecordOption::WithFreqs)
            .map(List::new)
            .map_err(EngineError::index("read"))
    }
}

/// The terms of a kind, which is the first byte of their names.
fn terms_of(postings: &InvertedIndexReader, kind: u8) -> Result<TermStreamer<'_>, EngineError> {
    let terms = postings.terms().range().ge([kind]).lt([kind + 1]);
    terms.into_stream().map_err(EngineError::index("read"))
}

/// Where the postings of each stem lie.
fn stems(postings: &InvertedIndexReader) -> Result<Vec<Place>, EngineError> {
    let mut stems = Vec::new();
    let mut words = terms_of(postings, Term::WORD)?;
    while let Some((term, place)) = words.next() {
        let number = std::str::from_utf8(&term[1..]).ok().and_then(|digits| StemId::from_str_radix(digits, 16).ok());
        let Some(number) = number else { continue };
        let number = number as usize;
        if stems.len() <= number {
            stems.resize(number + 1, Place::default());
        }
        stems[number] = Place::try_from(place)?;
    }
    Ok(stems)
}

impl Engine for TantivyEngine {
    fn document_frequency(&self, term: &Term) -> Result<u32, EngineError> {
        Ok(self.find(term)?.map_or(0, |term| term.doc_freq))
    }

    fn visit(&self, plan: &Plan, visitor: &mut dyn Visitor, budget: &Budget) -> Result<(), EngineError> {
        visit::visit(self, plan, visitor, budget)
    }
}
