//! Any export is served or has a finding, any query has a response; no input crashes.

mod any_export;
mod any_query;
mod invariant;
#[path = "../runs/mod.rs"]
mod runs;
