//! Options for `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use jiff::Span;

use super::ExportFilesArgs;

/// Options for `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The files.
    #[command(flatten)]
    pub files: ExportFilesArgs,
    /// Report format
    #[arg(long, value_name = "FORMAT", env = "SOFTWARE_DIRECTORY_CHECK_FORMAT", default_value = "text")]
    pub format: CheckFormat,
    /// Print the number of findings for each code instead of the findings; only in text format
    #[arg(long)]
    pub statistics: bool,
    /// Exit with status 2 even if there are only warnings
    #[arg(long, value_name = "KIND")]
    pub deny: Option<Deny>,
    /// Warn about evidence that was last checked longer ago than this, such as `365d`, `26w`,
    /// `18mo` or `1y`, and list it by category
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub stale: Option<Span>,
    /// The links.
    #[command(flatten)]
    pub links: LinkArgs,
}

/// Options for checking links.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// Request every website and source, and warn about those that are dead, have moved, or have
    /// TLS problems
    #[arg(long)]
    pub links: bool,
    /// Cache file for the results, so that later runs request only the links that are due
    #[arg(long, value_name = "FILE", requires = "links", value_hint = ValueHint::FilePath,
          default_value = ".software-directory-links.json")]
    pub links_cache: PathBuf,
    /// Web or email address where server operators can reach you; it's sent with each request
    #[arg(long, value_name = "ADDRESS", requires = "links", value_parser = contact)]
    pub contact: Option<String>,
    /// Also request addresses on this machine and on local networks
    #[arg(long, requires = "links")]
    pub private: bool,
}

/// Findings that `check` rejects in addition to errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Every warning
    Warnings,
}

/// How `check` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Human-readable text, in the style of a compiler
    Text,
    /// One JSON document
    Json,
    /// Workflow commands, shown by GitHub as annotations
    Github,
    /// SARIF 2.1.0, for editors and code scanning
    Sarif,
}

/// Parses a contact that can be put in a `User-Agent` header's comment.
fn contact(text: &str) -> Result<String, String> {
    let is_fine = |byte: u8| byte.is_ascii_graphic() && !b"()\\".contains(&byte);
    if !text.is_empty() && text.len() <= 200 && text.bytes().all(is_fine) {
        return Ok(text.to_owned());
    }
    Err("write an address such as https://example.org/about or data@example.org, without spaces or parentheses"
        .to_owned())
}

/// Parses an age in days, weeks, months and years.
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
    use super::{age, contact};

    #[test]
    fn an_age_can_be_in_days_weeks_months_or_years() {
        for right in ["365d", "26w", "18mo", "1y", "1y 6mo", "90 days", "P1Y6M"] {
            assert!(age(right).is_ok(), "{right}");
        }
        for wrong in ["", "365", "6m", "12h", "-1d", "1d 2h", "1d ago", "soon"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_contact_fits_in_a_user_agent_comment() {
        for right in ["https://example.org/about?x=1", "data@example.org"] {
            assert_eq!(contact(right).as_deref(), Ok(right));
        }
        for wrong in ["", "a b", "a)", "a\\", "ä", "a\n", &"a".repeat(201)] {
            assert!(contact(wrong).is_err(), "{wrong}");
        }
    }
}
