//! Queries without hits: counted while a server runs, kept in a file, and reported with the nearest
//! terms in a directory.
//!
//! ```text
//! a search without hits ─▶ normal form ─▶ EmptyQueries ─▶ file ─▶ propose ─▶ synonyms
//! ```
//!
//! Nothing about the caller is stored with a query: no key, no address, and no time except for the
//! days when the query was first and last counted. Queries that may contain personal data or a
//! secret aren't counted, and rare queries never leave the server's memory.

mod count;
mod file;
mod normal;
mod propose;

pub use count::{EmptyQueries, EmptyQuery, MIN_COUNT};
pub use file::{QueryFileError, from_json, read, to_json};
pub use normal::normal;
pub use propose::{NearKind, NearTerm, Proposal, Proposer, Synonym, synonyms};
