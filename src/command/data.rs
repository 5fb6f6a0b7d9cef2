//! The options that say where the exports are, made into settings.

use std::path::{Path, PathBuf};

use crate::cli::DataArgs;
use crate::export::Limits;
use crate::snapshot::Settings;
use crate::snapshot::source::Source;

/// The data folder where none is named.
const DATA_FOLDER: &str = "data";
/// The index folder that is none.
const NO_INDEX: &str = "none";

/// The settings of a keeper. Where no data folder is named and there is none, the embedded demo is the source.
pub(super) fn settings(args: &DataArgs, max_removed: u8) -> Settings {
    let source = match &args.data {
        Some(folder) => Source::Folder(folder.clone()),
        None if Path::new(DATA_FOLDER).exists() => Source::Folder(PathBuf::from(DATA_FOLDER)),
        None => Source::Embedded,
    };
    let index = (args.index != Path::new(NO_INDEX)).then(|| args.index.clone());
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    Settings { source, index, read_only: false, skip_invalid: args.skip_invalid, max_removed, limits, process: None }
}
