//! Options for `queries`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DataArgs;

/// Options for `queries`.
#[derive(Debug, Args)]
pub struct QueriesArgs {
    /// The file that a server writes with --empty-queries
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The exports that the queries are compared with.
    #[command(flatten)]
    pub data: DataArgs,
    /// How many of the most frequent queries to show, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Report format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: QueriesFormat,
}

/// How `queries` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QueriesFormat {
    /// Human-readable text
    Text,
    /// One JSON document
    Json,
}
