//! Reads the export files named in a command, with a progress bar.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::data::{self, DATA_FOLDER};
use super::progress::reading;
use super::{Failure, INVALID};
use crate::cli::ExportFilesArgs;
use crate::error::chain;
use crate::export::{self, FindError, Limits, MaxAge, Report, SourceFile};
use crate::record::CalendarDate;

/// The named files and those in the named folders, without duplicates.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let unreadable =
            |error| Failure { text: format!("the path {} can't be read: {error}", path.display()), code: 1 };
        let is_folder = std::fs::metadata(path).map_err(unreadable)?.is_dir();
        let of_path =
            if is_folder { export::find_files(path).map_err(|error| not_found(&error))? } else { vec![path.clone()] };
        // A file that can't be resolved is reported when it's read.
        files.extend(
            of_path.into_iter().filter(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()))),
        );
    }
    Ok(files)
}

fn not_found(error: &FindError) -> Failure {
    let code = if matches!(error, FindError::NoFiles { .. }) { INVALID } else { 1 };
    Failure { text: chain(error), code }
}

/// Whether the paths are just `-`, which means the export on standard input.
fn is_standard_input(paths: &[PathBuf]) -> Result<bool, Failure> {
    let names_it = paths.iter().any(|path| path.as_os_str() == "-");
    if names_it && paths.len() > 1 {
        return Err(Failure::usage(
            "- stands for standard input, which can't be checked together with other paths: check them separately, or \
             write ./- for a file with that name",
        ));
    }
    Ok(names_it)
}

/// Reads and checks the files named in the options, and warns about prefixes for exports that aren't
/// among them. `today` is the last date that isn't in the future.
pub(super) fn read(args: &ExportFilesArgs, today: CalendarDate, max_age: Option<MaxAge>) -> Result<Report, Failure> {
    let trusted_keys = data::trusted_keys(&args.trusted_key);
    let limits = Limits { max_file_bytes: args.max_file_bytes, max_age, trusted_keys, ..Limits::default() };
    let prefixes = data::prefixes(&args.id_prefix);
    let in_memory = |error| Failure { text: format!("the exports can't be loaded into memory: {error}"), code: 1 };
    let report = if is_standard_input(&args.paths)? {
        let source = SourceFile::from_standard_input(io::stdin().lock(), &limits);
        export::examine(vec![source.map(|file| file.prefixed(&prefixes))], &limits, today, &|_| {})
            .map_err(in_memory)?
    } else {
        let default = [args.data.as_deref().unwrap_or(Path::new(DATA_FOLDER)).to_owned()];
        let paths = if args.paths.is_empty() { &default[..] } else { &args.paths };
        let files = files(paths)?;
        let mut report =
            reading(|progress| export::read(&files, &limits, &prefixes, today, progress)).map_err(in_memory)?;
        let mut seen = HashSet::new();
        for folder in paths.iter().filter(|path| path.is_dir() && seen.insert(path.canonicalize().ok())) {
            export::mention_ignored_files(&mut report, folder);
        }
        report
    };
    report.unused_prefixes(&prefixes).for_each(data::warn_of_unused_prefix);
    Ok(report)
}
