//! The binary under test.

use std::path::Path;
use std::process::Command;

/// The binary, without settings from the environment. `SOFTWARE_DIRECTORY_BIN` can point to a
/// different build.
pub(crate) fn command(folder: &Path) -> Command {
    let built = env!("CARGO_BIN_EXE_software-directory").into();
    let mut command = Command::new(std::env::var_os("SOFTWARE_DIRECTORY_BIN").unwrap_or(built));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SOFTWARE_DIRECTORY_")) {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}
