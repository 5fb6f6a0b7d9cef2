//! Options for `add`, `set` and `init`.

use std::path::PathBuf;

use clap::Args;

/// Options for `add`.
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

/// Options for `set`.
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

/// Options for `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Folder to set up; existing files are left as they are
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
}
