//! The commands, one file each.

mod check;
mod data;
mod diff;
mod edit;
mod export;
mod healthcheck;
mod import;
mod init;
mod keys;
mod limits;
mod log;
mod matching;
mod mcp;
mod opensearch;
mod progress;
mod publish;
mod queries;
mod read_exports;
mod reindex;
mod report;
mod search;
mod serve;
mod write_file;

use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use crate::cli::{self, Cli, Command, ConfigError};
use crate::error::chain;
use crate::generation::BuildFailure;
use crate::http::{HttpConfig, openapi};
use crate::text::count::counted;
use crate::text::printable::printable;

/// The exit code for a usage error or an invalid export.
const INVALID: u8 = 2;

/// Runs a command. Exit codes: 0 done, 1 failed, 2 usage error or invalid export; `diff` uses
/// diff(1)'s.
pub fn run(parsed: Result<Cli, ConfigError>) -> ExitCode {
    let done = parsed.map_err(|error| Failure::usage(error.to_string())).and_then(run_command);
    done.unwrap_or_else(|failure| failure.print())
}

fn run_command(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        None => Ok(serve::run(&cli.serve)),
        Some(Command::Serve(args)) => Ok(serve::run(&args)),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Add(args)) => edit::add(&args),
        Some(Command::Set(args)) => edit::set(&args),
        Some(Command::Init(args)) => init::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Preview(args)) => serve::run_preview(&args),
        Some(Command::Publish(args)) => publish::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Queries(args)) => queries::run(&args),
        Some(Command::Keys(args)) => Ok(keys::run(args)),
        Some(Command::Match(args)) => matching::run(&args),
        Some(Command::Search(args)) => search::run(&args),
        Some(Command::Similar(args)) => search::run_similar(&args),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Openapi) => print(&openapi(&HttpConfig::default())),
        Some(Command::Healthcheck(args)) => healthcheck::run(&args),
        Some(Command::Completions { shell }) => print(&cli::completions(shell)),
        Some(Command::Man { folder }) => write_man_pages(&folder),
    }
}

fn write_man_pages(folder: &Path) -> Result<ExitCode, Failure> {
    let failed = |error| Failure { text: format!("{} can't be written: {error}", folder.display()), code: 1 };
    cli::write_man_pages(folder).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    check_printed(io::stdout().lock().write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Fails if standard output couldn't be written. A closed pipe, as with `head`, isn't a failure.
fn check_printed(printed: io::Result<()>) -> Result<(), Failure> {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure { text: format!("can't write to standard output: {error}"), code: 1 })
        }
        _ => Ok(()),
    }
}

fn print_error(text: &str) {
    print_note(&format!("error: {text}"));
}

fn wrote_products(count: usize, output: &Path) -> String {
    format!("Wrote {} to {}.", counted(count, "product"), output.display())
}

/// Prints a line to standard error, and ignores failures.
fn print_note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
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

    /// Prints the message to standard error and returns the exit code.
    fn print(&self) -> ExitCode {
        print_error(&printable(&self.text));
        ExitCode::from(self.code)
    }
}

/// Errors other than those of usage and exports.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { text: chain(&error), code: 1 }
    }
}
