//! `add`, `set` and `init`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::binary::command;
use crate::import::{run, stderr};

const EXPORT: &str = r#"{ "name": "N", "license": "https://l.example/",
  "software": [
    { "name": "Moss", "id": "moss", "url": "https://moss.example/", "evidence_status": "pending-review" }
  ],
  "glossary": [] }
"#;

/// Runs a command on the export. Returns the exit code, the output, and the export afterwards.
fn edit(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(folder, arguments);
    (output.status.code(), stderr(&output), fs::read_to_string(folder.join("e.json")).expect("an export"))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("e.json"), EXPORT).expect("a file");
    folder
}

#[test]
fn setting_a_property_leaves_everything_else_unchanged() {
    let folder = folder();
    let (code, text, export) =
        edit(folder.path(), &["set", "e.json", "moss", "tags=audit; iso", "seats:=5", "url=https://new.example/"]);
    assert_eq!(code, Some(0), "{text}");
    let expected = EXPORT
        .replace("https://moss.example/", "https://new.example/")
        .replace("\"pending-review\" }", "\"pending-review\", \"tags\": [\"audit\",\"iso\"], \"seats\": 5 }");
    assert_eq!(export, expected);
    assert!(text.contains("1 changed"), "{text}");
    let (_, _, export) =
        edit(folder.path(), &["set", "e.json", "moss", "tags=", "seats:=", "url=https://moss.example/"]);
    assert_eq!(export, EXPORT);
}

