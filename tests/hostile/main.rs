//! Any export is served or has a finding, any query has a response; no input crashes.

mod any_export;
mod any_generation;
mod any_query;
#[path = "../common/cases.rs"]
mod cases;
mod invariant;
