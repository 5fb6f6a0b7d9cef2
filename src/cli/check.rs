//! The options of `check`.

use clap::{Args, ValueEnum};
use jiff::Span;

use super::ExportFilesArgs;

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The files.
    #[command(flatten)]
    pub files: ExportFilesArgs,
    /// How to report
    #[arg(long, value_name = "FORMAT", env = "SOFTWARE_DIRECTORY_CHECK_FORMAT", default_value = "text")]
    pub format: CheckFormat,
    /// Print the number of findings of each code in place of the findings; of the text format
    #[arg(long)]
    pub statistics: bool,
    /// Exit with 2 where there are only warnings, too
    #[arg(long, value_name = "KIND")]
    pub deny: Option<Deny>,
    /// Warn of evidence that was checked longer ago than this, such as `365d`, `26w`, `18mo` or `1y`, and list it by category
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub stale: Option<Span>,
}

/// Findings that `check` rejects besides errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Every warning
    Warnings,
}

/// How `check` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people, as compilers do
    Text,
    /// One JSON document
    Json,
    /// Workflow commands, shown by GitHub as annotations
    Github,
    /// SARIF 2.1.0, for editors and code scanning
    Sarif,
}

/// Reads an age in days, weeks, months and years.
fn age(text: &str) -> Result<Span, String> {
    let span: Option<Span> = text.parse().ok().filter(|span: &Span| {
        let has_time = span.get_hours() != 0
            || span.get_minutes() != 0
            || span.get_seconds() != 0
            || span.get_milliseconds() != 0
            || span.get_microseconds() != 0
            || span.get_nanoseconds() != 0;
        !has_time && !span.is_negative()
    });
    span.ok_or_else(|| "write days, weeks, months or years, such as 365d, 26w, 18mo or 1y".to_owned())
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn an_age_is_in_days_weeks_months_and_years() {
        for right in ["365d", "26w", "18mo", "1y", "1y 6mo", "90 days", "P1Y6M"] {
            assert!(age(right).is_ok(), "{right}");
        }
        for wrong in ["", "365", "6m", "12h", "-1d", "1d 2h", "1d ago", "soon"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
