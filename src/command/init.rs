//! `init`: creates a folder for a directory, with everything that a curator's editor and pipeline
//! need.

use std::path::Path;
use std::process::ExitCode;

use super::write_file::write_file;
use super::{Failure, print_note};
use crate::cli::InitArgs;
use crate::export;

const EXAMPLE: &str = include_str!("init/directory.json");
const SETTINGS: &str = include_str!("init/settings.json");
const WORKFLOW: &str = include_str!("init/check.yml");
const IGNORED: &str = include_str!("init/gitignore");
const README: &str = include_str!("init/README.md");

/// Creates the folder. Exit codes: 0 done, 1 a file can't be written.
pub(super) fn run(args: &InitArgs) -> ExitCode {
    match init(&args.folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.print(),
    }
}

fn init(folder: &Path) -> Result<(), Failure> {
    let workflow = WORKFLOW
        .replace("VERSION_OF_THE_PROGRAM", env!("CARGO_PKG_VERSION"))
        .replace("REPOSITORY_OF_THE_PROGRAM", env!("CARGO_PKG_REPOSITORY"));
    let files = [
        ("data/directory.json", EXAMPLE),
        ("export.schema.json", &export::editor_schema()),
        (".vscode/settings.json", SETTINGS),
        (".github/workflows/check.yml", &workflow),
        (".gitignore", IGNORED),
        ("README.md", README),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() {
            print_note(&format!("{} already exists and was left unchanged.", path.display()));
            continue;
        }
        let failed = |error| Failure { text: format!("{} can't be created: {error}", path.display()), code: 1 };
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        write_file(&path, false, |out| out.write_all(content.as_bytes()))?;
        print_note(&format!("Wrote {}.", path.display()));
    }
    print_note(
        "Next: edit data/directory.json or import a table, then run `software-directory check` and `software-directory` in this folder.",
    );
    Ok(())
}

/// Removes the example from the folder of a new export, unless it has been edited.
pub(super) fn remove_example(export: &Path) {
    let example = export.with_file_name("directory.json");
    let is_example = std::fs::read(&example).is_ok_and(|content| content == EXAMPLE.as_bytes());
    if is_example && example != export && std::fs::remove_file(&example).is_ok() {
        print_note(&format!("Removed {}, which only had init's example.", example.display()));
    }
}
