//! Files in a data folder that are almost named like exports.

use std::fs;
use std::path::Path;

use software_directory::export::{self, FindError, IdPrefixes, Limits, Report};
use software_directory::generation::source::Source;
use software_directory::scratch::Scratch;

const VALID: &str = r#"{"name": "N", "license": "https://n.example/", "software": [
    {"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review"}
]}"#;

fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in names {
        fs::write(folder.path().join(name), VALID).expect("written");
    }
    folder
}

fn read(folder: &Path) -> Report {
    let source = Source::Folder(folder.to_owned());
    let scratch = Scratch::in_memory();
    let read = source.read(&Limits::default(), &IdPrefixes::default(), &scratch, &|_, _| {}).expect("exports");
    read.set.into_report(&Limits::default()).expect("in memory")
}

#[test]
fn near_misses_cause_one_warning_about_the_folder() {
    let folder = folder(&["a.json", "mine.JSON", "mine.json.txt", "table.csv"]);
    let report = read(folder.path());
    let [finding] = &*report.findings else { panic!("{:?}", report.findings) };
    assert_eq!((finding.code.as_str(), &*finding.location.file), ("ignored_file", folder.path()));
    assert_eq!(finding.message, "3 files aren't read (first: `mine.JSON`): an export's file name must end in .json");
    let related = finding.related.iter().map(|related| {
        let name = related.location.file.file_name().expect("a name").to_str().expect("text").to_owned();
        (name, &*related.note)
    });
    assert_eq!(
        related.collect::<Vec<_>>(),
        [
            ("mine.JSON".to_owned(), "rename it to `mine.json`"),
            ("mine.json.txt".to_owned(), "rename it to `mine.json`"),
            ("table.csv".to_owned(), "turn it into an export: `software-directory import table.csv`"),
        ]
    );
    assert!(report.is_valid());
    assert_eq!(report.exports.len(), 1);
}

#[test]
fn the_finding_for_a_single_near_miss_includes_the_fix() {
    let report = read(folder(&["a.json", "mine.JSON"]).path());
    assert_eq!(report.findings[0].message, "`mine.JSON` isn't read: an export's file name must end in .json");
    assert_eq!(report.findings[0].help, "rename it to `mine.json`, or move it to another folder");
}

#[test]
fn unrelated_files_and_folders_are_not_mentioned() {
    let folder = folder(&["a.json", "a.csv", "README.md", ".b.JSON", "c.json~", "d.json.swp"]);
    fs::create_dir(folder.path().join("e.JSON")).expect("a folder");
    assert_eq!(read(folder.path()).findings, []);
}

#[test]
fn many_near_misses_are_counted() {
    let names: Vec<_> = (0..300).map(|n| format!("{n:03}.JSON")).chain(["a.json".to_owned()]).collect();
    let report = read(folder(&names.iter().map(|name| &**name).collect::<Vec<_>>()).path());
    assert_eq!(report.findings.len(), 1);
    assert!(report.findings[0].message.starts_with("300 files aren't read (first: `000.JSON`)"));
    assert_eq!(report.findings[0].related.len(), 5);
}

#[test]
fn the_error_for_a_folder_without_exports_names_the_near_miss() {
    let message = |names: &[&str]| {
        let error = export::find_files(folder(names).path()).expect_err("no exports");
        assert!(matches!(error, FindError::NoFiles { .. }), "{error}");
        error.to_string()
    };
    let near = message(&["mine.JSON"]);
    assert!(near.ends_with(
        ": `mine.JSON` isn't read, because an export's file name must end in .json: rename it to `mine.json`"
    ));
    assert!(message(&["notes.txt"]).ends_with(": put at least one *.json file there"));
}
