//! Reading the export files that a command names, with a progress bar.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::INVALID;
use super::data::{self, DATA_FOLDER};
use super::progress::reading;
use crate::cli::ExportFilesArgs;
use crate::export::{self, FindError, Limits, Report};
use crate::record::CalendarDate;

/// Why there are no files to read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("the path {} can't be read", .path.display())]
    Path {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

impl FilesError {
    /// 2 for a folder without exports, else 1.
    pub(super) const fn exit_code(&self) -> u8 {
        if matches!(self, Self::Find(FindError::NoFiles { .. })) { INVALID } else { 1 }
    }
}

/// The files named and those of the folders named, each once; without a path those of the data folder.
fn files(paths: &[PathBuf], data: Option<&Path>) -> Result<Vec<PathBuf>, FilesError> {
    let default = [data.unwrap_or(Path::new(DATA_FOLDER)).to_owned()];
    let paths = if paths.is_empty() { &default[..] } else { paths };
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let of_path = if metadata(path)?.is_dir() { export::find_files(path)? } else { vec![path.clone()] };
        // A file that can't be resolved is reported when it is read.
        files.extend(
            of_path.into_iter().filter(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()))),
        );
    }
    Ok(files)
}

fn metadata(path: &Path) -> Result<std::fs::Metadata, FilesError> {
    std::fs::metadata(path).map_err(|error| FilesError::Path { path: path.to_owned(), error })
}

/// Reads and checks the files that the options name, and warns of prefixes of exports that aren't among them. `today` is the last
/// day that isn't in the future.
///
/// # Errors
/// Where there are no files to read.
pub(super) fn read(args: &ExportFilesArgs, today: CalendarDate) -> Result<Report, FilesError> {
    let files = files(&args.paths, args.data.as_deref())?;
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    let prefixes = data::prefixes(&args.id_prefix);
    let report = reading(|progress| export::read(&files, &limits, &prefixes, today, progress));
    report.unused_prefixes(&prefixes).for_each(data::warn_of_unused_prefix);
    Ok(report)
}
