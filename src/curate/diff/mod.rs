//! The difference between two sets of exports: which records were added, removed and changed, field
//! by field.
//!
//! ```text
//! Set (old) ─┐
//!            ├─▶ compare ─▶ Difference ─▶ render::{text, markdown, html, json}
//! Set (new) ─┘
//! ```
//!
//! Products are compared by id. The order of keys, the order of elements in a section, white space,
//! and the spelling of numbers (`1.0` and `1`) don't count. The order of an array within a record
//! does count, because it's served.

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
