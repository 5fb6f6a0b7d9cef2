//! The difference between two sets of exports: which records were added, removed and changed, field
//! by field.
//!
//! ```text
//! Set (old) ─┐
//!            ├─▶ compare ─▶ Difference ─▶ render::{text, markdown, html, json}
//! Set (new) ─┘
//! ```
//!
//! Products are matched by id. The order of keys, the order of elements in a section, white space,
//! and how a number is written (`1.0` or `1`) are ignored. The order of an array within a record
//! isn't, because responses preserve it.

mod compare;
mod count;
mod difference;
mod field;
pub mod render;
mod set;
mod summary;
mod words;

pub use compare::compare;
pub use difference::{CategoryCount, Changed, Changes, Difference, Entry, Evidence, FieldChange, Json};
pub use set::{Set, SetError};
pub use summary::{Counts, ExportCounts, Summary};
