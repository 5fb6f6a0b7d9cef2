//! `import` and `export` on the command line: tables in every form, confirmation, errors with their
//! rows and columns, and the round trip.

mod edit;
mod forms;
mod messy;
mod publiccode;
mod remembered;
mod round_trip;
mod update;
mod workbook;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::binary::command;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Imports a table with this name and content. Returns the output, and the export if it was
/// written.
fn import(file: &str, content: &[u8], more: &[&str]) -> (Output, Option<serde_json::Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(file), content).expect("a file");
    let arguments = ["import", file, "-o", "out.json", "--name", "N", "--license", "https://example.org/", "--yes"];
    let output = run(folder.path(), &[&arguments, more].concat());
    let written = fs::read(folder.path().join("out.json")).ok();
    (output, written.map(|bytes| serde_json::from_slice(&bytes).expect("JSON")))
}

#[test]
fn a_csv_file_becomes_an_export() {
    let csv = "Title;Homepage;Tags;Last checked;Note\nÄpfel;https://a.example/;x|y;31.12.2024;=n\n;;;;\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &["--additional", "Note"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 row. Proposed") && stderr(&output).contains("Wrote 1 product to out.json."));
    let product = &export.expect("an export")["software"][0];
    let expected = serde_json::json!({"id": "apfel", "name": "Äpfel", "url": "https://a.example/", "tags": ["x", "y"],
        "evidence_checked_on": "2024-12-31", "Note": "=n", "evidence_status": "pending-review"});
    assert_eq!(*product, expected);
}

#[test]
fn a_header_with_a_language_tag_is_a_translation() {
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
fn without_a_terminal_an_unconfirmed_mapping_exits_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t.csv"), "name,url\nA,https://a.example/\n").expect("a file");
    let output = run(folder.path(), &["import", "t.csv", "-o", "out.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--yes") && stderr(&output).contains("name  →  name"), "{}", stderr(&output));
    assert!(!folder.path().join("out.json").exists());
}

