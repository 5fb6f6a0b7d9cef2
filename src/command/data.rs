//! The options that say where the exports are, made into settings.

use std::io;
use std::path::{Path, PathBuf};

use super::{Failure, print_note};
use crate::cli::{DataArgs, ExportPrefix};
use crate::export::{IdPrefixes, Limits};
use crate::printable::printable;
use crate::snapshot::Settings;
use crate::snapshot::source::Source;

/// The data folder where none is named.
const DATA_FOLDER: &str = "data";
/// The index folder that is none.
const NO_INDEX: &str = "none";

/// Checks at a start that the data folder named with `--data` is there. A folder that disappears later, while a server runs, leaves
/// the last good generation.
///
/// # Errors
/// Where it doesn't exist or isn't a folder: exit code 2.
pub(super) fn check(args: &DataArgs) -> Result<(), Failure> {
    let Some(folder) = named(args) else { return Ok(()) };
    let name = folder.display();
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::usage(format!(
            "the data folder {name} doesn't exist; name a folder of export files with --data or SOFTWARE_DIRECTORY_DATA"
        ))),
        Ok(metadata) if !metadata.is_dir() => {
            Err(Failure::usage(format!("--data {name} is not a folder; name the folder that the export files are in")))
        }
        // A folder that can't be read now, such as a mount with an error, is not a mistyped one.
        _ => Ok(()),
    }
}

/// The data folder that the options name; an empty name is none.
pub(super) fn named(args: &DataArgs) -> Option<&Path> {
    args.data.as_deref().filter(|folder| !folder.as_os_str().is_empty())
}

/// The prefixes that the option or its variable has; an empty variable has none.
pub(super) fn prefixes(pairs: &[ExportPrefix]) -> IdPrefixes {
    pairs.iter().filter(|(export, _)| !export.is_empty()).cloned().collect()
}

/// Says that a prefix is for an export which isn't there.
pub(super) fn warn_of_unused_prefix(export: &str) {
    let export = printable(export);
    print_note(&format!(
        "warning: --id-prefix names the export `{export}`, which isn't there: write the name of its file without .json"
    ));
}

/// The settings of a keeper. Where no data folder is named and there is none, the embedded demo is the source.
pub(super) fn settings(args: &DataArgs, max_removed: u8) -> Settings {
    let source = match named(args) {
        Some(folder) => Source::Folder(folder.to_owned()),
        None if Path::new(DATA_FOLDER).exists() => Source::Folder(PathBuf::from(DATA_FOLDER)),
        None => Source::Embedded,
    };
    let index = (args.index != Path::new(NO_INDEX)).then(|| args.index.clone());
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    let id_prefixes = prefixes(&args.id_prefix);
    let skip_invalid = args.skip_invalid;
    Settings { source, index, read_only: false, skip_invalid, max_removed, id_prefixes, limits, process: None }
}
