//! Derives a build's settings from the options.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::log::Log;
use super::progress::Terminal;
use super::{Failure, INVALID, print_note};
use crate::cli::{DataArgs, ExportPrefix, LogFormat, NO_INDEX, OnOff};
use crate::export::{IdPrefixes, Limits};
use crate::generation::source::Source;
use crate::generation::{MeaningOption, Settings, Snapshot};
use crate::text::printable::printable;
use crate::update::files::ExportFiles;
use crate::update::{Directory, Updater};

/// The default data folder.
pub(super) const DATA_FOLDER: &str = "data";

/// Checks at startup that the folder given with `--data` exists. If it disappears later, a running
/// server keeps the last good generation.
///
/// # Errors
///
/// If it doesn't exist or isn't a folder. The exit code is 2.
pub(super) fn check(args: &DataArgs) -> Result<(), Failure> {
    let Some(folder) = &args.data else { return Ok(()) };
    let name = folder.display();
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::usage(format!(
            "the data folder {name} doesn't exist; specify a folder of export files with --data or SOFTWARE_DIRECTORY_DATA"
        ))),
        Ok(metadata) if !metadata.is_dir() => Err(Failure::usage(format!(
            "--data {name} is not a folder; specify the folder that contains the export \
            files"
        ))),
        // A folder that exists but can't be read right now, such as a failing mount, isn't a typo.
        _ => Ok(()),
    }
}

/// The prefixes given with the option or its environment variable. An empty variable means none.
pub(super) fn prefixes(pairs: &[ExportPrefix]) -> IdPrefixes {
    pairs.iter().filter(|(export, _)| !export.is_empty()).cloned().collect()
}

/// Reports a prefix for an export that doesn't exist.
pub(super) fn warn_of_unused_prefix(export: &str) {
    let export = printable(export);
    print_note(&format!(
        "warning: --id-prefix names the export `{export}`, which doesn't exist: use the name of its file without .json"
    ));
}

/// The settings for builds. If no data folder is named and the default doesn't exist, the embedded
/// demo is the source.
pub(super) fn settings(args: &DataArgs, max_removed: u8) -> Settings {
    let source = match &args.data {
        Some(folder) => Source::Folder(folder.clone()),
        None if Path::new(DATA_FOLDER).exists() => Source::Folder(PathBuf::from(DATA_FOLDER)),
        None => Source::Embedded,
    };
    let index = (args.index != Path::new(NO_INDEX)).then(|| args.index.clone());
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    let id_prefixes = prefixes(&args.id_prefix);
    let meaning = match args.meaning {
        OnOff::On => MeaningOption::On,
        OnOff::Off => MeaningOption::Off,
    };
    let skip_invalid = args.skip_invalid;
    Settings { source, index, read_only: false, skip_invalid, max_removed, id_prefixes, meaning, limits, process: None }
}

/// Loads the directory once, without writing anything. If it's degraded, prints the reasons to
/// standard error.
pub(super) fn load(args: &DataArgs, directory: &Arc<Directory>) -> Result<Arc<Snapshot>, Failure> {
    check(args)?;
    // Read-only, because a running server picks up each new generation on disk.
    let settings = Settings { read_only: true, ..settings(args, 100) };
    let log = Log::start(io::stderr()).map_err(|error| Failure::other(&error))?;
    let terminal = Terminal::new(LogFormat::Text, log.clone());
    let mut updater = Updater::new(ExportFiles::new(settings, Box::new(terminal)), Arc::clone(directory));
    let started = updater.start();
    log.flush();
    if let Err(failure) = started {
        return Err(Failure { text: printable(&failure.to_string()).into_owned(), code: INVALID });
    }
    for reason in directory.degraded().iter() {
        print_note(&format!("warning: {}", printable(&reason.detail)));
    }
    let none = || Failure { text: "no generation is loaded".to_owned(), code: 1 };
    let snapshot = directory.current().ok_or_else(none)?;
    let exports = updater.origin.settings().id_prefixes.iter().map(|(export, _)| export);
    exports.filter(|export| snapshot.catalogue.export(export).is_none()).for_each(warn_of_unused_prefix);
    Ok(snapshot)
}
