//! `import --update`: updates an export and keeps what a table doesn't contain.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::common::binary::command;
use crate::import::{run, stderr};

const EXPORT: &str = r#"{
  "name": "Ours",   "license": "https://l.example/",
  "glossary": [ {"term": "LOTO", "definition": "Lockout"} ],
  "categories": [{"name": "Audits", "description": "d"}],
  "software": [
    {"id": "moss", "name": "Moss", "url": "https://moss.example/", "evidence_status": "vendor-sources-reviewed",
     "sources": [["Docs", "https://moss.example/docs"]], "evidence_checked_on": "2025-01-02", "category": "Audits", "tags": ["a"],
     "seats": 1.50},
    {"id": "fern", "name": "Fern", "url": "https://fern.example/", "evidence_status": "pending-review", "vendor": "V"}
  ],
  "reviews": [{"id": "r", "software_id": "moss", "rating": 4}]
}
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(csv: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("e.json"), EXPORT).expect("a file");
        fs::write(folder.path().join("t.csv"), csv).expect("a file");
        Self(folder)
    }

    /// The exit code, the output, and the export.
    fn update(&self, more: &[&str]) -> (Option<i32>, String, String) {
        let output = run(self.0.path(), &[&["import", "t.csv", "--update", "e.json"], more].concat());
        let export = fs::read_to_string(self.0.path().join("e.json")).expect("an export");
        (output.status.code(), stderr(&output), export)
    }
}

#[test]
fn what_the_table_does_not_contain_is_kept_byte_for_byte() {
    let folder = Folder::new("id,name,vendor,tags\nfern,Fern,V2,\nmoss,Moss,,a\n");
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(export, EXPORT.replace("\"V\"", "\"V2\""), "{text}");
    assert!(text.contains("vendor:") && text.contains("1 changed"), "{text}");
}

#[test]
fn rows_are_matched_by_name_and_url_without_ids() {
    let folder = Folder::new(
        "Name,Website,Kategorie,Tags\nMOSS,http://www.moss.example,Audits,a\nOak,https://oak.example/,Audits,\"a, b\"\nElm,https://elm.example/,,b\n",
    );
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!(code, Some(0), "{text}");
    let export: Value = serde_json::from_str(&export).expect("JSON");
    let software = export["software"].as_array().expect("records");
    assert_eq!(software.len(), 4);
    assert_eq!(
        (&software[0]["name"], &software[0]["category"], &software[0]["seats"]),
        (&json!("MOSS"), &json!("Audits"), &json!(1.5))
    );
    // `a` is a value that the export already has, and `b` is one in the table.
    assert_eq!((&software[2]["id"], &software[2]["tags"]), (&json!("oak"), &json!(["a", "b"])));
    assert_eq!(export["glossary"][0]["term"], "LOTO");
    assert!(
        text.contains("Records that aren't in the table are kept (--remove-missing removes them): Fern (fern)."),
        "{text}"
    );
}

#[test]
fn a_product_keeps_its_record_if_its_name_or_its_address_changes() {
    for (row, by) in [("Moss,https://elsewhere.example/", "name"), ("Moss Pro,https://moss.example/", "address")] {
        let folder = Folder::new(&format!("Name,Website\n{row}\nFern,https://fern.example/\n"));
        let (code, text, export) = folder.update(&["--yes"]);
        assert_eq!(code, Some(0), "{text}");
        let export: Value = serde_json::from_str(&export).expect("JSON");
        let first = &export["software"][0];
        let (name, url) = row.split_once(',').expect("two cells");
        assert_eq!((&first["id"], &first["name"], &first["url"]), (&json!("moss"), &json!(name), &json!(url)));
        assert_eq!(export["software"].as_array().map(Vec::len), Some(2));
        assert!(
            text.contains(&format!("matched with records by their {by} alone (1, such as `{name}` as `Moss` (moss)")),
            "{text}"
        );
    }
    // One record's name with another's address.
    let folder = Folder::new("Name,Website\nMoss,https://fern.example/\n");
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!((code, export.as_str()), (Some(2), EXPORT));
    let question = "may be `Fern` (fern) https://fern.example/ or `Moss` (moss) https://moss.example/";
    assert!(text.contains(question), "{text}");
}

