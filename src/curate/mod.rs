//! A curator's tools: tables, the difference of two sets of exports, the report, links, queries without hits.

pub mod diff;
pub mod links;
pub mod queries;
pub mod report;
pub mod tabular;
