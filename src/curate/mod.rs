//! A curator's tools: tables, the difference between two sets of exports, the report, links, and
//! queries without hits.

pub mod diff;
pub mod links;
pub mod queries;
pub mod report;
pub mod tabular;
