//! What the commands do, a file each.

pub mod check;

use std::process::ExitCode;

use crate::cli::{Cli, Command};

/// Carries a command out. Exit codes: 0 done, 1 failed, 2 usage or invalid export.
#[must_use]
pub fn run(cli: Cli) -> ExitCode {
    match cli.command {
        Some(Command::Completions { shell }) => {
            crate::cli::print_completions(shell);
            ExitCode::SUCCESS
        }
        Some(Command::Check(args)) => check::run(&args),
        _ => todo!(),
    }
}
