//! What the commands do, a file each.

mod check;
mod data;
mod healthcheck;
mod keys;
mod openapi;
mod progress;
mod search;
mod serve;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use crate::cli::{Cli, Command};

/// The exit code of a usage error or an invalid export.
const INVALID: u8 = 2;

/// Carries a command out. Exit codes: 0 done, 1 failed, 2 usage or invalid export.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Keys(args)) => keys::run(args),
        Some(Command::Search(args)) => search::run(&args),
        Some(Command::Openapi) => openapi::run(),
        Some(Command::Healthcheck(args)) => healthcheck::run(args),
        Some(Command::Completions { shell }) => print(&crate::cli::completions(shell)),
    }
}

/// Prints a text on standard output. Who reads only the beginning, as `head` does, has what they want.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: standard output can't be written: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// An error and all that caused it, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let of = error.to_string();
        // An error that only passes its cause on says the same.
        if !text.ends_with(&of) {
            text = format!("{text}: {of}");
        }
        cause = error.source();
    }
    text
}
