//! Options for `import` and `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::given::{self, Given};

/// Options for `import`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub struct ImportArgs {
    /// The table: CSV, a workbook (.xlsx), NDJSON, or a JSON array or object of records
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Export file to write [default: in the data folder, under the table's name, such as
    /// data/mine.json for mine.csv]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the export file and the file of rejected rows; refused if the export contains
    /// anything that a table can't, such as a glossary
    #[arg(long)]
    pub force: bool,
    /// Update an export: rows are matched by id, or by name and URL if there are no ids; everything
    /// else in it is kept
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "name", "license", "write_mapping"])]
    pub update: Option<PathBuf>,
    /// Remove records from the export that aren't in the table
    #[arg(long, requires = "update")]
    pub remove_missing: bool,
    /// Data folder, whose exports declare the categories [default: data]
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub data: Given<PathBuf>,
    /// The export's name [default: asked for on a terminal]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// URL of the export's licence [default: asked for on a terminal]
    #[arg(long, value_name = "URL")]
    pub license: Option<String>,
    /// Which worksheet of a workbook to read, or which list in a JSON document, if there are
    /// several
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// Row with the column names, numbered as in a spreadsheet program [default: detected]
    #[arg(long, value_name = "N")]
    pub header_row: Option<u64>,
    /// Encoding of a CSV file that isn't UTF-8, such as windows-1251 or euc-kr [default: Windows-1252 if unambiguous]
    #[arg(long, value_name = "LABEL")]
    pub encoding: Option<String>,
    /// Accept the proposed mapping and an update's changes
    #[arg(long)]
    pub yes: bool,
    /// Mapping to use: a JSON file written by --write-mapping
    #[arg(long, value_name = "FILE")]
    pub mapping: Option<PathBuf>,
    /// Write the proposed mapping to a file and do nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mapping", "yes"])]
    pub write_mapping: Option<PathBuf>,
    /// Publish a column without a known meaning as an additional property, or all such columns with
    /// `*`; repeatable
    #[arg(long, value_name = "COLUMN", conflicts_with = "mapping")]
    pub additional: Vec<String>,
    /// Publish a column as an attribute that readers can filter by; its values decide whether it's
    /// a number, true or false, a date, or text; repeatable
    #[arg(long, value_name = "COLUMN", conflicts_with = "mapping")]
    pub attribute: Vec<String>,
    /// Split a column's lists at commas; repeatable
    #[arg(long, value_name = "COLUMN")]
    pub split_commas: Vec<String>,
    /// Translate a column's values with a JSON file such as {"geprüft": "vendor-sources-reviewed"};
    /// repeatable
    #[arg(long, value_name = "COLUMN=FILE")]
    pub map_values: Vec<String>,
    /// Order of the day and month in dates such as 3/4/2025 [default: detected if any day is above
    /// 12]
    #[arg(long, value_name = "ORDER")]
    pub date_order: Option<DateOrderArg>,
    /// Add a suffix, as in moss-2, to ids that are derived from names and would collide
    #[arg(long)]
    pub unique_ids: bool,
    /// Apply the fixes that need no judgement: missing and broken URL schemes, and duplicate rows
    #[arg(long)]
    pub fix: bool,
    /// Write the valid rows; the others go to FILE.rejected.csv with the reasons, so that you can
    /// correct them and import them with --update
    #[arg(long, conflicts_with = "remove_missing")]
    pub valid_rows: bool,
    /// Maximum file size, in bytes
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

/// Options for `export`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
#[command(group(clap::ArgGroup::new("format").required(true).args(["csv", "ndjson"])))]
pub struct ExportArgs {
    /// The export file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write CSV, which `import` reads back
    #[arg(long)]
    pub csv: bool,
    /// Start the CSV with a byte order mark, so that Excel reads it as UTF-8
    #[arg(long, requires = "csv")]
    pub bom: bool,
    /// Write NDJSON, with each product exactly as it is in the export
    #[arg(long)]
    pub ndjson: bool,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}