#[test]
fn a_new_row_does_not_take_over_another_records_id() {
    let folder =
        Folder::new("Name,Website,Vendor\nMicro,https://editor.example/,Zed\nMicro,https://js.example/,Vercel\n");
    let import = |csv: &str| {
        fs::write(folder.0.path().join("t.csv"), csv).expect("a file");
        let arguments =
            ["import", "t.csv", "-o", "new/x.json", "--name", "N", "--license", "https://l.example/", "--yes"];
        let output = run(folder.0.path(), &[&arguments[..], &["--unique-ids"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let export = fs::read(folder.0.path().join("new/x.json")).expect("an export");
        let export: Value = serde_json::from_slice(&export).expect("JSON");
        let records = export["software"].as_array().expect("records").iter();
        records.map(|record| format!("{} {}", record["id"], record["vendor"]).replace('"', "")).collect::<Vec<_>>()
    };
    let old = "Micro,https://js.example/,Vercel\nMicro,https://editor.example/,Zed\n";
    assert_eq!(import(&format!("Name,Website,Vendor\n{old}")), ["micro Vercel", "micro-2 Zed"]);
    let new = format!("Name,Website,Vendor\nMicro,https://new.example/,New\n{old}");
    assert_eq!(import(&new), ["micro Vercel", "micro-2 Zed", "micro-3 New"]);
}

#[test]
fn an_empty_cell_clears_the_value_and_missing_records_are_removed_on_request() {
    let folder = Folder::new("id,Vendor\nfern,\n");
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(export, EXPORT.replace(", \"vendor\": \"V\"", ""));
    assert!(text.contains("Values removed because their cells are empty: 1."), "{text}");
    // A review would lose its product.
    let (code, text, _) = folder.update(&["--yes", "--remove-missing"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("unknown_software"), "{text}");
    let folder = Folder::new("id,Vendor\nmoss,W\n");
    let (code, text, export) = folder.update(&["--yes", "--remove-missing"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!export.contains("fern") && text.contains("are removed: Fern (fern)"), "{text}");
}

#[test]
fn only_changes_need_confirmation() {
    let folder = Folder::new("id,Vendor\nfern,W\n");
    fs::write(folder.0.path().join("m.json"), r#"{"columns": {"id": "id", "Vendor": "vendor"}}"#).expect("a file");
    let (code, text, export) = folder.update(&["--mapping", "m.json"]);
    assert_eq!((code, export.as_str()), (Some(2), EXPORT));
    assert!(text.contains("accept them with --yes"), "{text}");
    let folder = Folder::new("id,Vendor\nfern,V\n");
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!((code, export.as_str()), (Some(0), EXPORT));
    assert!(text.contains("The table doesn't change anything"), "{text}");
}

/// Runs an import on a terminal. Once it asks the question, changes something and then answers.
/// Returns the exit code and the output after the question.
fn import_and_meanwhile(
    folder: &Folder,
    arguments: &[&str],
    (question, answer): (&str, &str),
    change: impl FnOnce(),
) -> (Option<i32>, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("unlocked");
    let name = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("text");
    let input = File::options().read(true).write(true).open(name).expect("a terminal");
    let mut import = command(folder.0.path());
    import.arg("import").args(arguments).stdin(input).stderr(Stdio::piped());
    let mut import = import.spawn().expect("the binary runs");
    let mut output = import.stderr.take().expect("a pipe");
    let mut before = Vec::new();
    while !before.ends_with(question.as_bytes()) {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&before)));
        before.extend(byte);
    }
    change();
    File::from(terminal).write_all(answer.as_bytes()).expect("answered");
    let mut after = String::new();
    output.read_to_string(&mut after).expect("text");
    (import.wait().expect("it ends").code(), after)
}

#[test]
fn a_change_made_while_an_import_waits_for_an_answer_is_not_overwritten() {
    let folder = Folder::new("id,vendor\nfern,V2\n");
    let export = || fs::read_to_string(folder.0.path().join("e.json")).expect("an export");
    fs::write(folder.0.path().join("m.json"), r#"{"columns": {"id": "id", "vendor": "vendor"}}"#).expect("a file");
    let arguments = ["t.csv", "--update", "e.json", "--mapping", "m.json"];
    let question = ("Write these changes? [Y/n] ", "y\n");
    let colleague = || assert!(run(folder.0.path(), &["set", "e.json", "moss", "vendor=W"]).status.success());
    let (code, text) = import_and_meanwhile(&folder, &arguments, question, colleague);
    assert_eq!(code, Some(1));
    assert!(text.contains("e.json has changed since this command read it, so nothing was written"), "{text}");
    assert!(export().contains("\"W\"") && export().contains("\"V\""), "{}", export());
    // An editor doesn't use the lock.
    let edited = export().replace("Lockout", "Lock-it");
    let editor = || fs::write(folder.0.path().join("e.json"), &edited).expect("written");
    assert_eq!(import_and_meanwhile(&folder, &arguments, question, editor).0, Some(1));
    assert_eq!(export(), edited);
    let (code, text) = import_and_meanwhile(&folder, &arguments, question, || ());
    assert_eq!(code, Some(0), "{text}");
    assert!(export().contains("\"W\"") && export().contains("\"V2\""), "{}", export());
}

#[test]
fn a_new_export_replaces_only_the_file_that_was_there_when_the_import_began() {
    let folder = Folder::new("Name,Website\nA,https://a.example/\n");
    let path = folder.0.path().join("new.json");
    let arguments = ["t.csv", "-o", "new.json", "--force", "--name", "N", "--yes"];
    let question = ("Licence, as a URL: ", "https://l.example/\n");
    for old in [None, Some("old")] {
        if let Some(old) = old {
            fs::write(&path, old).expect("a file");
        }
        let other = || fs::write(&path, "from someone else").expect("a file");
        let (code, text) = import_and_meanwhile(&folder, &arguments, question, other);
        assert_ne!(code, Some(0), "{text}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "from someone else");
        let (code, text) = import_and_meanwhile(&folder, &arguments, question, || ());
        assert_eq!(code, Some(0), "{text}");
        fs::remove_file(&path).expect("removed");
    }
}

#[test]
fn force_does_not_delete_what_a_table_does_not_contain() {
    let folder = Folder::new("Name,Website\nA,https://a.example/\n");
    let arguments =
        ["import", "t.csv", "-o", "e.json", "--force", "--name", "N", "--license", "https://l.example/", "--yes"];
    let output = run(folder.0.path(), &arguments);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(
        text.contains("1 review, 1 category description, 1 glossary term; to keep that, use --update e.json"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(folder.0.path().join("e.json")).expect("a file"), EXPORT);
}

#[test]
fn an_answer_decides_which_record_an_unclear_row_is() {
    // Both records are called Micro, and the row has neither's address.
    let folder = Folder::new("Name,Website\nMicro,https://new.example/\n");
    let two = r#"{"name": "N", "license": "https://l.example/", "software": [
        {"id": "micro", "name": "Micro", "url": "https://one.example/", "evidence_status": "pending-review"},
        {"id": "micro-2", "name": "Micro", "url": "https://two.example/", "evidence_status": "pending-review"}]}"#;
    let arguments = ["t.csv", "--update", "e.json", "--mapping", "m.toml", "--unique-ids"];
    fs::write(folder.0.path().join("m.toml"), "[columns]\nName = \"name\"\nWebsite = \"url\"\n").expect("a file");
    let candidates = "`Micro` (micro) https://one.example/ or `Micro` (micro-2) https://two.example/";
    fs::write(folder.0.path().join("e.json"), two).expect("a file");
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!((code, export.as_str()), (Some(2), two));
    assert!(text.contains(&format!("row 2 `Micro` https://new.example/ may be {candidates}")), "{text}");
    for (answer, ids, urls) in [
        ("2\n", vec!["micro", "micro-2"], vec!["https://one.example/", "https://new.example/"]),
        (
            "n\n",
            vec!["micro", "micro-2", "micro-3"],
            vec!["https://one.example/", "https://two.example/", "https://new.example/"],
        ),
    ] {
        fs::write(folder.0.path().join("e.json"), two).expect("a file");
        let question = ("Which one is it? n: a new product, q: quit [1/2/n/q] ", &*format!("{answer}y\n"));
        let (code, text) = import_and_meanwhile(&folder, &arguments, question, || ());
        assert_eq!(code, Some(0), "{text}");
        let export = fs::read_to_string(folder.0.path().join("e.json")).expect("an export");
        let export: Value = serde_json::from_str(&export).expect("JSON");
        let of = |key: &str| {
            export["software"].as_array().expect("records").iter().map(|record| record[key].clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            (of("id"), of("url")),
            (ids.into_iter().map(Value::from).collect(), urls.into_iter().map(Value::from).collect())
        );
    }
}

#[test]
fn attributes_are_declared_once_and_keep_their_declaration() {
    let folder = Folder::new("id,Platform,seats\nmoss,Linux; macOS,3\nfern,Linux,5\n");
    let (code, text, export) = folder.update(&["--yes", "--attribute", "seats"]);
    assert_eq!(code, Some(0), "{text}");
    let seats = r#"{"property": "seats", "label": "seats", "type": "number"}"#;
    let kept = "\"reviews\": [{\"id\": \"r\", \"software_id\": \"moss\", \"rating\": 4}]";
    assert!(export.contains(&format!("{kept},\n  \"attributes\": [\n    {seats}\n  ]\n}}")), "{export}");
    // Now the export declares the attribute as text.
    let text = seats.replace(r#", "type": "number""#, "");
    fs::write(folder.0.path().join("e.json"), export.replace(seats, &text)).expect("a file");
    let (code, _, export) = folder.update(&["--yes", "--attribute", "seats", "--attribute", "Platform"]);
    assert_eq!(code, Some(0));
    let platform = r#"{"property": "Platform", "label": "Platform"}"#;
    assert!(export.contains(&format!("[\n    {text},\n    {platform}\n  ]")), "{export}");
    let export: Value = serde_json::from_str(&export).expect("JSON");
    assert_eq!(export["software"][0]["seats"], "3");
    assert_eq!(export["software"][0]["Platform"], json!(["Linux", "macOS"]));
}

#[test]
fn translations_that_the_table_does_not_contain_are_kept() {
    let folder = Folder::new("id,tagline:de,tagline:fr\nfern,Farn,\n");
    let old =
        EXPORT.replace("\"vendor\": \"V\"", r#""translations": {"de": {"name": "Farn"}, "fr": {"tagline": "x"}}"#);
    fs::write(folder.0.path().join("e.json"), &old).expect("a file");
    let (code, text, export) = folder.update(&["--yes"]);
    assert_eq!(code, Some(0), "{text}");
    let export: Value = serde_json::from_str(&export).expect("JSON");
    assert_eq!(export["software"][1]["translations"], json!({"de": {"name": "Farn", "tagline": "Farn"}}));
    assert!(text.contains("Values removed because their cells are empty: 1."), "{text}");
}
