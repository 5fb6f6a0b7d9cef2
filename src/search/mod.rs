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
pub(crate) mod cue;
mod document_analyzer;
mod document_text;
pub mod expand;
pub mod facet_counts;
pub mod field;
pub mod forward;
pub mod headings;
pub mod identity;
pub mod index;
pub(crate) mod intent;
pub mod lexicon;
pub mod meaning;
pub mod names;
mod opened;
pub mod phrase;
mod pieces;
pub mod pins;
mod plan;
pub mod query;
mod ranking;
pub mod related;
pub mod rerank;
pub mod score;
pub mod stem_slots;
pub mod synonym;
mod tally;
pub mod typo;
pub mod understand;

pub use document_analyzer::{ANALYZER_VERSION, DocumentAnalyzer, Numbering, Vocabulary};
pub use index::{SearchBuilder, SearchParts};
pub use lexicon::{StemId, WordId};
pub use opened::{DocumentTables, SearchIndex, SearchIndexError};
pub use plan::{
    Alternative, INDEXED_PREFIX, MatchKind, Meaning, Phrase, PhraseForm, Plan, Related, Rerank, Signals, Term,
    TermLookup, WordGroup,
};
pub use ranking::Ranking;
