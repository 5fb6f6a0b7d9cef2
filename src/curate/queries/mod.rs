//! Queries without hits: counted while a server runs, kept in a file, and reported with the nearest
//! terms in a directory.
//!
//! ```text
//! a search without hits ─▶ normal form ─▶ EmptyQueries ─▶ file ─▶ propose ─▶ synonyms
//! ```
//!
//! A query is stored without anything about its caller: no key, no address, and no time except for
//! the days of its first and last count. A query that may contain personal data or a secret isn't
//! counted, and rare ones never leave the server's memory.

mod count;
mod file;
mod normal;
mod propose;

pub use count::{EmptyQueries, EmptyQuery, MIN_COUNT};
pub use file::{QueryFileError, from_json, read, to_json};
pub use normal::normal;
pub use propose::{NearKind, NearTerm, Proposal, Proposer, Synonym, synonyms};
