//! `report`: shows how complete and up to date the records in export files are.

use std::io::{self, Write};
use std::process::ExitCode;

use super::write_file::{check_absent, write_file};
use super::{Failure, print, print_note, read_exports};
use crate::cli::{ReportArgs, ReportFormat};
use crate::curate::report;
use crate::error::chain;
use crate::export;
use crate::record::CalendarDate;
use crate::text::printable::printable;

/// Writes the report. Exit codes: 0 written, 1 couldn't be written, 2 no valid export.
pub(super) fn run(args: &ReportArgs) -> ExitCode {
    match write(args) {
        Ok(code) => code,
        Err(failure) => failure.print(),
    }
}

fn write(args: &ReportArgs) -> Result<ExitCode, Failure> {
    if let Some(output) = &args.output {
        check_absent(output, args.force)?;
    }
    let read = read_exports::read(&args.files, export::latest_day(jiff::Timestamp::now()), None)
        .map_err(|error| Failure { text: chain(&error), code: error.exit_code() })?;
    if read.exports.is_empty() {
        return Err(Failure::usage("none of the files is a valid export; see software-directory check"));
    }
    if !read.is_valid() {
        print_note(&format!("note: the report leaves out {}, which are invalid", read.skipped));
    }
    let document = report::collect(&read, CalendarDate::from(jiff::Zoned::now().date()));
    let text = match args.format {
        ReportFormat::Html => report::html(&document).map_err(|error| Failure::other(&error))?,
        ReportFormat::Markdown => report::markdown(&document),
    };
    let Some(output) = &args.output else { return Ok(print(&text)) };
    write_file(output, args.force, |out: &mut dyn Write| -> io::Result<()> { out.write_all(text.as_bytes()) })?;
    print_note(&printable(&format!("The report is in {}.", output.display())));
    Ok(ExitCode::SUCCESS)
}
