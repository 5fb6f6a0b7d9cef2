//! `report`: shows how complete and up to date the records in export files are.

use std::io::{self, Write};
use std::process::ExitCode;

use jiff::Span;

use super::check::read_cache;
use super::write_file::{check_absent, write_file};
use super::{Failure, print, print_note, read_exports};
use crate::cli::{ReportArgs, ReportFormat};
use crate::curate::links::{LinkCheck, MachineClock};
use crate::curate::report::{self, Agenda};
use crate::error::chain;
use crate::export::{self, MaxAge};
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
    if args.format == ReportFormat::Csv && !args.agenda {
        return Err(Failure::usage("only the agenda can be written as CSV: add --agenda, or use --format markdown"));
    }
    let today = jiff::Zoned::now().date();
    let max_age = MaxAge::new(today, Span::new().days(args.max_age)).filter(|_| args.agenda);
    let mut read = read_exports::read(&args.files, export::latest_day(jiff::Timestamp::now()), max_age)
        .map_err(|error| Failure { text: chain(&error), code: error.exit_code() })?;
    if read.exports.is_empty() {
        return Err(Failure::usage("none of the files is a valid export; see software-directory check"));
    }
    if !read.is_valid() {
        print_note(&format!("note: the report leaves out {}, which are invalid", read.skipped));
    }
    let day = CalendarDate::from(today);
    let html = |document| report::html(&document).map_err(|error| Failure::other(&error));
    let text = if args.agenda {
        let links = LinkCheck::new(&read, read_cache(&args.links_cache)?, &MachineClock, true);
        links.map_err(|error| Failure::other(&error))?.report(&mut read);
        let agenda = Agenda::of(&read);
        match args.format {
            ReportFormat::Html => html(agenda.document(day))?,
            ReportFormat::Markdown => report::checklist(&agenda.document(day)),
            ReportFormat::Csv => agenda.csv().map_err(|error| Failure::other(&error))?,
        }
    } else {
        let document = report::collect(&read, day);
        if args.format == ReportFormat::Html { html(document)? } else { report::markdown(&document) }
    };
    let Some(output) = &args.output else { return Ok(print(&text)) };
    write_file(output, args.force, |out: &mut dyn Write| -> io::Result<()> { out.write_all(text.as_bytes()) })?;
    print_note(&printable(&format!("The report is in {}.", output.display())));
    Ok(ExitCode::SUCCESS)
}
