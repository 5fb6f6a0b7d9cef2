//! `import` and `export` as they are called: tables of each form, confirmation, faults by row and column, the round trip.

#[path = "../common/binary.rs"]
mod binary;
mod round_trip;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::binary::command;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Imports a table of this name and content; the output, and the export if it was written.
fn import(file: &str, content: &[u8], more: &[&str]) -> (Output, Option<serde_json::Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(file), content).expect("a file");
    let arguments = ["import", file, "-o", "out.json", "--name", "N", "--license", "https://example.org/", "--yes"];
    let output = run(folder.path(), &[&arguments, more].concat());
    let written = fs::read(folder.path().join("out.json")).ok();
    (output, written.map(|bytes| serde_json::from_slice(&bytes).expect("JSON")))
}

#[test]
fn a_csv_becomes_an_export() {
    let csv = "Title;Homepage;Tags;Last checked;Note\nÄpfel;https://a.example/;x|y;31.12.2024;=n\n;;;;\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let product = &export.expect("an export")["software"][0];
    let expected = serde_json::json!({"id": "apfel", "name": "Äpfel", "url": "https://a.example/", "tags": ["x", "y"],
        "evidence_checked_on": "2024-12-31", "Note": "=n", "evidence_status": "pending-review"});
    assert_eq!(*product, expected);
}

#[test]
fn without_a_terminal_an_unconfirmed_mapping_is_exit_code_2() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.csv"), "name,url\nA,https://a.example/\n").expect("a file");
    let output = run(folder.path(), &["import", "t.csv", "-o", "out.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--yes") && stderr(&output).contains("name  →  name"), "{}", stderr(&output));
    assert!(!folder.path().join("out.json").exists());
}

#[test]
fn a_finding_names_row_and_column_and_nothing_is_written() {
    let csv = "name,Homepage\nA,https://a.example/\n\nB,b.example\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    assert!(stderr(&output).contains("error[invalid_uri]: row 4, column `Homepage`"), "{}", stderr(&output));
}

#[test]
fn dates_with_slashes_need_one_meaning() {
    let csv = |dates: [&str; 2]| {
        format!("name,url,checked on\nA,https://a.example/,{}\nB,https://b.example/,{}\n", dates[0], dates[1])
    };
    let (output, export) = import("t.csv", csv(["3/4/2025", "5/6/2025"]).as_bytes(), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    assert!(stderr(&output).contains("rows 2, 3"), "{}", stderr(&output));
    let (_, export) = import("t.csv", csv(["3/4/2025", "5/6/2025"]).as_bytes(), &["--date-order", "mdy"]);
    assert_eq!(export.expect("an export")["software"][0]["evidence_checked_on"], "2025-03-04");
    let (_, export) = import("t.csv", csv(["3/4/2025", "5/31/2025"]).as_bytes(), &[]);
    assert_eq!(export.expect("an export")["software"][0]["evidence_checked_on"], "2025-03-04");
    let (output, _) = import("t.csv", csv(["31/4/2025", "5/31/2025"]).as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn faults_of_a_table_are_told() {
    for (csv, expected) in [
        ("name,name\nA,B\n", "columns 1 and 2 both have the head `name`"),
        ("name,url\n", "no row below its heads"),
        ("name,url\nA,#N/A\n", "row 2, column `url`: the cell has the error #N/A"),
        ("name,url\nA,https://a.example/\na,https://b.example/\n", "row 3, column `name`: the id `a`"),
    ] {
        let (output, export) = import("t.csv", csv.as_bytes(), &[]);
        assert_eq!((output.status.code(), export), (Some(2), None), "{csv}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn a_named_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("t.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let output = run(folder.path(), &["import", "t.csv", "-o", "out.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("this isn't an ordinary file"), "{}", stderr(&output));
}

#[test]
fn an_existing_export_is_kept_without_force() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.csv"), "name,url\nA,https://a.example/\n").expect("a file");
    fs::write(folder.path().join("out.json"), "before").expect("a file");
    let arguments = ["import", "t.csv", "-o", "out.json", "--name", "N", "--license", "https://l.example/", "--yes"];
    assert_eq!(run(folder.path(), &arguments).status.code(), Some(2));
    assert_eq!(fs::read(folder.path().join("out.json")).expect("a file"), b"before");
    assert_eq!(run(folder.path(), &[&arguments[..], &["--force"]].concat()).status.code(), Some(0));
    assert_ne!(fs::read(folder.path().join("out.json")).expect("a file"), b"before");
}

#[test]
fn a_workbook_becomes_an_export_with_its_dates() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, head) in ["Produkt", "Webseite", "Geprüft am"].into_iter().enumerate() {
        sheet.write(0, u16::try_from(column).expect("a column"), head).expect("a cell");
    }
    sheet.write(2, 0, "A").and_then(|sheet| sheet.write(2, 1, "https://a.example/")).expect("a cell");
    let day = rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd");
    sheet.write_with_format(2, 2, 45_658.0, &day).expect("a cell");
    let bytes = workbook.save_to_buffer().expect("a workbook");
    let (output, export) = import("t.xlsx", &bytes, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(export.expect("an export")["software"][0]["evidence_checked_on"], "2025-01-01");
    workbook.add_worksheet();
    let (output, _) = import("t.xlsx", &workbook.save_to_buffer().expect("a workbook"), &[]);
    assert!(stderr(&output).contains("2 worksheets; name one with --sheet: Sheet1, Sheet2"), "{}", stderr(&output));
}

#[test]
fn categories_are_written_as_declared_and_near_ones_are_only_proposed() {
    let folder = tempfile::tempdir().expect("a folder");
    let declared =
        r#"{"name": "N", "license": "https://l.example/", "categories": [{"name": "Audit tools"}], "software": []}"#;
    fs::create_dir(folder.path().join("data")).expect("a folder");
    fs::write(folder.path().join("data/d.json"), declared).expect("a file");
    let csv = "name,url,category\nA,https://a.example/,audit TOOLS; Audit tool\n";
    fs::write(folder.path().join("t.csv"), csv).expect("a file");
    let output = run(folder.path(), &["import", "t.csv", "--name", "N", "--license", "https://l.example/", "--yes"]);
    let written = fs::read(folder.path().join("data/t.json")).expect("an export");
    let export: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
    assert_eq!(export["software"][0]["categories"], serde_json::json!(["Audit tools", "Audit tool"]));
    assert!(stderr(&output).contains("if `Audit tools` is meant"), "{}", stderr(&output));
}
