//! The searchable fields of a record and the sections they belong to.

pub use crate::record::{Field, Section};
