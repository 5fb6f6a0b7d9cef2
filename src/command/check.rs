//! `check`: reports the errors and warnings of export files.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};

use super::{INVALID, data, print_error};
use crate::cli::{CheckArgs, CheckFormat, Deny};
use crate::error::chain;
use crate::export::{self, FindError, Limits, Report, render};
use crate::printable::printable;

/// The default folder of exports.
const DATA_FOLDER: &str = "data";

/// From this size on checking takes long enough to show progress.
const LONG_BYTES: u64 = 8 * 1024 * 1024;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum CheckError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("the path {} can't be read", .path.display())]
    Path {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the report can't be written")]
    Write(#[from] io::Error),
}

/// Checks the files and prints the report on standard output. Exit codes: 0 valid, 1 the check itself failed, 2 invalid
/// or denied.
#[must_use]
pub(super) fn run(args: &CheckArgs) -> ExitCode {
    if args.statistics && args.format != CheckFormat::Text {
        print_error("--statistics is of the text format: leave --format out, or write --format text");
        return ExitCode::from(INVALID);
    }
    match check(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            print_error(&printable(&chain(&error)));
            ExitCode::from(if matches!(error, CheckError::Find(FindError::NoFiles { .. })) { 2 } else { 1 })
        }
    }
}

fn check(args: &CheckArgs) -> Result<bool, CheckError> {
    let files = files(args)?;
    let limits = Limits { max_file_bytes: args.max_file_bytes, ..Limits::default() };
    let today = export::latest_day(jiff::Timestamp::now());
    let bar = progress_bar();
    let prefixes = data::prefixes(&args.id_prefix);
    let report = export::read(&files, &limits, &prefixes, today, &|done, total| {
        if total >= LONG_BYTES {
            bar.set_length(total);
            bar.set_position(done);
        }
    });
    bar.finish_and_clear();
    report.unused_prefixes(&prefixes).for_each(data::warn_of_unused_prefix);
    match print(&report, args) {
        // The reader has closed the pipe (`check | head`); the exit code stays.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed?,
    }
    let denied = if args.deny == Some(Deny::Warnings) { report.warning_count() } else { 0 };
    if denied > 0 && report.is_valid() {
        print_error("warnings are denied: correct them, or check without --deny warnings");
    }
    Ok(report.is_valid() && denied == 0)
}

fn print(report: &Report, args: &CheckArgs) -> io::Result<()> {
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        CheckFormat::Text if args.statistics => render::statistics(report, &mut out)?,
        CheckFormat::Text => render::text(report, render::Style::Coloured, &mut out)?,
        CheckFormat::Json => render::json(report, &mut out)?,
        CheckFormat::Github => render::github(report, &mut out)?,
    }
    out.flush()
}

/// The files to check: those named, those of the folders named, each once.
fn files(args: &CheckArgs) -> Result<Vec<PathBuf>, CheckError> {
    let default = [args.data.clone().unwrap_or_else(|| DATA_FOLDER.into())];
    let paths = if args.paths.is_empty() { &default[..] } else { &args.paths };
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

fn metadata(path: &Path) -> Result<std::fs::Metadata, CheckError> {
    std::fs::metadata(path).map_err(|error| CheckError::Path { path: path.to_owned(), error })
}

/// A bar on standard error; indicatif hides it where that isn't a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("Checking {bar:30} {bytes} of {total_bytes}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
