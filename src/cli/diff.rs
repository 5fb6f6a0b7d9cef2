//! Options for `diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::id_prefix::{self, ExportPrefix};

/// Options for `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The old exports: a file, a folder, a Git revision and path such as `HEAD~1:data`, or a
    /// generation in an index
    pub old: PathBuf,
    /// The new exports
    pub new: PathBuf,
    /// Report format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: DiffFormat,
    /// How many added, removed and changed records to show in each section; JSON contains all of
    /// them
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    /// How both sides are read.
    #[command(flatten)]
    pub sides: SideArgs,
}

/// How `diff` and `preview` read the two sides of a comparison.
#[derive(Debug, Clone, Args)]
pub struct SideArgs {
    /// Use the valid records and report the others
    #[arg(long, env = "SOFTWARE_DIRECTORY_SKIP_INVALID", value_parser = clap::builder::FalseyValueParser::new())]
    pub skip_invalid: bool,
    /// Prefix for an export's ids, such as `dpg=dpg:`; replaces its `id_prefix`; repeatable
    #[arg(long, value_name = "EXPORT=PREFIX", env = "SOFTWARE_DIRECTORY_ID_PREFIX", value_delimiter = ',',
          value_parser = id_prefix::id_prefix)]
    pub id_prefix: Vec<ExportPrefix>,
    /// Index folder, for a generation given by name
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_INDEX", default_value = "index")]
    pub index: PathBuf,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

/// How `diff` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Human-readable text
    Text,
    /// For a merge request
    Markdown,
    /// A web page without scripts or external resources
    Html,
    /// One JSON document
    Json,
}
