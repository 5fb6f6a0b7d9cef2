//! The commands, one file each.

mod check;
mod data;
mod diff;
mod edit;
mod explain;
mod export;
mod healthcheck;
mod import;
mod init;
mod keys;
mod limits;
mod log;
mod mcp;
mod opensearch;
mod progress;
mod queries;
mod read_exports;
mod reindex;
mod report;
mod search;
mod serve;
mod write_file;

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::cli::{self, Cli, Command, ConfigError};
use crate::error::chain;
use crate::generation::BuildFailure;
use crate::http::{HttpConfig, openapi};
use crate::text::count::{agreeing, counted};
use crate::text::printable::printable;

/// The exit code for a usage error or an invalid export.
const INVALID: u8 = 2;

/// Runs a command. Exit codes: 0 done, 1 failed, 2 usage error or invalid export; `diff` uses
/// diff(1)'s.
pub fn run(parsed: Result<Cli, ConfigError>) -> ExitCode {
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return Failure::usage(error.to_string()).print(),
    };
    match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Add(args)) => edit::add(&args),
        Some(Command::Set(args)) => edit::set(&args),
        Some(Command::Init(args)) => init::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Preview(args)) => serve::run_preview(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Queries(args)) => queries::run(&args),
        Some(Command::Keys(args)) => keys::run(args),
        Some(Command::Search(args)) => search::run(&args),
        Some(Command::Similar(args)) => search::run_similar(&args),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Openapi) => print(&openapi(&HttpConfig::default())),
        Some(Command::Healthcheck(args)) => healthcheck::run(args),
        Some(Command::Completions { shell }) => print(&cli::completions(shell)),
        Some(Command::Man { folder }) => write_man_pages(&folder),
    }
}

fn write_man_pages(folder: &Path) -> ExitCode {
    let failed = |error| Failure { text: format!("{} can't be written: {error}", folder.display()), code: 1 };
    cli::write_man_pages(folder).map_err(failed).map_or_else(|failure| failure.print(), |()| ExitCode::SUCCESS)
}

/// Prints text to standard output. A closed pipe, as with `head`, isn't a failure.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            print_error(&format!("can't write to standard output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints an error to standard error.
fn print_error(text: &str) {
    print_note(&format!("error: {text}"));
}

fn products_are_in(count: usize, output: &Path) -> String {
    format!("{} {} in {}.", counted(count, "product"), agreeing(count, "is", "are"), output.display())
}

/// Prints a line to standard error, and ignores failures.
fn print_note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Why a command failed: the message and the exit code.
#[derive(Debug)]
struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: INVALID }
    }

    fn from_build(failure: &BuildFailure) -> Self {
        Self {
            text: printable(&failure.to_string()).into_owned(),
            code: if failure.code.is_of_exports() { INVALID } else { 1 },
        }
    }

    fn other(error: &dyn Error) -> Self {
        Self { text: chain(error), code: 1 }
    }

    /// Prints the message to standard error and returns the exit code.
    fn print(&self) -> ExitCode {
        print_error(&printable(&self.text));
        ExitCode::from(self.code)
    }
}
