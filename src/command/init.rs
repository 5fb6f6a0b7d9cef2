//! `init`: creates a folder for a directory, with everything that a curator's editor and pipeline
//! need.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::write_file::write_file;
use super::{Failure, print_note};
use crate::cli::InitArgs;
use crate::export;
use crate::record::{Required, SOFTWARE, Shape};
use crate::text::append;

const EXAMPLE: &str = include_str!("init/directory.json");
const SETTINGS: &str = include_str!("init/settings.json");
const WORKFLOW: &str = include_str!("init/check.yml");
/// The workflow that publishes to GitHub Pages.
const PUBLISH: &str = include_str!("init/publish.yml");
/// The workflow's last step with `--github`.
const COMPARE: &str = include_str!("init/compare.yml");
const CORRECTION: &str = include_str!("init/correction.yml");
const IGNORED: &str = include_str!("init/gitignore");
const README: &str = include_str!("init/README.md");

/// Creates the folder. Exit codes: 0 done, 1 a file can't be written.
pub(super) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let [mut workflow, publish] = [WORKFLOW, PUBLISH].map(|workflow| {
        workflow
            .replace("VERSION_OF_THE_PROGRAM", env!("CARGO_PKG_VERSION"))
            .replace("REPOSITORY_OF_THE_PROGRAM", env!("CARGO_PKG_REPOSITORY"))
    });
    if args.github {
        workflow = workflow.replace("  contents: read\n", "  contents: read\n  pull-requests: write\n");
        workflow.push_str(COMPARE);
    }
    let (schema, new_product) = (export::editor_schema(), new_product_form());
    let for_github = [
        (".github/workflows/publish.yml", &*publish),
        (".github/ISSUE_TEMPLATE/correction.yml", CORRECTION),
        (".github/ISSUE_TEMPLATE/new-product.yml", &*new_product),
    ];
    let for_github = for_github.into_iter().filter(|_| args.github);
    let files = [
        ("data/directory.json", EXAMPLE),
        ("export.schema.json", &*schema),
        (".vscode/settings.json", SETTINGS),
        (".github/workflows/check.yml", &workflow),
        (".gitignore", IGNORED),
        ("README.md", README),
    ];
    for (name, content) in files.into_iter().chain(for_github) {
        let path = args.folder.join(name);
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
    Ok(ExitCode::SUCCESS)
}

/// An issue form with the record's properties as fields. A field is written as JSON, which is YAML.
fn new_product_form() -> String {
    let mut form = "name: New product\ndescription: A product is missing\ntitle: \"New product: \"\n\
                    labels: [new product]\nbody:\n"
        .to_owned();
    for property in SOFTWARE.iter().filter(|property| property.name != "id") {
        let kind = match property.shape {
            Shape::Name | Shape::Text | Shape::Uri => "input",
            Shape::Texts | Shape::Sources => "textarea",
            _ => continue,
        };
        let field = json!({
            "type": kind,
            "id": property.name,
            "attributes": {"label": property.name, "description": property.description},
            "validations": {"required": property.required == Required::Always || property.name == "sources"},
        });
        append(&mut form, format_args!("  - {field}\n"));
    }
    form
}

/// Removes the example from the folder of a new export, unless it has been edited.
pub(super) fn remove_example(export: &Path) {
    let example = export.with_file_name("directory.json");
    let is_example = std::fs::read(&example).is_ok_and(|content| content == EXAMPLE.as_bytes());
    if is_example && example != export && std::fs::remove_file(&example).is_ok() {
        print_note(&format!("Removed {}, which only had init's example.", example.display()));
    }
}
