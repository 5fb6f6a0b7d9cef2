//! `init`: creates a folder for a directory, with everything that a curator's editor and pipeline
//! need.

use std::path::Path;
use std::process::ExitCode;

use super::write_file::write_file;
use super::{Failure, print_note};
use crate::cli::InitArgs;
use crate::export;

const EXPORT: &str = include_str!("init/directory.json");
const SETTINGS: &str = include_str!("init/settings.json");
const WORKFLOW: &str = include_str!("init/check.yml");
const README: &str = include_str!("init/README.md");

/// Creates the folder. Exit codes: 0 done, 1 a file can't be written.
pub(super) fn run(args: &InitArgs) -> ExitCode {
    match init(&args.folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.print(),
    }
}

fn init(folder: &Path) -> Result<(), Failure> {
    let files = [
        ("data/directory.json", EXPORT),
        ("export.schema.json", export::schema()),
        (".vscode/settings.json", SETTINGS),
        (".github/workflows/check.yml", WORKFLOW),
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
        "Next: edit data/directory.json, then run `software-directory check` and `software-directory` in this folder.",
    );
    Ok(())
}
