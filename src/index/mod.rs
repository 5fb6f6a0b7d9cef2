//! The search index: tantivy's term dictionary and posting lists in one field and one segment, with
//! documents in ordinal order, served from memory. It executes plans: a [`SearchRequest`] goes in, a
//! page of hits comes out.
//!
//! All kinds of terms share one field and one dictionary. A term's frequency in a document encodes
//! its occurrences in each section, so one posting list per word contains everything that scoring
//! needs.

mod block;
mod build;
mod collector;
mod explain;
mod frequent_term;
mod group_cursor;
mod hits;
mod postings;
#[cfg(test)]
mod tests;
mod walk;

use std::path::Path;
use std::sync::Arc;

use build::schema;
pub use build::{IndexBuildError, IndexBuilder};
use bytes::Bytes;
pub use explain::{Explanation, Satisfied};
use foldhash::HashMap;
pub use hits::{Hit, HitTexts, SearchHits, SearchRequest};
pub use postings::Documents;
use tantivy::directory::{Directory as _, RamDirectory};
use tantivy::index::InvertedIndexReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermStreamer;
use tantivy::{DocId, ReloadPolicy};

use self::collector::TierCollector;
use self::frequent_term::FrequentTerm;
use crate::catalogue::{Catalogue, DamagedText, Filter, Ordinal, Records, SoftwareFilter};
use crate::search::budget::Budget;
use crate::search::forward::Forward;
use crate::search::meaning::Meanings;
use crate::search::score::Scorer;
use crate::search::{Alternative, DocumentTables, MatchKind, Plan, Term, WordGroup};
use crate::text::count::counted;

const FIELD: &str = "terms";

/// The file that lists the index's other files. It has no checksum.
const META: &str = "meta.json";

/// How many documents [`Index::categories`] looks at.
const CATEGORY_EXAMPLES: usize = 10;

type Source = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("the search index can't be {doing}")]
    Index {
        doing: &'static str,
        #[source]
        source: Source,
    },
    #[error(transparent)]
    Text(#[from] DamagedText),
    #[error("the search index has {} instead of {expected}", counted(*found, "document"))]
    Misfit { found: usize, expected: usize },
}

impl IndexError {
    fn index<E: Into<Source>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Index { doing, source: source.into() }
    }
}

/// An index's files, loaded into memory.
#[derive(Debug)]
pub struct IndexFiles(tantivy::Index);

/// The extensions of all other files, which belong to a single segment.
const EXTENSIONS: [&str; 6] = ["fast", "fieldnorm", "idx", "pos", "store", "term"];

impl IndexFiles {
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
    pub fn load(files: Vec<(String, Bytes)>) -> Result<Self, IndexError> {
        let directory = RamDirectory::create();
        let mut names = Vec::new();
        for (name, content) in files {
            directory.atomic_write(Path::new(&name), &content).map_err(IndexError::index("loaded"))?;
            names.push(name);
        }
        let index = tantivy::Index::open(directory).map_err(IndexError::index("opened"))?;
        // tantivy's readers trust what they read.
        for name in names.iter().filter(|name| *name != META) {
            let is_whole = index.directory().validate_checksum(Path::new(name));
            if !is_whole.map_err(IndexError::index("loaded"))? {
                return Err(IndexError::index("loaded")(format!("{name} doesn't match its checksum")));
            }
        }
        if index.schema() != schema().0 {
            return Err(IndexError::index("opened")("it has a different schema"));
        }
        Ok(Self(index))
    }
}

/// A generation's index, open for searching.
pub struct Index {
    postings: Arc<InvertedIndexReader>,
    /// The frequent terms, by the offset of their postings.
    frequent: HashMap<usize, FrequentTerm>,
    scorer: Scorer,
    forward: Forward,
    meanings: Meanings,
    catalogue: Arc<Catalogue>,
    records: Arc<Records>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("documents", &self.scorer.documents()).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens an index, given its documents' tables and records. The catalogue is for resolving the
    /// categories in filters.
    pub fn open(
        IndexFiles(index): IndexFiles,
        DocumentTables { scorer, forward, meanings }: DocumentTables,
        catalogue: Arc<Catalogue>,
        records: Arc<Records>,
    ) -> Result<Self, IndexError> {
        let field = index.schema().get_field(FIELD).map_err(IndexError::index("opened"))?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(IndexError::index("opened"))?;
        let searcher = reader.searcher();
        let found = searcher.segment_readers().iter().map(|segment| segment.max_doc() as usize).sum();
        let [segment] = searcher.segment_readers() else {
            return Err(IndexError::Misfit { found, expected: scorer.documents() });
        };
        if found != scorer.documents() {
            return Err(IndexError::Misfit { found, expected: scorer.documents() });
        }
        let postings = segment.inverted_index(field).map_err(IndexError::index("opened"))?;
        let frequent = HashMap::default();
        let mut index = Self { postings, frequent, scorer, forward, meanings, catalogue, records };
        index.frequent = index.read_frequent()?;
        Ok(index)
    }

