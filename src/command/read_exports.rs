//! Reading the export files that a command names, with a progress bar.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use super::INVALID;
use super::data::{self, DATA_FOLDER};
use super::progress::LONG_BYTES;
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

/// The files named and those of the folders named, each once.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FilesError> {
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
    let default = [args.data.as_deref().unwrap_or(Path::new(DATA_FOLDER)).to_owned()];
    let paths = if args.paths.is_empty() { &default[..] } else { &args.paths };
    let files = files(paths)?;
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    let prefixes = data::prefixes(&args.id_prefix);
    let bar = progress_bar();
    let mut report = export::read(&files, &limits, &prefixes, today, &|done, total| {
        if total >= LONG_BYTES {
            bar.set_length(total);
            bar.set_position(done);
        }
    });
    bar.finish_and_clear();
    let mut seen = HashSet::new();
    for folder in paths.iter().filter(|path| path.is_dir() && seen.insert(path.canonicalize().ok())) {
        export::mention_ignored_files(&mut report, folder);
    }
    report.unused_prefixes(&prefixes).for_each(data::warn_of_unused_prefix);
    Ok(report)
}

/// A bar on standard error; indicatif hides it where that isn't a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("Checking {bar:30} {bytes} of {total_bytes}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
