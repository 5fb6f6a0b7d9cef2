//! Every export is either served or has a finding, every query gets a response, and no input causes
//! a crash.

mod any_export;
mod any_query;
mod invariant;
