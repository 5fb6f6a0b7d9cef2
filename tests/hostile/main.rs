//! Whatever is in an export or a query: a finding or an answer, and never a crash.

mod any_export;
mod any_query;
mod invariant;
#[path = "../runs/mod.rs"]
mod runs;
