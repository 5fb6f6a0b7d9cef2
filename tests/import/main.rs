//! `import` and `export` as they are called: tables of each form, confirmation, faults by row and column, the round trip.

#[path = "../common/binary.rs"]
mod binary;
mod edit;
mod messy;
mod round_trip;
mod update;
mod workbook;

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
    let (output, export) = import("t.csv", csv.as_bytes(), &["--additional", "Note"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 row. Proposed") && stderr(&output).contains("1 product is in out.json."));
    let product = &export.expect("an export")["software"][0];
    let expected = serde_json::json!({"id": "apfel", "name": "Äpfel", "url": "https://a.example/", "tags": ["x", "y"],
        "evidence_checked_on": "2024-12-31", "Note": "=n", "evidence_status": "pending-review"});
    assert_eq!(*product, expected);
}

#[test]
fn a_head_with_a_language_tag_is_a_translation() {
    let csv =
        "name,url,Tagline,tagline:de,Beschreibung:fr\nA,https://a.example/,One,Eins,\nB,https://b.example/,Two,,Deux\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("description:fr"), "{}", stderr(&output));
    let software = &export.expect("an export")["software"];
    assert_eq!(software[0]["translations"], serde_json::json!({"de": {"tagline": "Eins"}}));
    assert_eq!(software[1]["translations"], serde_json::json!({"fr": {"description": "Deux"}}));
    let (output, export) =
        import("t.csv", format!("name,url,tagline:de\nA,https://a.example/,{}\n", "x".repeat(501)).as_bytes(), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    assert!(stderr(&output).contains("column C `tagline:de`: [word_too_long]"), "{}", stderr(&output));
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
    let text = stderr(&output);
    assert!(text.contains("error: column B `Homepage`: [invalid_uri] `url` is not a URI"), "{text}");
    assert!(text.contains("  row 4: `b.example`\n  fix: write \"https://b.example\""), "{text}");
}

#[test]
fn dates_with_slashes_need_one_meaning() {
    let csv = |dates: [&str; 2]| {
        format!("name,url,checked on\nA,https://a.example/,{}\nB,https://b.example/,{}\n", dates[0], dates[1])
    };
    let (output, export) = import("t.csv", csv(["3/4/2025", "5/6/2025"]).as_bytes(), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    let text = stderr(&output);
    assert!(
        text.contains("`3/4/2025` is 2025-04-03 or 2025-03-04 (2)\n  row 2: `3/4/2025`\n  row 3: `5/6/2025`"),
        "{text}"
    );
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
        ("name,name,url\nA,B,https://a.example/\n", "columns A and B both have the head `name`"),
        ("name,url\n", "no row below its heads"),
        ("name,url\nA,#N/A\n", "error: column B `url`: the cell has the error of a formula (1)\n  row 2: `#N/A`"),
        (
            "name,url\nA,https://a.example/\na,https://b.example/\n",
            "the id made of the name is taken (1)\n  row 3: `a` gives `a`, as does row 2\n",
        ),
        ("App,Title of it\nA,x\n", "no column is `url`, which every product needs; the table has `App`, `Title of it`"),
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
