//! A curator's tools: tables, publiccode.yml, diffs of two sets of exports, the report, link checks, and queries
//! without hits.

pub mod diff;
pub mod links;
pub mod publiccode;
pub mod queries;
pub mod report;
pub mod tabular;
pub mod yaml;
