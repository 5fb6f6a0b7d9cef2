//! `check`: reports the errors and warnings of export files.

use std::io::{self, Write};
use std::process::ExitCode;

use super::read_exports::{self, FilesError};
use super::{INVALID, print_error};
use crate::cli::{CheckArgs, CheckFormat, Deny};
use crate::error::chain;
use crate::export::{self, Report, render};
use crate::printable::printable;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum CheckError {
    #[error(transparent)]
    Files(#[from] FilesError),
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
            ExitCode::from(if let CheckError::Files(error) = error { error.exit_code() } else { 1 })
        }
    }
}

fn check(args: &CheckArgs) -> Result<bool, CheckError> {
    let report = read_exports::read(&args.files, export::latest_day(jiff::Timestamp::now()))?;
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
