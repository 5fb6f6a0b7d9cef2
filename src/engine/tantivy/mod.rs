//! The tantivy engine: one field, one segment, documents in ordinal order, served from memory.
//!
//! All kinds of terms share one field and one dictionary. A term's frequency in a document encodes
//! its occurrences in each section, so one posting list per word contains everything that scoring
//! needs.

mod block;
mod build;
mod collector;
mod documents;
mod explain;
mod frequent_term;
mod group_cursor;
mod posting_list;
mod postings;
mod related;
mod scratch_directory;
mod walk;

use std::path::Path;
use std::sync::Arc;

use ::tantivy::directory::Directory as _;
use ::tantivy::directory::RamDirectory;
use ::tantivy::index::{Index, InvertedIndexReader};
use ::tantivy::postings::TermInfo;
use ::tantivy::schema::{Field, IndexRecordOption};
use ::tantivy::termdict::TermStreamer;
use ::tantivy::{ReloadPolicy, Term as IndexTerm};
use foldhash::HashMap;

pub use build::TantivyBuilder;
use build::schema;
pub use documents::Documents;

use self::collector::TierCollector;
use self::frequent_term::FrequentTerm;
use self::posting_list::PostingList;
use super::embedded::{self, Embedded};
use super::{EngineError, EngineFiles, SearchHits, SearchRequest};
use crate::catalogue::{Catalogue, Filter, Ordinal, Records};
use crate::search::budget::Budget;
use crate::search::forward::Forward;
use crate::search::meaning::Meanings;
use crate::search::score::Scorer;
use crate::search::{DocumentTables, Plan, Term};

const FIELD: &str = "terms";

/// The file that lists the index's other files. It has no checksum.
const META: &str = "meta.json";

#[derive(Debug)]
pub struct TantivyIndex(Index);

/// The extensions of all other files, which belong to a single segment.
const EXTENSIONS: [&str; 6] = ["fast", "fieldnorm", "idx", "pos", "store", "term"];

impl TantivyIndex {
    /// Whether an index can consist of these files: `meta.json`, and files with known extensions
    /// that all belong to one segment.
    pub fn has_files<'n>(names: impl Iterator<Item = &'n str>) -> bool {
        let mut segment = None;
        let mut is_known = |name: &'n str| {
            let Some((of, extension)) = name.split_once('.').filter(|_| name != META) else { return name == META };
            EXTENSIONS.contains(&extension)
                && !of.is_empty()
                && of.bytes().all(|byte| byte.is_ascii_hexdigit())
                && *segment.get_or_insert(of) == of
        };
        { names }.all(&mut is_known)
    }

    /// Loads an index from its files, copying them.
    pub fn load(files: EngineFiles) -> Result<Self, EngineError> {
        let directory = RamDirectory::create();
        let mut names = Vec::new();
        for (name, content) in files {
            directory.atomic_write(Path::new(&name), &content).map_err(EngineError::index("loaded"))?;
            names.push(name);
        }
        let index = Index::open(directory).map_err(EngineError::index("opened"))?;
        // tantivy's readers trust what they read.
        for name in names.iter().filter(|name| *name != META) {
            let is_whole = index.directory().validate_checksum(Path::new(name));
            if !is_whole.map_err(EngineError::index("loaded"))? {
                return Err(EngineError::index("loaded")(format!("{name} doesn't match its checksum")));
            }
        }
        if index.schema() != schema().0 {
            return Err(EngineError::index("opened")("it has a different schema"));
        }
        Ok(Self(index))
    }
}

pub struct TantivyEngine {
    field: Field,
    postings: Arc<InvertedIndexReader>,
    /// The frequent terms, by the offset of their postings.
    frequent: HashMap<usize, FrequentTerm>,
    scorer: Scorer,
    forward: Forward,
    meanings: Meanings,
    catalogue: Arc<Catalogue>,
    records: Arc<Records>,
}

impl std::fmt::Debug for TantivyEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TantivyEngine").field("documents", &self.scorer.documents()).finish_non_exhaustive()
    }
}

