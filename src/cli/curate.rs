//! Options for the commands that read and edit exports.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use jiff::Span;
use serde::{Deserialize, Serialize};

use super::DataArgs;
use super::value::{self, ExportPrefix, Given};

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub files: ExportFilesArgs,
    /// Report format
    #[arg(long, value_name = "FORMAT", env = "SOFTWARE_DIRECTORY_CHECK_FORMAT", default_value = "text")]
    pub format: CheckFormat,
    /// Print the number of findings for each code instead of the findings; only in text format
    #[arg(long)]
    pub statistics: bool,
    /// Exit with status 2 even if there are only warnings
    #[arg(long, value_name = "KIND")]
    pub deny: Option<Deny>,
    /// Warn about evidence that was last checked longer ago than this, such as `365d`, `26w`,
    /// `18mo` or `1y`, and list it by category
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub stale: Option<Span>,
    #[command(flatten)]
    pub links: LinkArgs,
}

/// The default name of the links' cache file.
const LINKS_CACHE: &str = ".software-directory-links.json";

#[derive(Debug, Args)]
pub struct LinkArgs {
    /// Request every website and source, and warn about those that are dead, have moved, or have
    /// TLS problems
    #[arg(long)]
    pub links: bool,
    /// Also fetch the sources, and warn about those that no longer say what a claim rests on
    #[arg(long, requires = "links")]
    pub changed: bool,
    /// Cache file for the results, so that later runs request only the links that are due
    #[arg(long, value_name = "FILE", requires = "links", value_hint = ValueHint::FilePath, default_value = LINKS_CACHE)]
    pub links_cache: PathBuf,
    /// Web or email address where server operators can reach you; it's sent with each request
    #[arg(long, value_name = "ADDRESS", requires = "links", value_parser = contact)]
    pub contact: Option<String>,
    /// Also request addresses on this machine and on local networks
    #[arg(long, requires = "links")]
    pub private: bool,
}

/// Findings that `check` rejects in addition to errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Every warning
    Warnings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Human-readable text, in the style of a compiler
    Text,
    /// One JSON document
    Json,
    /// Workflow commands, shown by GitHub as annotations
    Github,
    /// SARIF 2.1.0, for editors and code scanning
    Sarif,
}

/// Parses a contact that can be put in a `User-Agent` header's comment.
fn contact(text: &str) -> Result<String, String> {
    let is_fine = |byte: u8| byte.is_ascii_graphic() && !b"()\\".contains(&byte);
    if !text.is_empty() && text.len() <= 200 && text.bytes().all(is_fine) {
        return Ok(text.to_owned());
    }
    Err("write an address such as https://example.org/about or data@example.org, without spaces or parentheses"
        .to_owned())
}

/// Parses an age in days, weeks, months and years.
fn age(text: &str) -> Result<Span, String> {
    let span: Option<Span> = text.parse().ok().filter(|span: &Span| {
        let months = Span::new().years(span.get_years()).months(span.get_months());
        let days = months.weeks(span.get_weeks()).days(span.get_days());
        days.fieldwise() == *span && !span.is_negative()
    });
    span.ok_or_else(|| "write days, weeks, months or years, such as 365d, 26w, 18mo or 1y".to_owned())
}

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
          value_parser = value::id_prefix)]
    pub id_prefix: Vec<ExportPrefix>,
    /// Index folder, for a generation given by name
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_INDEX", default_value = "index")]
    pub index: PathBuf,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

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

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The export file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Properties such as `name="Permit Desk"` and `tags="audit; iso"`; `PROPERTY:=JSON` for other values; the id is derived from the name
    #[arg(value_name = "PROPERTY=VALUE", required = true)]
    pub values: Vec<String>,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

#[derive(Debug, Args)]
pub struct SetArgs {
    /// The export file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The record's id, as written in the file
    #[arg(value_name = "ID")]
    pub id: String,
    /// Properties, written as for `add`; an empty value removes the property
    #[arg(value_name = "PROPERTY=VALUE", required = true)]
    pub values: Vec<String>,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Folder to set up; existing files are left as they are
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// Also write issue forms for corrections and new products and a workflow that publishes to GitHub
    /// Pages, and let the other workflow comment on pull requests with what they change
    #[arg(long)]
    pub github: bool,
}

