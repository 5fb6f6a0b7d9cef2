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
mod difference;
pub mod render;
mod set;

pub use compare::compare;
pub use difference::{
    CategoryCount, Changed, Changes, Counts, Difference, Entry, Evidence, ExportCounts, FieldChange, Json, Summary,
};
pub use set::{Set, SetError};