impl TantivyEngine {
    /// Opens an index, given its documents' tables and records. The catalogue is for resolving the
    /// categories in filters.
    pub fn open(
        TantivyIndex(index): TantivyIndex,
        DocumentTables { scorer, forward, meanings }: DocumentTables,
        catalogue: Arc<Catalogue>,
        records: Arc<Records>,
    ) -> Result<Self, EngineError> {
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
        let frequent = HashMap::default();
        let mut engine = Self { field, postings, frequent, scorer, forward, meanings, catalogue, records };
        engine.frequent = engine.read_frequent()?;
        Ok(engine)
    }

    /// Looks up a term; `None` if no document contains it.
    fn find(&self, term: &Term) -> Result<Option<TermInfo>, EngineError> {
        let mut text = String::with_capacity(24);
        term.write(&mut text);
        let term = IndexTerm::from_field_text(self.field, &text);
        self.postings.get_term_info(&term).map_err(EngineError::index("read"))
    }

    /// A term's bitmap and tiers, if it's frequent.
    fn frequent(&self, term: &TermInfo) -> Option<&FrequentTerm> {
        self.frequent.get(&term.postings_range.start)
    }

    /// Reads the postings of all frequent words and synonym groups.
    fn read_frequent(&self) -> Result<HashMap<usize, FrequentTerm>, EngineError> {
        let mut frequent = HashMap::default();
        for kind in [Term::WORD, Term::CONCEPT] {
            let mut terms = terms_of(&self.postings, kind)?;
            while let Some((_, term)) = terms.next() {
                if FrequentTerm::is(term.doc_freq, &self.scorer) {
                    let frequent_term = FrequentTerm::read(self.read(term)?, term.doc_freq, &self.scorer);
                    frequent.insert(term.postings_range.start, frequent_term);
                }
            }
        }
        Ok(frequent)
    }

    /// The documents pinned to the query with their positions, excluding demo records.
    fn pinned(&self, plan: &Plan) -> Result<Vec<(Ordinal, usize)>, EngineError> {
        let mut documents = Vec::new();
        for (place, pinned) in plan.pinned.iter().enumerate() {
            if let Some(term) = self.find(pinned)? {
                let real = self.records.columns.real;
                self.read(&term)?.for_each_until(real, |document, _| documents.push((document, place)));
            }
        }
        Ok(documents)
    }

    /// The documents before `end` that contain any of these terms, sorted.
    fn with_any(&self, terms: &[Term], end: Ordinal, budget: &Budget) -> Result<Vec<Ordinal>, EngineError> {
        let mut documents = Vec::new();
        for term in terms {
            if let Some(term) = self.find(term)? {
                budget.spend(term.doc_freq as usize);
                self.read(&term)?.for_each_until(end, |document, _| documents.push(document));
            }
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }

    fn read(&self, term: &TermInfo) -> Result<PostingList, EngineError> {
        self.postings
            .read_block_postings_from_terminfo(term, IndexRecordOption::WithFreqs)
            .map(PostingList::new)
            .map_err(EngineError::index("read"))
    }
}

/// The terms of one kind, identified by the first byte of their names.
fn terms_of(postings: &InvertedIndexReader, kind: u8) -> Result<TermStreamer<'_>, EngineError> {
    let terms = postings.terms().range().ge([kind]).lt([kind + 1]);
    terms.into_stream().map_err(EngineError::index("read"))
}

impl Embedded for TantivyEngine {
    fn records(&self) -> &Records {
        &self.records
    }

    fn frequency(&self, term: &Term) -> Result<u32, EngineError> {
        Ok(self.find(term)?.map_or(0, |term| term.doc_freq))
    }

    fn search_now(&self, request: &SearchRequest<'_>) -> Result<SearchHits, EngineError> {
        let filter = Filter::resolve(request.filter, &self.catalogue, &self.records);
        let mut found = if let Some(page) = embedded::list(&self.records, request, &filter) {
            page
        } else {
            let mut collector = TierCollector::new(self, request, &filter)?;
            walk::walk(self, request.plan, &mut collector, request.budget)?;
            related::collect_related(self, request.plan, &mut collector, request.budget)?;
            collector.finish(request, &self.records)
        };
        if request.texts {
            found.texts = embedded::texts(&self.records, &self.forward, &found.hits, request.budget)?;
        }
        Ok(found)
    }
}
