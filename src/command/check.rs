//! `check`: reports the errors and warnings in export files.

use std::io::{self, Write};
use std::process::ExitCode;

use jiff::Span;
use jiff::civil::Date;

use super::read_exports::{self, FilesError};
use super::{Failure, INVALID, links, print_error};
use crate::cli::{CheckArgs, CheckFormat, Deny};
use crate::error::chain;
use crate::export::{self, Report, render};
use crate::record::CalendarDate;
use crate::text::printable::printable;

/// Why `check` can't produce a report.
#[derive(Debug, thiserror::Error)]
enum CheckError {
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error("--stale reaches back before the year 0: use a shorter age, such as 365d")]
    Age,
    #[error("the report can't be written")]
    Write(#[from] io::Error),
    #[error("{text}")]
    Links { text: String, code: u8 },
}

/// Checks the files and prints the report to standard output. Exit codes: 0 valid, 1 the check
/// itself failed, 2 invalid exports or denied warnings.
pub(super) fn run(args: &CheckArgs) -> ExitCode {
    if args.statistics && args.format != CheckFormat::Text {
        print_error("--statistics works only with the text format: leave out --format, or use --format text");
        return ExitCode::from(INVALID);
    }
    match check(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            print_error(&printable(&chain(&error)));
            ExitCode::from(match error {
                CheckError::Files(error) => error.exit_code(),
                CheckError::Age => INVALID,
                CheckError::Write(_) => 1,
                CheckError::Links { code, .. } => code,
            })
        }
    }
}

fn check(args: &CheckArgs) -> Result<bool, CheckError> {
    let now = jiff::Zoned::now();
    let stale_before = args.stale.map(|age| stale_before(now.date(), age)).transpose()?;
    let mut report = read_exports::read(&args.files, export::latest_day(now.timestamp()), stale_before)?;
    if args.links.links {
        let checked = links::check(&mut report, &args.links);
        checked.map_err(|Failure { text, code }| CheckError::Links { text, code })?;
    }
    match print(&report, args) {
        // The reader has closed the pipe (`check | head`), which doesn't change the exit code.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        printed => printed?,
    }
    let denied = if args.deny == Some(Deny::Warnings) { report.warning_count() } else { 0 };
    if denied > 0 && report.is_valid() {
        print_error("warnings are denied: correct them, or check without --deny warnings");
    }
    Ok(report.is_valid() && denied == 0)
}

/// The first date on which evidence isn't stale yet.
fn stale_before(today: Date, age: Span) -> Result<CalendarDate, CheckError> {
    let day = today.checked_sub(age).ok().filter(|day| day.year() >= 0);
    day.map(CalendarDate::from).ok_or(CheckError::Age)
}

fn print(report: &Report, args: &CheckArgs) -> io::Result<()> {
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        CheckFormat::Text if args.statistics => render::statistics(report, &mut out)?,
        CheckFormat::Text => render::text(report, render::Style::Coloured, &mut out)?,
        CheckFormat::Json => render::json(report, &mut out)?,
        CheckFormat::Github => render::github(report, &mut out)?,
        CheckFormat::Sarif => render::sarif(report, &mut out)?,
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use jiff::Span;
    use jiff::civil::date;

    use super::stale_before;

    #[test]
    fn evidence_becomes_stale_the_day_after_it_reaches_the_maximum_age() {
        let before = |age: Span| stale_before(date(2026, 3, 31), age).ok().map(|day| day.to_string());
        assert_eq!(before(Span::new().days(365)).as_deref(), Some("2025-03-31"));
        assert_eq!(before(Span::new().weeks(1)).as_deref(), Some("2026-03-24"));
        assert_eq!(before(Span::new().months(1)).as_deref(), Some("2026-02-28"));
        assert_eq!(before(Span::new().years(2026)).as_deref(), Some("0000-03-31"));
        assert_eq!(before(Span::new().years(2027)), None);
        assert_eq!(before(Span::new().years(19_000)), None);
    }
}
