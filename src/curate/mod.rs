//! A curator's tools: tables, diffs of two sets of exports, the report, link checks, and queries
//! without hits.

pub mod diff;
pub mod links;
pub mod queries;
pub mod report;
pub mod tabular;
pub mod yaml;
