//! Queries without hits: counted while a server runs, kept in a file, and reported with what a directory has nearest.
//!
//! ```text
//! a search without hits ─▶ normal form ─▶ EmptyQueries ─▶ file ─▶ propose ─▶ synonyms
//! ```
//!
//! A query is kept without anything of its caller: no key, no address, no time but the days of its first and last count. One that
//! may hold personal data or a secret isn't counted, and one that is rare never leaves the memory of the server.

mod count;
mod file;
mod normal;
mod propose;

pub use count::{EmptyQueries, EmptyQuery, MIN_COUNT};
pub use file::{QueryFileError, from_json, read, to_json};
pub use normal::normal;
pub use propose::{NearKind, NearTerm, Proposal, Proposer, Synonym, synonyms};