#[test]
fn a_finding_names_its_row_and_column_and_nothing_is_written() {
    let csv = "name,Homepage\nA,https://a.example/\n\nB,b.example\n";
    let (output, export) = import("t.csv", csv.as_bytes(), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    let text = stderr(&output);
    assert!(text.contains("error: column B `Homepage`: [invalid_uri] `url` is not a URI"), "{text}");
    assert!(text.contains("  row 4: `b.example`\n  fix: write \"https://b.example\""), "{text}");
}

#[test]
fn dates_with_slashes_must_be_unambiguous() {
    let csv = |dates: [&str; 2]| {
        format!("name,url,checked on\nA,https://a.example/,{}\nB,https://b.example/,{}\n", dates[0], dates[1])
    };
    let (output, export) = import("t.csv", csv(["3/4/2025", "5/6/2025"]).as_bytes(), &[]);
    assert_eq!((output.status.code(), export), (Some(2), None));
    let text = stderr(&output);
    assert!(
        text.contains("`3/4/2025` could be 2025-04-03 or 2025-03-04 (2)\n  row 2: `3/4/2025`\n  row 3: `5/6/2025`"),
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
fn faults_in_a_table_are_reported() {
    for (csv, expected) in [
        ("name,name,url\nA,B,https://a.example/\n", "columns A and B have the same name `name`"),
        ("name,url\n", "no rows below its headers"),
        ("name,url\nA,#N/A\n", "error: column B `url`: the cell contains a formula error (1)\n  row 2: `#N/A`"),
        (
            "name,url\nA,https://a.example/\na,https://b.example/\n",
            "the id derived from the name is already taken (1)\n  row 3: `a` would get the id `a`, which row 2 already has\n",
        ),
        (
            "App,Title of it\nA,x\n",
            "no column provides `url`, which every product needs; the table has `App`, `Title \
        of it`",
        ),
    ] {
        let (output, export) = import("t.csv", csv.as_bytes(), &[]);
        assert_eq!((output.status.code(), export), (Some(2), None), "{csv}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn a_named_pipe_is_rejected_without_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("t.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let output = run(folder.path(), &["import", "t.csv", "-o", "out.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("this isn't a regular file"), "{}", stderr(&output));
}

#[test]
fn an_export_is_named_after_its_table_and_always_written_to_the_data_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let import = |file: &str| {
        fs::write(folder.path().join(file), "name,url\nA,https://a.example/\n").expect("a file");
        let arguments = ["import", file, "--name", "N", "--license", "https://l.example/", "--yes"];
        let output = run(folder.path(), &arguments);
        fs::remove_file(folder.path().join(file)).expect("removed");
        (output.status.code(), stderr(&output))
    };
    for file in ["./..csv", "...csv", ".csv", ".hidden.csv", "..", "/"] {
        let (code, text) = if file.ends_with("csv") {
            import(file)
        } else {
            let output = run(folder.path(), &["import", file]);
            (output.status.code(), stderr(&output))
        };
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(&format!("{file} has no name that an export can have; choose one with -o")), "{text}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
    let (code, text) = import("tools.2026.csv");
    assert_eq!(code, Some(0), "{text}");
    assert!(folder.path().join("data/tools.2026.json").is_file(), "{text}");
}

#[test]
fn an_existing_export_is_not_overwritten_without_force() {
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
fn categories_are_written_as_declared_and_near_matches_are_only_proposed() {
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
    assert!(stderr(&output).contains("if you mean `Audit tools`"), "{}", stderr(&output));
}

#[test]
fn columns_used_as_attributes_are_declared_with_the_type_of_their_values() {
    let csv = "name,url,Licence,Seats,Open source,Released,Platforms,Price\n\
               A,https://a.example/,MIT,\"1,5\",yes,31.12.2024,Linux; macOS,k.A.\n\
               B,https://b.example/,GPL,20,no,1.2.2025,Linux,\n";
    let columns = ["Licence", "Seats", "Open source", "Released", "Platforms", "Price"];
    let arguments: Vec<_> = columns.iter().flat_map(|column| ["--attribute", column]).collect();
    let (output, export) = import("t.csv", csv.as_bytes(), &arguments);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("attribute:Seats:number"), "{text}");
    let export = export.expect("an export");
    let attribute = |name: &str, kind: Option<&str>| match kind {
        None => serde_json::json!({"property": name, "label": name}),
        Some(kind) => serde_json::json!({"property": name, "label": name, "type": kind}),
    };
    let kinds = [None, Some("number"), Some("boolean"), Some("date"), None, None];
    let expected: Vec<_> = columns.iter().zip(kinds).map(|(name, kind)| attribute(name, kind)).collect();
    assert_eq!(export["attributes"], serde_json::json!(expected));
    let product = &export["software"][0];
    assert_eq!(product["Seats"], 1.5);
    assert_eq!((&product["Open source"], &product["Released"]), (&true.into(), &"2024-12-31".into()));
    assert_eq!(product["Platforms"], serde_json::json!(["Linux", "macOS"]));
    assert_eq!((&product["Licence"], product.get("Price")), (&"MIT".into(), None));
}

#[test]
fn a_value_that_is_not_of_its_attributes_type_is_an_error() {
    let mapping_of =
        |price: &str| format!(r#"{{"columns": {{"name": "name", "url": "url", "Price per seat": "{price}"}}}}"#);
    let import = |mapping: &str, csv: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("t.csv"), csv).expect("a file");
        fs::write(folder.path().join("m.json"), mapping).expect("a file");
        let arguments = ["import", "t.csv", "-o", "out.json", "--name", "N", "--license", "https://example.org/"];
        let output = run(folder.path(), &[&arguments[..], &["--mapping", "m.json"]].concat());
        let written = fs::read_to_string(folder.path().join("out.json")).unwrap_or_default();
        (output.status.code(), stderr(&output), written)
    };
    let csv = |prices: [&str; 2]| {
        format!(
            "name,url,Price per seat\nA,https://a.example/,\"{}\"\nB,https://b.example/,\"{}\"\n",
            prices[0], prices[1]
        )
    };
    let (code, text, written) = import(&mapping_of("attribute:price"), &csv(["10", "9.5"]));
    assert_eq!(code, Some(0), "{text}");
    let declared = r#"{"property": "price", "label": "Price per seat", "type": "number"}"#;
    assert!(written.contains(declared) && written.contains(r#""price": 9.5"#), "{written}");
    let (code, _, written) = import(&mapping_of("attribute:price"), &csv(["10", "on request"]));
    assert_eq!(code, Some(0), "as text");
    assert!(written.contains(r#"{"property": "price", "label": "Price per seat"}"#), "{written}");
    for (mapping, prices, expected) in [
        ("attribute:price:number", ["10", "on request"], "the value isn't a number (1)\n  row 3: `on request`"),
        ("attribute:price", ["1.234", "20"], "separates thousands or decimals (1)\n  row 2: `1.234`"),
        ("attribute:price:boolean", ["yes", "maybe"], "the value is neither true nor false (1)\n  row 3: `maybe`"),
        ("attribute:price:date", ["1.2.2025", "2024"], "the date has no day (1)\n  row 3: `2024`"),
        ("attribute:price:integer", ["1", "2"], "to `attribute:price:integer`, which isn't a valid target"),
        ("attribute:tags", ["1", "2"], "to `attribute:tags`, which isn't a valid target"),
    ] {
        let (code, text, written) = import(&mapping_of(mapping), &csv(prices));
        assert_eq!((code, written.as_str()), (Some(2), ""), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_column_whose_name_cannot_be_an_attribute_is_refused() {
    for (column, head) in [("tags", "`tags` can't be"), ("a:b", "`a:b` can't be"), ("Nothing", "no column `Nothing`")] {
        let csv = "name,url,tags,a:b\nA,https://a.example/,x,y\n";
        let (output, export) = import("t.csv", csv.as_bytes(), &["--attribute", column]);
        assert_eq!((output.status.code(), export), (Some(2), None));
        assert!(stderr(&output).contains(head), "{}", stderr(&output));
    }
}
