//! Options for the commands that only read export files: `check` and `report`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::given::{self, Given};
use super::id_prefix::{self, ExportPrefix};

/// Which export files to read, and how to read them.
#[derive(Debug, Args)]
pub struct ExportFilesArgs {
    /// Export files, folders of export files, or `-` for an export on standard input [default: the
    /// data folder]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Data folder, if no path is given [default: data]
    #[arg(long, value_name = "FOLDER", env = "SOFTWARE_DIRECTORY_DATA",
          value_parser = given::path(), value_hint = ValueHint::AnyPath, default_value = "", hide_default_value = true)]
    pub data: Given<PathBuf>,
    /// Prefix for an export's ids, such as `dpg=dpg:`; replaces its `id_prefix`; repeatable
    #[arg(long, value_name = "EXPORT=PREFIX", env = "SOFTWARE_DIRECTORY_ID_PREFIX", value_delimiter = ',',
          value_parser = id_prefix::id_prefix)]
    pub id_prefix: Vec<ExportPrefix>,
    /// Maximum export file size, in bytes
    #[arg(long, value_name = "BYTES", env = "SOFTWARE_DIRECTORY_MAX_FILE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub max_file_bytes: u64,
}
