//! Query understanding and ranking, independent of how terms are indexed.
//!
//! A query runs through these stages, roughly one module each:
//!
//! ```text
//! analyse → understand → expand → plan → (the index matches) → collect → rerank
//! ```
//!
//! Records ([`index`]) and queries ([`query`]) go through the same analyzer.

mod alternatives;
pub mod budget;
pub mod collect;
mod conjunction;
mod document_analyzer;
mod document_text;
pub mod expand;
pub mod facet_counts;
pub mod forward;
pub mod headings;
pub mod identity;
pub mod index;
pub(crate) mod intent;
pub mod lexicon;
pub mod meaning;
mod pieces;
pub mod pins;
mod plan;
pub mod query;
mod ranking;
pub mod rerank;
pub mod score;
pub mod synonym;
pub mod typo;

pub use document_analyzer::{ANALYZER_VERSION, DocumentAnalyzer, Numbering, Vocabulary};
pub use index::{DocumentTables, SearchBuilder, SearchIndex, SearchIndexError, SearchParts};
pub use lexicon::{StemId, WordId};
pub use plan::{
    Alternative, AttributeValues, FEW, INDEXED_PREFIX, MOST_COMPARED, MatchKind, Meaning, Phrase, PhraseForm, Plan,
    Related, Signals, StemSlots, Term, TermLookup, WordGroup,
};
pub use ranking::Ranking;
