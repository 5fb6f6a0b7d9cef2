//! Every export is served or has a finding, every query has a response, and no input crashes
//! anything.

mod any_export;
mod any_generation;
mod any_query;
#[path = "../common/cases.rs"]
mod cases;
mod invariant;
