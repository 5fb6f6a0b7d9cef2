//! publiccode.yml files, one or a folder of them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::binary::command;

const MEDUSA: &str = r#"
publiccodeYmlVersion: "0"
name: Medusa
url: "https://git.example/medusa.git"
landingURL: "https://medusa.example/"
isBasedOn: https://git.example/otello.git
softwareVersion: 1.10
releaseDate: 2017-04-15
platforms: [web, linux]
categories: [office]
usedBy: [City of A, City of B]
developmentStatus: stable
softwareType: standalone/web
supports: [ISO 9001]
description:
  it:
    localisedName: Medusa IT
    shortDescription: >
      Gestisce documenti.
    features: [Archivio]
  en:
    genericName: Document manager
    shortDescription: Manages documents
    longDescription: Manages the documents of a city.
    features: [Archive]
legal: {license: AGPL-3.0-or-later, repoOwner: City of A}
maintenance:
  type: none
  contacts: [{name: Ada, email: ada@a.example}]
localisation: {localisationReady: yes, availableLanguages: [en, it]}
IT: {riuso: {codiceIPA: c_x}}
doctrine: {grade: 5}
"#;

fn import(folder: &Path, arguments: &[&str]) -> String {
    let mut command = command(folder);
    let made = ["--name", "Public code", "--license", "https://creativecommons.org/publicdomain/zero/1.0/"];
    let made = if arguments.contains(&"--update") { &[][..] } else { &made };
    let ran = command.arg("import").args(arguments).args(["--yes"]).args(made).output().expect("it runs");
    let text = String::from_utf8(ran.stderr).expect("text");
    assert!(ran.status.success(), "{text}");
    text
}

fn records(folder: &Path, file: &str) -> Value {
    let text = fs::read_to_string(folder.join(file)).expect("an export");
    serde_json::from_str::<Value>(&text).expect("JSON")
}

#[test]
fn every_value_becomes_a_property_or_is_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("publiccode.yml"), MEDUSA).expect("written");
    let text = import(folder.path(), &["publiccode.yml", "-o", "out.json"]);
    for listed in [
        "property `contacts`: they're people; `--additional contacts` publishes them",
        "property `doctrine.grade`: its header isn't known",
    ] {
        assert!(text.contains(listed), "{listed}: {text}");
    }
    let export = records(folder.path(), "out.json");
    let expected = json!({
        "id": "medusa", "name": "Medusa", "url": "https://medusa.example/", "repository": "https://git.example/medusa.git",
        "evidence_status": "pending-review", "sources": [["publiccode.yml", "https://git.example/medusa.git"]],
        "tagline": "Manages documents", "description": "Manages the documents of a city.", "features": ["Archive"],
        "generic_name": "Document manager", "vendor": "City of A", "repository_owner": "City of A",
        "is_based_on": "https://git.example/otello.git", "software_version": 1.10, "release_date": "2017-04-15",
        "platforms": ["web", "linux"], "categories": ["office"], "used_by": ["City of A", "City of B"],
        "development_status": "stable", "software_type": "standalone/web", "standards": ["ISO 9001"],
        "license": "AGPL-3.0-or-later", "maintenance": "none", "languages": ["en", "it"], "localisation_ready": true,
        "translations": {"it": {"name": "Medusa IT", "tagline": "Gestisce documenti."}},
        "other_languages": {"it": {"features": ["Archivio"]}}, "it": {"riuso": {"codiceIPA": "c_x"}}
    });
    assert_eq!(export["software"][0], expected);
    let declared = export["attributes"].as_array().expect("attributes");
    let date = json!({"property": "release_date", "label": "Release date", "type": "date"});
    assert!(declared.contains(&date) && declared.len() == 8, "{declared:?}");
    import(folder.path(), &["publiccode.yml", "-o", "all.json", "--additional", "contacts"]);
    assert_eq!(records(folder.path(), "all.json")["software"][0]["contacts"][0]["name"], "Ada");
}

#[test]
fn a_folder_is_read_with_its_folders_and_updates_match_by_the_repository() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join("files").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    };
    file("medusa.yml", MEDUSA);
    file("b/publiccode.yaml", "publiccodeYmlVersion: '0.4'\nname: Bee\nurl: https://git.example/bee\n");
    file("b/other.yml", "a: 1");
    file("notes.yml", "a: 1");
    let text = import(folder.path(), &["files", "-o", "out.json"]);
    assert!(text.contains("files without `publiccodeYmlVersion` are left out: notes.yml"), "{text}");
    let export = records(folder.path(), "out.json");
    let bee = &export["software"][0];
    assert_eq!((&bee["name"], &bee["url"]), (&json!("Bee"), &json!("https://git.example/bee")));
    assert_eq!(export["software"].as_array().map(Vec::len), Some(2));

    let renamed = MEDUSA.replace("name: Medusa\n", "name: Gorgon\n").replace("medusa.example", "gorgon.example");
    file("medusa.yml", &renamed);
    import(folder.path(), &["files", "--update", "out.json"]);
    let export = records(folder.path(), "out.json");
    let gorgon = &export["software"][1];
    assert_eq!((&gorgon["id"], &gorgon["name"]), (&json!("medusa"), &json!("Gorgon")));
    assert_eq!(gorgon["url"], "https://gorgon.example/");

    file("bad.yml", "publiccodeYmlVersion: [");
    let mut refused = command(folder.path());
    let refused = refused.args(["import", "files", "--update", "out.json", "--yes"]).output().expect("it runs");
    let text = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("error: this isn't valid YAML: line ") && text.contains("  bad.yml: "), "{text}");
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    let empty = command(folder.path()).args(["import", "empty", "--yes"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&empty.stderr).contains("there is no publiccode.yml in the folder"), "{empty:?}");
}
