//! Reads the export files named in a command, with a progress bar.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::INVALID;
use super::data::{self, DATA_FOLDER};
use super::progress::reading;
use crate::cli::ExportFilesArgs;
use crate::export::{self, FindError, Limits, MaxAge, Report, SourceFile};
use crate::record::CalendarDate;

/// Why there are no files to read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("the exports can't be loaded into memory")]
    Memory(#[from] io::Error),
    #[error("the path {} can't be read", .path.display())]
    Path {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error(
        "- stands for standard input, which can't be checked together with other paths: check them separately, or \
         write ./- for a file with that name"
    )]
    StandardInput,
}

impl FilesError {
    /// The exit code: 2 for a folder without exports or a usage error, otherwise 1.
    pub(super) const fn exit_code(&self) -> u8 {
        if matches!(self, Self::Find(FindError::NoFiles { .. }) | Self::StandardInput) { INVALID } else { 1 }
    }
}

/// The named files and those in the named folders, without duplicates.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FilesError> {
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let of_path = if metadata(path)?.is_dir() { export::find_files(path)? } else { vec![path.clone()] };
        // A file that can't be resolved is reported when it's read.
        files.extend(
            of_path.into_iter().filter(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()))),
        );
    }
    Ok(files)
}

fn metadata(path: &Path) -> Result<std::fs::Metadata, FilesError> {
    std::fs::metadata(path).map_err(|error| FilesError::Path { path: path.to_owned(), error })
}

/// Whether the paths are just `-`, which means the export on standard input.
fn is_standard_input(paths: &[PathBuf]) -> Result<bool, FilesError> {
    let names_it = paths.iter().any(|path| path.as_os_str() == "-");
    if names_it && paths.len() > 1 { Err(FilesError::StandardInput) } else { Ok(names_it) }
}

/// Reads and checks the files named in the options, and warns about prefixes for exports that aren't
/// among them. `today` is the last date that isn't in the future.
pub(super) fn read(args: &ExportFilesArgs, today: CalendarDate, max_age: Option<MaxAge>) -> Result<Report, FilesError> {
    let limits = Limits { max_file_bytes: args.max_file_bytes, max_age, ..Limits::default() };
    let prefixes = data::prefixes(&args.id_prefix);
    let report = if is_standard_input(&args.paths)? {
        let source = SourceFile::from_standard_input(io::stdin().lock(), &limits);
        export::examine(vec![source.map(|file| file.prefixed(&prefixes))], &limits, today, &|_| {})?
    } else {
        let default = [args.data.as_deref().unwrap_or(Path::new(DATA_FOLDER)).to_owned()];
        let paths = if args.paths.is_empty() { &default[..] } else { &args.paths };
        let files = files(paths)?;
        let mut report = reading(|progress| export::read(&files, &limits, &prefixes, today, progress))?;
        let mut seen = HashSet::new();
        for folder in paths.iter().filter(|path| path.is_dir() && seen.insert(path.canonicalize().ok())) {
            export::mention_ignored_files(&mut report, folder);
        }
        report
    };
    report.unused_prefixes(&prefixes).for_each(data::warn_of_unused_prefix);
    Ok(report)
}