    /// The number of documents that contain a term.
    pub fn document_frequency(&self, term: &Term) -> Result<u32, IndexError> {
        Ok(self.find(term)?.map_or(0, |term| term.doc_freq))
    }

    /// The categories of the best few documents that contain a term, as sorted indices into the
    /// category list.
    pub fn categories(&self, term: &Term) -> Result<Vec<u32>, IndexError> {
        let alternatives = vec![Alternative::new(MatchKind::Category, term.clone(), 1.0)];
        let group = WordGroup { alternatives, required: true, indispensable: false };
        let found = self.search(&SearchRequest {
            plan: &Plan { groups: vec![group], ..Plan::default() },
            filter: &SoftwareFilter::default(),
            order: None,
            page: 0..CATEGORY_EXAMPLES,
            facets: None,
            texts: false,
            budget: &Budget::for_documents(self.records.len()),
        })?;
        let columns = &self.records.columns;
        let mut categories: Vec<_> =
            found.hits.iter().flat_map(|hit| columns.categories_of(hit.ordinal)).copied().collect();
        categories.sort_unstable();
        categories.dedup();
        Ok(categories)
    }

    /// Runs a search. Once the request's budget is spent, the search stops and returns what it has
    /// found so far, which is the same for every page.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchHits, IndexError> {
        let filter = Filter::resolve(request.filter, &self.catalogue, &self.records);
        let mut found = if let Some(page) = hits::list(&self.records, request, &filter) {
            page
        } else {
            let mut collector = TierCollector::new(self, request, &filter)?;
            walk::walk(self, request.plan, &mut collector, request.budget)?;
            collector::collect_related(self, request.plan, &mut collector, request.budget)?;
            collector.finish(request, &self.records)
        };
        if request.texts {
            found.texts = hits::texts(&self.records, &self.forward, &found.hits, request.budget)?;
        }
        Ok(found)
    }

    /// Looks up a term; `None` if no document contains it.
    fn find(&self, term: &Term) -> Result<Option<TermInfo>, IndexError> {
        let mut text = String::with_capacity(24);
        term.write(&mut text);
        self.postings.terms().get(&text).map_err(IndexError::index("read"))
    }

    /// A term's bitmap and tiers, if it's frequent.
    fn frequent(&self, term: &TermInfo) -> Option<&FrequentTerm> {
        self.frequent.get(&term.postings_range.start)
    }

    /// Reads the postings of all frequent words and synonym groups.
    fn read_frequent(&self) -> Result<HashMap<usize, FrequentTerm>, IndexError> {
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
    fn pinned(&self, plan: &Plan) -> Result<Vec<(Ordinal, usize)>, IndexError> {
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
    fn with_any(&self, terms: &[Term], end: Ordinal, budget: &Budget) -> Result<Vec<Ordinal>, IndexError> {
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

    fn read(&self, term: &TermInfo) -> Result<PostingList, IndexError> {
        self.postings
            .read_block_postings_from_terminfo(term, IndexRecordOption::WithFreqs)
            .map(PostingList::new)
            .map_err(IndexError::index("read"))
    }
}

/// The terms of one kind, identified by the first byte of their names.
fn terms_of(postings: &InvertedIndexReader, kind: u8) -> Result<TermStreamer<'_>, IndexError> {
    let terms = postings.terms().range().ge([kind]).lt([kind + 1]);
    terms.into_stream().map_err(IndexError::index("read"))
}

/// A cursor over a posting list, which tantivy decodes 128 postings at a time.
struct PostingList {
    postings: BlockSegmentPostings,
    at: usize,
}

impl PostingList {
    fn new(postings: BlockSegmentPostings) -> Self {
        Self { postings, at: 0 }
    }

    /// The current document; [`TERMINATED`](tantivy::TERMINATED) after the last.
    fn document(&self) -> DocId {
        // tantivy pads the last block with `TERMINATED`.
        self.postings.doc(self.at)
    }

    /// Moves to the first document at or after `target`.
    fn seek(&mut self, target: DocId) {
        if self.document() < target {
            self.at = self.postings.seek(target);
        }
    }

    /// Calls `visit` with each document before `end` and its packed term frequency.
    fn for_each_until(&mut self, end: DocId, mut visit: impl FnMut(DocId, u32)) {
        loop {
            let documents = self.postings.docs();
            let rest = documents.get(self.at..).unwrap_or_default();
            let count = match rest.last() {
                None => return,
                Some(last) if *last < end => rest.len(),
                Some(_) => rest.partition_point(|document| *document < end),
            };
            let frequencies = self.postings.freqs().get(self.at..).unwrap_or_default();
            for (document, frequency) in rest[..count].iter().zip(frequencies) {
                visit(*document, *frequency);
            }
            self.at += count;
            if self.at < documents.len() || documents.len() < POSTINGS_PER_BLOCK {
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }
}

/// How many postings tantivy decodes at a time; the last block has fewer.
const POSTINGS_PER_BLOCK: usize = 128;
