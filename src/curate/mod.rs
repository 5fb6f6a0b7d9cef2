//! A curator's tools: tables, the difference of two sets of exports, the report, queries without hits.

pub mod diff;
pub mod queries;
pub mod report;
pub mod tabular;
