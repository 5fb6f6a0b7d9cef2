//! Options for `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ExportFilesArgs;

/// Options for `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The files.
    #[command(flatten)]
    pub files: ExportFilesArgs,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Report format
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    pub format: ReportFormat,
}

/// How `report` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page without scripts or external resources
    Html,
    /// Markdown with tables
    Markdown,
}
