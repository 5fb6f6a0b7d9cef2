//! The options of `import` and `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::given::{self, Given};

/// Options of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The table: CSV, a workbook (.xlsx) or NDJSON
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Export file to write [default: the data folder and the table's name, such as data/mine.json for mine.csv]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the export file
    #[arg(long)]
    pub force: bool,
    /// Data folder, whose exports declare the categories [default: data]
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub data: Given<PathBuf>,
    /// Name of the export [default: a terminal is asked]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Licence of the export, a URL [default: a terminal is asked]
    #[arg(long, value_name = "URL")]
    pub license: Option<String>,
    /// Worksheet of a workbook that has several
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// Accept the proposed mapping
    #[arg(long, conflicts_with = "mapping")]
    pub yes: bool,
    /// Mapping to use, a JSON file that --write-mapping wrote
    #[arg(long, value_name = "FILE")]
    pub mapping: Option<PathBuf>,
    /// Write the proposed mapping to a file, and nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mapping", "yes"])]
    pub write_mapping: Option<PathBuf>,
    /// Order of day and month in dates such as 3/4/2025 [default: found out, where one has a day above 12]
    #[arg(long, value_name = "ORDER")]
    pub date_order: Option<DateOrderArg>,
    /// Largest file that is read, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

/// The order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DateOrderArg {
    /// 31/12/2025
    Dmy,
    /// 12/31/2025
    Mdy,
}

/// Options of `export`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("format").required(true).args(["csv", "ndjson"])))]
pub struct ExportArgs {
    /// The export file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write CSV, which `import` reads back
    #[arg(long)]
    pub csv: bool,
    /// Write NDJSON, each product as it is in the export
    #[arg(long)]
    pub ndjson: bool,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Largest export file that is read, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}