/// Which export files to read, and how to read them.
#[derive(Debug, Args)]
pub struct ExportFilesArgs {
    /// Export files, folders of export files, or `-` for an export on standard input [default: the
    /// data folder]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Data folder, if no path is given [default: data]
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub data: Given<PathBuf>,
    /// Prefix for an export's ids, such as `dpg=dpg:`; replaces its `id_prefix`; repeatable
    #[arg(long, value_name = "EXPORT=PREFIX", env = "SOFTWARE_DIRECTORY_ID_PREFIX", value_delimiter = ',',
          value_parser = value::id_prefix)]
    pub id_prefix: Vec<ExportPrefix>,
    /// minisign public key that may sign exports, in base64; every export then needs a valid signature
    /// beside it, such as `mine.json.minisig`; repeatable [default: signatures aren't checked]
    #[arg(long, value_name = "KEY", env = "SOFTWARE_DIRECTORY_TRUSTED_KEY", value_delimiter = ',',
          value_parser = value::trusted_key)]
    pub trusted_key: Vec<String>,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QueriesFormat {
    /// Human-readable text
    Text,
    /// One JSON document
    Json,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
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
    /// List what to check next instead, most urgent first: changed sources, dead links, claims past
    /// their age, and pending records; in Markdown as a checklist
    #[arg(long)]
    pub agenda: bool,
    /// After how many days evidence must be checked again, unless its attribute has a `max_age_days`
    #[arg(long, value_name = "DAYS", requires = "agenda", default_value_t = 365,
          value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub max_age: u32,
    /// Cache file with the results of `check --links`, if it exists
    #[arg(long, value_name = "FILE", requires = "agenda", value_hint = ValueHint::FilePath, default_value = LINKS_CACHE)]
    pub links_cache: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page without scripts or external resources
    Html,
    /// Markdown with tables
    Markdown,
    /// CSV; only with --agenda
    Csv,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The table: CSV, a workbook (.xlsx, .ods), NDJSON, JSON or YAML with records, Markdown, or
    /// publiccode.yml or a folder of such files
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
    /// Update an export: rows are matched by id or, if there are no ids, by repository, then by URL
    /// and name; everything else in it is kept. It's the default if the export and its mapping exist
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "name", "license", "write_mapping"])]
    pub update: Option<PathBuf>,
    /// When updating, remove records from the export that aren't in the table
    #[arg(long)]
    pub remove_missing: bool,
    /// Data folder, whose exports declare the categories [default: data]
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = value::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub data: Given<PathBuf>,
    /// The export's name [default: asked for on a terminal]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// URL of the export's licence [default: asked for on a terminal]
    #[arg(long, value_name = "URL")]
    pub license: Option<String>,
    /// How the table is read; remembered in the mapping.
    #[command(flatten)]
    pub table: TableArgs,
    /// Accept the proposed mapping and an update's changes
    #[arg(long)]
    pub yes: bool,
    /// Mapping to use [default: the one beside the export, such as data/mine.mapping.toml]
    #[arg(long, value_name = "FILE")]
    pub mapping: Option<PathBuf>,
    /// Write the proposed mapping to a file, as TOML, and do nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mapping", "yes"])]
    pub write_mapping: Option<PathBuf>,
    /// Use a column as a property, such as `Link=url`, or columns in a template, such as
    /// `https://a.example/{Code}=url`; `COLUMN=not used` leaves a column out; repeatable
    #[arg(long, value_name = "COLUMN=PROPERTY")]
    pub map: Vec<String>,
    /// Publish a column without a known meaning as an additional property, or all such columns with
    /// `*`; repeatable
    #[arg(long, value_name = "COLUMN")]
    pub additional: Vec<String>,
    /// Publish a column as an attribute that readers can filter by; its values decide whether it's
    /// a number, true or false, a date, or text; repeatable
    #[arg(long, value_name = "COLUMN")]
    pub attribute: Vec<String>,
    /// Split a column's lists at commas; repeatable
    #[arg(long, value_name = "COLUMN")]
    pub split_commas: Vec<String>,
    /// Translate a column's values with a JSON file such as {"geprüft": "vendor-sources-reviewed"};
    /// repeatable
    #[arg(long, value_name = "COLUMN=FILE")]
    pub map_values: Vec<String>,
    /// Maximum file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}

/// Options for a table's content, which its mapping remembers under these names.
#[derive(Debug, Default, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub struct TableArgs {
    /// Which worksheet of a workbook to read, which list in JSON or YAML, or the table below which
    /// heading in Markdown, if there are several [default: the only worksheet with names and addresses]
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// Row with the column names, numbered as in a spreadsheet program [default: detected]
    #[arg(long, value_name = "N")]
    pub header_row: Option<u64>,
    /// Encoding of a CSV file that isn't UTF-8, such as windows-1251 or euc-kr [default: Windows-1252 if unambiguous]
    #[arg(long, value_name = "LABEL")]
    pub encoding: Option<String>,
    /// Order of the day and month in dates such as 3/4/2025 [default: detected if any day is above
    /// 12]
    #[arg(long, value_name = "ORDER")]
    pub date_order: Option<DateOrderArg>,
    /// Add a suffix, as in moss-2, to ids that are derived from names and would collide. Rows are
    /// then never merged
    #[arg(long)]
    pub unique_ids: bool,
    /// Apply the fixes that need no judgement: missing and broken URL schemes, umlauts in hosts, and
    /// spaces around addresses
    #[arg(long)]
    pub fix: bool,
    /// Merge rows with the same id, or the same name and URL, even if more than their lists differs
    #[arg(long)]
    pub merge_rows: bool,
    /// Write the valid rows; the others go to a file beside the export, such as
    /// data/mine.rejected.csv, with the reasons, so that you can correct and import them
    #[arg(long, conflicts_with = "remove_missing")]
    pub valid_rows: bool,
    /// Leave out cells with errors and keep their products; a name, an address or an id is never left
    /// out
    #[arg(long)]
    pub drop_bad_cells: bool,
    /// Another word for "no value"; repeatable
    #[arg(long, value_name = "TEXT")]
    pub null: Vec<String>,
    /// Fill a column's blank cells with the value above them, as for merged cells; repeatable
    #[arg(long, value_name = "COLUMN")]
    pub blank_means_above: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrderArg {
    /// 31/12/2025
    Dmy,
    /// 12/31/2025
    Mdy,
}

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

#[cfg(test)]
mod tests {
    use super::{age, contact};

    #[test]
    fn an_age_can_be_in_days_weeks_months_or_years() {
        for right in ["365d", "26w", "18mo", "1y", "1y 6mo", "90 days", "P1Y6M"] {
            assert!(age(right).is_ok(), "{right}");
        }
        for wrong in ["", "365", "6m", "12h", "-1d", "1d 2h", "1d ago", "soon"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_contact_fits_in_a_user_agent_comment() {
        for right in ["https://example.org/about?x=1", "data@example.org"] {
            assert_eq!(contact(right).as_deref(), Ok(right));
        }
        for wrong in ["", "a b", "a)", "a\\", "ä", "a\n", &"a".repeat(201)] {
            assert!(contact(wrong).is_err(), "{wrong}");
        }
    }
}