#[test]
fn mistakes_are_refused_before_anything_is_written() {
    let folder = folder();
    for (arguments, expected) in [
        (vec!["set", "e.json", "moss", "url=moss"], "invalid_uri"),
        (vec!["set", "e.json", "moss", "name="], "missing_property"),
        (vec!["set", "e.json", "fern", "name=Fern"], "no record `fern`"),
        (vec!["set", "e.json", "moss", "name"], "write PROPERTY=VALUE"),
        (vec!["add", "e.json", "id=moss", "name=Moss", "url=https://m.example/"], "already has a record `moss`"),
        (vec!["add", "e.json", "name=Moss", "url=https://moss.example"], "already has a record with this name and URL"),
        (
            vec!["set", "e.json", "moss", "kategorie=Audit \"1\""],
            r#"did you mean `categories`? For an additional property with this name, write kategorie:="Audit \"1\"""#,
        ),
        (vec!["add", "e.json", "name=Moss", "url=https://m.example/"], "the id derived from the name is already taken"),
    ] {
        let (code, text, export) = edit(folder.path(), &arguments);
        assert_eq!((code, export.as_str()), (Some(2), EXPORT), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_record_is_added_in_the_style_of_the_others() {
    let folder = folder();
    let (code, text, export) = edit(folder.path(), &["add", "e.json", "name=Fern Desk", "url=www.fern.example"]);
    assert_eq!(code, Some(0), "{text}");
    let added = r#"{ "id": "fern-desk", "name": "Fern Desk", "url": "https://www.fern.example", "evidence_status": "pending-review" }"#;
    assert_eq!(export, EXPORT.replace("review\" }", &format!("review\" }},\n    {added}")));
}

#[test]
fn an_initialised_folder_is_valid_and_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &["init", "new"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = run(&folder.path().join("new"), &["check", "--deny", "warnings"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    fs::write(folder.path().join("new/README.md"), "mine").expect("a file");
    let output = run(folder.path(), &["init", "new"]);
    assert!(output.status.success() && stderr(&output).contains("README.md already exists and was left unchanged"));
    assert_eq!(fs::read_to_string(folder.path().join("new/README.md")).expect("a file"), "mine");
}

#[test]
fn github_gets_issue_forms_and_a_workflow_that_comments() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| fs::read_to_string(folder.path().join(".github").join(name));
    assert!(run(folder.path(), &["init"]).status.success());
    assert!(read("ISSUE_TEMPLATE/correction.yml").is_err() && read("workflows/publish.yml").is_err());
    assert!(!read("workflows/check.yml").expect("a file").contains("pull-requests"));
    fs::remove_file(folder.path().join(".github/workflows/check.yml")).expect("removed");
    assert!(run(folder.path(), &["init", "--github"]).status.success());
    let workflow = read("workflows/check.yml").expect("a file");
    assert!(workflow.contains("pull-requests: write") && workflow.contains("diff --format markdown"), "{workflow}");
    let publish = read("workflows/publish.yml").expect("a file");
    assert!(publish.contains(env!("CARGO_PKG_VERSION")) && !publish.contains("_OF_THE_PROGRAM"), "{publish}");
    let publish = &yaml_rust2::YamlLoader::load_from_str(&publish).expect("YAML")[0]["jobs"]["publish"];
    let steps = publish["steps"].as_vec().expect("steps").iter();
    let runs: Vec<_> = steps.filter_map(|step| step["run"].as_str()).filter_map(|run| run.split(' ').nth(1)).collect();
    assert_eq!(runs, ["-x", "check", "--reindex", "publish", "--yes"]);
    for (name, required, optional) in [
        ("correction", &["record", "correction", "source"][..], None),
        ("new-product", &["name", "url", "sources"], Some("vendor")),
    ] {
        let form = read(&format!("ISSUE_TEMPLATE/{name}.yml")).expect("a file");
        let form = &yaml_rust2::YamlLoader::load_from_str(&form).expect("YAML")[0];
        let fields: Vec<_> = form["body"].as_vec().expect("fields").iter().collect();
        let required_ids: Vec<_> = fields
            .iter()
            .filter(|field| field["validations"]["required"].as_bool() == Some(true))
            .filter_map(|field| field["id"].as_str())
            .collect();
        assert_eq!(required_ids, required, "{name}");
        assert!(optional.is_none_or(|id| fields.iter().any(|field| field["id"].as_str() == Some(id))), "{name}");
        assert!(fields.iter().all(|field| field["attributes"]["label"].as_str().is_some()), "{name}");
    }
}

#[test]
fn an_imported_table_replaces_the_example_and_is_checked_like_it() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(run(folder.path(), &["init"]).status.success());
    let ignored = fs::read_to_string(folder.path().join(".gitignore")).expect("a file");
    assert!(ignored.lines().any(|line| line == "*.rejected.csv"), "{ignored}");
    let workflow = fs::read_to_string(folder.path().join(".github/workflows/check.yml")).expect("a file");
    let version = format!("  VERSION: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(workflow.contains(&version) && !workflow.contains("_OF_THE_PROGRAM"), "{workflow}");
    fs::write(folder.path().join("t.csv"), "name,url\nA,https://a.example/\nB,b\n").expect("a file");
    let arguments = ["import", "t.csv", "--yes", "--valid-rows", "--name", "N", "--license", "https://l.example/"];
    let output = run(folder.path(), &arguments);
    assert!(output.status.success() && stderr(&output).contains("Removed data/directory.json"), "{}", stderr(&output));
    let mut left: Vec<_> = fs::read_dir(folder.path().join("data"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["t.json", "t.mapping.toml", "t.rejected.csv"]);
    // Neither the mapping nor the rejected rows look like exports.
    let output = run(folder.path(), &["check"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !text.contains("ignored_file"), "{text}");
    // An edited example stays.
    let folder = tempfile::tempdir().expect("a folder");
    assert!(run(folder.path(), &["init"]).status.success());
    let example = folder.path().join("data/directory.json");
    let edited = fs::read_to_string(&example).expect("a file").replace("Our directory", "Ours");
    fs::write(&example, &edited).expect("a file");
    fs::write(folder.path().join("t.csv"), "name,url\nA,https://a.example/\n").expect("a file");
    assert!(run(folder.path(), &arguments).status.success());
    assert_eq!(fs::read_to_string(&example).expect("a file"), edited);
}

#[test]
fn a_declared_attribute_is_set_according_to_its_type() {
    let folder = folder();
    let declared = r#"{ "property": "price", "label": "Price", "type": "number" }"#;
    let export = EXPORT.replace(r#""glossary": []"#, &format!(r#""attributes": [{declared}]"#));
    fs::write(folder.path().join("e.json"), export).expect("a file");
    let (code, text, export) = edit(folder.path(), &["set", "e.json", "moss", "price=4,5", "note=4,5"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(export.contains(r#""price": 4.5, "note": "4,5" }"#), "{export}");
    let (code, text, _) = edit(folder.path(), &["set", "e.json", "moss", "price=cheap"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("the value isn't a number"), "{text}");
}

#[test]
fn simultaneous_edits_are_all_kept() {
    let folder = folder();
    // All of them are waiting for the lock before the first one can start, through whichever path.
    symlink("e.json", folder.path().join("link.json")).expect("a link");
    let lock = File::create(folder.path().join(".e.json.lock")).expect("a file");
    lock.lock().expect("locked");
    let start = |number: usize| {
        let path = if number.is_multiple_of(2) { "e.json" } else { "link.json" };
        let arguments = match number {
            0 => vec!["add".into(), path.into(), "name=Fern".into(), "url=https://fern.example/".into()],
            _ => vec!["set".into(), path.into(), "moss".into(), format!("p{number}:={number}")],
        };
        command(folder.path()).args(arguments).stderr(Stdio::piped()).spawn().expect("the binary runs")
    };
    let running: Vec<_> = (0..12).map(start).collect();
    drop(lock);
    for child in running {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let export = fs::read_to_string(folder.path().join("e.json")).expect("an export");
    let export: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    assert_eq!(export["software"][1]["id"], "fern");
    for number in 1..12 {
        assert_eq!(export["software"][0][format!("p{number}")], number);
    }
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    left.sort();
    assert_eq!(left, [".e.json.lock", "e.json", "link.json"]);
}

#[test]
fn an_edited_export_keeps_its_permissions_and_its_lock_is_not_an_export() {
    let folder = folder();
    let path = folder.path().join("e.json");
    for mode in [0o600, 0o664] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("changed");
        let (code, text, _) = edit(folder.path(), &["set", "e.json", "moss", &format!("tags={mode}")]);
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, mode);
    }
    let output = run(folder.path(), &["check", "."]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && text.contains("Checked 1 file,"), "{text}");
}

#[test]
fn a_path_without_a_file_gets_no_lock() {
    let folder = folder();
    for path in ["typo.json", ".", "/dev/null"] {
        let (code, text, _) = edit(folder.path(), &["set", path, "moss", "tags=a"]);
        assert_eq!(code, Some(2));
        assert!(text.contains(&format!("{path} doesn't exist or isn't a regular file")), "{text}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn evidence_for_a_property_is_set_member_by_member() {
    let folder = folder();
    let evidence = r#"{"pricing": {"source": "Docs", "quote": "5"}, "url": [{"source": "https://a.example/"}, {"source": "https://b.example/"}]}"#;
    let more =
        format!(r#""pricing": "5", "sources": [["Docs", "https://moss.example/docs"]], "evidence": {evidence}, "id""#);
    fs::write(folder.path().join("e.json"), EXPORT.replace("\"id\"", &more)).expect("a file");
    let set = |values: &[&str]| {
        let (code, text, export) = edit(folder.path(), &[&["set", "e.json", "moss"], values].concat());
        assert_eq!(code, Some(0), "{text}");
        let export: Value = serde_json::from_str(&export).expect("JSON");
        export["software"][0]["evidence"].clone()
    };
    let evidence =
        set(&["evidence.pricing.checked_on=31.3.2026", "evidence.pricing.archived=https://archive.example/1"]);
    assert_eq!(
        evidence["pricing"],
        json!({"source": "Docs", "checked_on": "2026-03-31", "quote": "5", "archived": "https://archive.example/1"})
    );
    let evidence = set(&["evidence.url.source=Docs", "evidence.url.checked_on=2026-03-02"]);
    assert_eq!(
        evidence["url"],
        json!([{"source": "https://a.example/"}, {"source": "https://b.example/"}, {"source": "Docs", "checked_on": "2026-03-02"}]),
        "a property's other sources are kept"
    );
    let cleared = ["evidence.pricing.source=", "evidence.pricing.checked_on=", "evidence.pricing.quote="];
    let evidence = set(&[&cleared[..], &["evidence.pricing.archived="]].concat());
    assert!(evidence.get("pricing").is_none(), "{evidence}");
    let (code, text, _) = edit(folder.path(), &["set", "e.json", "moss", "evidence.pricing.checked_on=March"]);
    assert!(code == Some(2) && text.contains("isn't a date"), "{text}");
}
