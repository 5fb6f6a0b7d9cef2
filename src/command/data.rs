//! Derives a build's settings from the options.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::log::Log;
use super::progress::Terminal;
use super::{Failure, INVALID, print_note};
use crate::cli::{DataArgs, ExportPrefix, LogFormat, NONE, OnOff};
use crate::export::{IdPrefixes, Limits, TrustedKeys};
use crate::generation::source::Source;
use crate::generation::store::Store;
use crate::generation::{MeaningOption, Settings, Snapshot};
use crate::key::access::DEFAULT_KEY_FILE;
use crate::text::printable::printable;
use crate::update::files::ExportFiles;
use crate::update::index::IndexFolder;
use crate::update::{Directory, Updater};

pub(super) const DATA_FOLDER: &str = "data";
/// The demo records that come with the source code.
const DEMO_FILE: &str = "demo/demo.json";

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

/// The keys given with the option or its environment variable.
pub(super) fn trusted_keys(keys: &[String]) -> TrustedKeys {
    TrustedKeys::new(keys.iter().filter(|key| !key.is_empty()).cloned())
}

/// Reports a prefix for an export that doesn't exist.
pub(super) fn warn_of_unused_prefix(export: &str) {
    let export = printable(export);
    print_note(&format!(
        "warning: --id-prefix names the export `{export}`, which doesn't exist: use the name of its file without .json"
    ));
}

/// The file with demo records to serve beside the default data folder: none once the operator names a
/// data folder, has a key file, or trusts only signed exports.
pub(super) fn demo(args: &DataArgs, keys: Option<&Path>) -> Option<PathBuf> {
    let demo = Path::new(DEMO_FILE);
    let has_keys = || keys.unwrap_or(Path::new(DEFAULT_KEY_FILE)).symlink_metadata().is_ok();
    let is_trusting = || !trusted_keys(&args.trusted_key).is_empty();
    (args.data.is_none() && !is_trusting() && !has_keys() && demo.is_file()).then(|| demo.to_owned())
}

/// The settings for builds. If no data folder is named and the default doesn't exist, the embedded
/// demo is the source. With `--data none`, nothing is built.
pub(super) fn settings(args: &DataArgs, demo: Option<PathBuf>, max_removed: u8) -> Settings {
    let default = || Path::new(DATA_FOLDER).exists().then(|| PathBuf::from(DATA_FOLDER));
    let source = match (args.data.clone().or_else(default), demo) {
        (Some(folder), Some(demo)) => Source::WithDemo(folder, demo),
        (Some(folder), None) => Source::Folder(folder),
        (None, _) => Source::Embedded,
    };
    let index = (args.index != Path::new(NONE)).then(|| args.index.clone());
    let trusted_keys = trusted_keys(&args.trusted_key);
    let limits = Limits { max_file_bytes: args.max_file_bytes, trusted_keys, ..Limits::default() };
    let id_prefixes = prefixes(&args.id_prefix);
    let meaning = match args.meaning {
        OnOff::On => MeaningOption::On,
        OnOff::Off => MeaningOption::Off,
    };
    let skip_invalid = args.skip_invalid;
    Settings { source, index, read_only: false, skip_invalid, max_removed, id_prefixes, meaning, limits, process: None }
}

/// The index folder to serve with `--data none`; `None` if the generations come from exports.
///
/// # Errors
///
/// If another option contradicts that. The exit code is 2.
pub(super) fn index_folder(args: &DataArgs) -> Result<Option<IndexFolder>, Failure> {
    if args.data.as_deref() != Some(Path::new(NONE)) {
        return Ok(None);
    }
    if args.index == Path::new(NONE) {
        return Err(Failure::usage("--data none serves an index folder, so it can't be combined with --index none"));
    }
    let has_keys = !trusted_keys(&args.trusted_key).is_empty();
    if args.skip_invalid || has_keys || !prefixes(&args.id_prefix).is_empty() || args.meaning == OnOff::Off {
        return Err(Failure::usage(
            "--data none serves generations as they were built: give --skip-invalid, --id-prefix, --trusted-key and \
             --meaning to the server that builds them",
        ));
    }
    Ok(Some(IndexFolder::new(Store::new(&args.index))))
}

/// Loads the directory once, without writing anything. If it's degraded, prints the reasons to
/// standard error.
pub(super) fn load(args: &DataArgs, directory: &Arc<Directory>) -> Result<Arc<Snapshot>, Failure> {
    if let Some(folder) = index_folder(args)? {
        let mut updater = Updater::new(folder, Arc::clone(directory));
        let loaded = updater.start().and_then(|_| updater.refresh());
        if let (Err(error), None) = (loaded, directory.current()) {
            return Err(Failure { text: printable(&error.to_string()).into_owned(), code: INVALID });
        }
        return loaded_once(directory);
    }
    check(args)?;
    // Read-only, because a running server picks up each new generation on disk.
    let settings = Settings { read_only: true, ..settings(args, demo(args, None), 100) };
    let log = Log::start(io::stderr())?;
    let terminal = Terminal::new(LogFormat::Text, log.clone());
    let mut updater = Updater::new(ExportFiles::new(settings, Box::new(terminal)), Arc::clone(directory));
    let started = updater.start();
    log.flush();
    if let Err(failure) = started {
        return Err(Failure { text: printable(&failure.to_string()).into_owned(), code: INVALID });
    }
    let snapshot = loaded_once(directory)?;
    let exports = updater.origin.settings().id_prefixes.keys();
    exports
        .filter(|export| snapshot.catalogue.export(export).is_none())
        .for_each(|export| warn_of_unused_prefix(export));
    Ok(snapshot)
}

fn loaded_once(directory: &Directory) -> Result<Arc<Snapshot>, Failure> {
    for reason in directory.degraded().iter() {
        print_note(&format!("warning: {}", printable(&reason.detail)));
    }
    directory.current().ok_or_else(|| Failure { text: "no generation is loaded".to_owned(), code: 1 })
}
