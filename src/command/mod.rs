//! What the commands do, a file each.

mod healthcheck;
mod keys;
mod openapi;

use std::process::ExitCode;

use crate::cli::{Cli, Command};

/// Carries a command out. Exit codes: 0 done, 1 failed, 2 usage or invalid export.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    match cli.command {
        Some(Command::Keys(args)) => keys::run(args),
        Some(Command::Healthcheck(args)) => healthcheck::run(args),
        Some(Command::Openapi) => openapi::run(),
        Some(Command::Completions { shell }) => {
            crate::cli::print_completions(shell);
            ExitCode::SUCCESS
        }
        _ => todo!(),
    }
}
