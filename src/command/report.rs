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
use crate::export::{self, MaxAge};
use crate::record::CalendarDate;
use crate::text::printable::printable;

/// Writes the report. Exit codes: 0 written, 1 couldn't be written, 2 no valid export.
pub(super) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    if let Some(output) = &args.output {
        check_absent(output, args.force)?;
    }
    if args.format == ReportFormat::Csv && !args.agenda {
        return Err(Failure::usage("only the agenda can be written as CSV: add --agenda, or use --format markdown"));
    }
    let today = jiff::Zoned::now().date();
    let max_age = MaxAge::new(today, Span::new().days(args.max_age)).filter(|_| args.agenda);
    let mut read = read_exports::read(&args.files, export::latest_day(jiff::Timestamp::now()), max_age)?;
    if read.exports.is_empty() {
        return Err(Failure::usage("none of the files is a valid export; see software-directory check"));
    }
    if !read.is_valid() {
        print_note(&format!("note: the report leaves out {}, which are invalid", read.skipped));
    }
    let day = CalendarDate::from(today);
    let html = |document| report::html(&document);
    let text = if args.agenda {
        LinkCheck::new(&read, read_cache(&args.links_cache)?, &MachineClock, true)?.report(&mut read);
        let agenda = Agenda::of(&read);
        match args.format {
            ReportFormat::Html => html(agenda.document(day))?,
            ReportFormat::Markdown => report::checklist(&agenda.document(day)),
            ReportFormat::Csv => agenda.csv()?,
        }
    } else {
        let document = report::collect(&read, day);
        if args.format == ReportFormat::Html { html(document)? } else { report::markdown(&document) }
    };
    let Some(output) = &args.output else { return print(&text) };
    write_file(output, args.force, |out: &mut dyn Write| -> io::Result<()> { out.write_all(text.as_bytes()) })?;
    print_note(&printable(&format!("Wrote the report to {}.", output.display())));
    Ok(ExitCode::SUCCESS)
}
