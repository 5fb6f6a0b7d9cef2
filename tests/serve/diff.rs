//! `software-directory diff`: its two sides and its exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::process::{export, folder_with, run, text, write};

fn diff(folder: &Path, arguments: &[&str]) -> Output {
    run(folder, &[&["diff"], arguments].concat())
}

/// The ids of the added and removed products.
fn ids(output: &Output) -> [Vec<String>; 2] {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("JSON: {output:?}"));
    let ids = |key: &str| {
        let entries = document["software"][key].as_array().expect("an array");
        entries.iter().map(|entry| entry["id"].as_str().expect("an id").to_owned()).collect()
    };
    ["added", "removed"].map(ids)
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_exit_code_says_whether_anything_differs() {
    let folder = folder_with(&["a", "b"]);
    fs::write(folder.path().join("new.json"), export(&["b", "c"])).expect("written");
    let same = diff(folder.path(), &["data", "data/tools.json"]);
    assert_eq!((same.status.code(), text(&same.stdout).trim()), (Some(0), "data and data/tools.json do not differ"));
    let other = diff(folder.path(), &["data", "new.json"]);
    assert_eq!(other.status.code(), Some(1), "{other:?}");
    assert!(text(&other.stdout).contains("1 product added, 1 removed, 0 changed"), "{other:?}");
    let missing = diff(folder.path(), &["data", "gone"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("gone doesn't exist; specify an export file"), "{missing:?}");
}

#[test]
fn an_invalid_side_is_reported_and_its_valid_records_are_compared_if_requested() {
    let folder = folder_with(&["a", "b"]);
    let invalid = export(&["a", "b", "c"]).replace("https://b.example/", "no address");
    fs::write(folder.path().join("new.json"), invalid).expect("written");
    let refused = diff(folder.path(), &["data", "new.json"]);
    assert_eq!((refused.status.code(), text(&refused.stdout).as_str()), (Some(2), ""));
    assert!(text(&refused.stderr).contains("new.json is invalid; correct it"), "{refused:?}");
    assert!(text(&refused.stderr).contains("new.json:6"), "{refused:?}");
    let skipped = diff(folder.path(), &["--skip-invalid", "--format", "json", "data", "new.json"]);
    assert_eq!(skipped.status.code(), Some(1));
    assert_eq!(ids(&skipped), [["c"], ["b"]]);
    fs::write(folder.path().join("new.json"), "{").expect("written");
    let nothing = diff(folder.path(), &["--skip-invalid", "data", "new.json"]);
    assert_eq!(nothing.status.code(), Some(2), "a broken side doesn't mean that everything was removed");
    assert!(text(&nothing.stderr).contains("new.json has no valid export"), "{nothing:?}");
}

#[test]
fn a_git_revision_can_be_a_side() {
    let folder = folder_with(&["a"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "data"]);
    git(folder.path(), &["commit", "-qm", "one"]);
    write(folder.path(), &export(&["b"]));
    git(folder.path(), &["commit", "-qam", "two"]);
    write(folder.path(), &export(&["c"]));
    let of = |old: &str, new: &str| ids(&diff(folder.path(), &["--format", "json", old, new]));
    assert_eq!(of("HEAD:data", "data"), [["c"], ["b"]]);
    assert_eq!(of("HEAD~1:data", "HEAD:data/tools.json"), [["b"], ["a"]]);
    for (side, cause) in [
        ("HEAD~7:data", "git can't read HEAD~7:data"),
        ("HEAD:none", "git can't read HEAD:none"),
        ("HEAD:", "there is no export file in HEAD:"),
        ("--upload-pack=x:data", "unexpected argument"),
    ] {
        let output = diff(folder.path(), &[side, "data"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(cause), "{output:?}");
    }
}

#[test]
fn an_untrusted_repository_cannot_run_commands() {
    let folder = folder_with(&["a"]);
    let path = folder.path();
    git(path, &["init", "-q"]);
    git(path, &["add", "data"]);
    git(path, &["commit", "-qm", "one"]);
    // A partial clone's configuration contains the command that fetches missing objects.
    let ran = path.join("ran");
    git(path, &["config", "core.repositoryFormatVersion", "1"]);
    git(path, &["config", "extensions.partialClone", "origin"]);
    git(path, &["config", "remote.origin.promisor", "true"]);
    git(path, &["config", "remote.origin.url", &format!("file://{}", path.display())]);
    git(path, &["config", "remote.origin.uploadpack", &format!("touch {}; git-upload-pack", ran.display())]);
    let hash = Command::new("git").args(["rev-parse", "HEAD:data/tools.json"]).current_dir(path).output();
    let hash = text(&hash.expect("git runs").stdout).trim().to_owned();
    let object = path.join(".git/objects").join(&hash[..2]).join(&hash[2..]);
    fs::remove_file(&object).expect("removed");
    let output = diff(path, &["HEAD:data", "data"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("git can't read HEAD:data/tools.json"), "{output:?}");
    assert!(!ran.exists(), "the repository's command ran");
}

#[test]
fn replacement_objects_are_ignored_and_sizes_are_checked_first() {
    let folder = folder_with(&["a"]);
    let path = folder.path();
    git(path, &["init", "-q"]);
    git(path, &["add", "data"]);
    git(path, &["commit", "-qm", "one"]);
    write(path, &export(&["b"]));
    git(path, &["commit", "-qam", "two"]);
    git(path, &["replace", "HEAD~1:data/tools.json", "HEAD:data/tools.json"]);
    assert_eq!(ids(&diff(path, &["--format", "json", "HEAD~1:data", "HEAD:data"])), [["b"], ["a"]]);
    let large = diff(path, &["--max-file-bytes", "100", "HEAD~1:data", "HEAD:data"]);
    assert_eq!(large.status.code(), Some(2), "{large:?}");
    assert!(text(&large.stderr).contains("HEAD~1:data/tools.json is larger than 100 bytes"), "{large:?}");
}

#[test]
fn missing_git_is_reported() {
    let folder = folder_with(&["a"]);
    let output =
        crate::common::binary::command(folder.path()).args(["diff", "HEAD:data", "data"]).env("PATH", "").output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("can't run git"), "{output:?}");
}

#[test]
fn a_generation_in_an_index_can_be_a_side() {
    let folder = folder_with(&["a", "b"]);
    assert_eq!(run(folder.path(), &["--reindex"]).status.code(), Some(0));
    let name = fs::read_to_string(folder.path().join("index/CURRENT")).expect("a generation").trim().to_owned();
    write(folder.path(), &export(&["b", "c", "d"]));
    let reindexed = run(folder.path(), &["--reindex"]);
    let line = "2 products added, 1 removed, 0 changed; files: tools.json";
    assert!(text(&reindexed.stdout).contains(line), "{reindexed:?}");
    let generation = name.split('-').next().expect("a generation");
    for side in [&format!("index/{name}"), &name, generation] {
        let output = diff(folder.path(), &["--format", "json", side, "index"]);
        assert_eq!(ids(&output), [vec!["c", "d"], vec!["a"]], "{side}");
    }
    let unknown = diff(folder.path(), &["0123456789abcdef", "data"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("has no generation 0123456789abcdef"), "{unknown:?}");
}

#[test]
fn a_new_export_date_is_one_change_and_affects_no_records() {
    let folder = folder_with(&["a", "b"]);
    assert_eq!(run(folder.path(), &["--reindex"]).status.code(), Some(0));
    let mut dated: serde_json::Value = serde_json::from_str(&export(&["a", "b"])).expect("JSON");
    dated["as_of"] = "2026-01-01".into();
    write(folder.path(), &dated.to_string());
    let reindexed = run(folder.path(), &["--reindex"]);
    let line = "0 products added, 0 removed, 0 changed; 1 export changed; files: tools.json";
    assert!(text(&reindexed.stdout).contains(line), "{reindexed:?}");
}
