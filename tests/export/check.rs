//! `check` on the command line: arguments, output, exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::binary;

pub(crate) const VALID: &str = r#"{"name": "N", "license": "https://example.org/", "software": [
    {"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review"}
]}"#;

pub(crate) fn check(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).output().expect("the binary runs")
}

/// The `check` command, without options from the environment.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = binary::command(folder);
    command.arg("check");
    command
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// A folder with files, each given as a path and its content.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

#[test]
fn checking_a_valid_data_folder_prints_one_line_and_exits_with_0() {
    let folder = folder(&[
        ("data/x.json", VALID),
        ("data/.hidden.json", "?"),
        ("data/notes.txt", "?"),
        ("data/sub/y.json", "?"),
    ]);
    let output = check(folder.path(), &[]);
    assert_eq!(stdout(&output), "Checked 1 file, 1 record: 0 errors, 0 warnings.\n");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn warnings_alone_exit_with_0() {
    let folder = folder(&[("data/x.json", &VALID.replace("\"id\": \"a\"", "\"id\": \"a\", \"rating\": 9"))]);
    let output = check(folder.path(), &[]);
    assert!(stdout(&output).contains("warning[rating_out_of_range]"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn near_misses_of_export_names_cause_a_warning_about_their_folder() {
    let folder = folder(&[("data/x.json", VALID), ("data/y.JSON", VALID)]);
    let warning = "warning[ignored_file]: `y.JSON` isn't read: an export's file name must end in .json\n --> data\n";
    for arguments in [&[][..], &["data"], &["data", "./data"]] {
        let output = check(folder.path(), arguments);
        assert_eq!(stdout(&output).matches(warning).count(), 1, "{}", stdout(&output));
        assert_eq!(output.status.code(), Some(0));
    }
    let named = check(folder.path(), &["data/x.json"]);
    assert_eq!(stdout(&named), "Checked 1 file, 1 record: 0 errors, 0 warnings.\n", "a single file isn't a folder");
}

#[test]
fn denied_warnings_exit_with_2() {
    let folder = folder(&[("data/x.json", &VALID.replace("\"id\": \"a\"", "\"id\": \"a\", \"rating\": 9"))]);
    let output = check(folder.path(), &["--deny", "warnings"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "error: warnings are denied: correct them, or check without --deny warnings\n");
    fs::write(folder.path().join("data/x.json"), VALID).expect("a file");
    assert_eq!(check(folder.path(), &["--deny", "warnings"]).status.code(), Some(0));
}

#[test]
fn statistics_count_all_findings_with_a_code() {
    let record = r#"{"id": 1, "name": "A", "url": "https://a.example/", "evidence_status": "x"}"#;
    let records = vec![record; 1200].join(",");
    let text =
        format!(r#"{{"name": "N", "license": "https://a.example/", "as_of": "spring", "software": [{records}]}}"#);
    let folder = folder(&[("data/x.json", &text)]);
    let output = check(folder.path(), &["--statistics"]);
    assert_eq!(
        stdout(&output),
        "     1,200 error[wrong_type]\n     1,200 error[unknown_value]\n         1 warning[impossible_date]\n\
         Checked 1 file, 1,200 records (1,200 invalid): 2,400 errors, 1 warning.\n"
    );
    assert_eq!(output.status.code(), Some(2));
    let output = check(folder.path(), &["--statistics", "--format", "json"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
}

#[test]
fn checking_an_invalid_file_exits_with_2_and_prints_no_colours_outside_a_terminal() {
    let folder = folder(&[("data/x.json", VALID), ("data/y.json", "{\n  \"name\": 1,\n")]);
    let output = check(folder.path(), &[]);
    assert!(
        stdout(&output)
            .starts_with("error[truncated]: the file ends inside the object opened on line 1\n --> data/y.json:3:1\n")
    );
    assert!(!output.stdout.contains(&0x1b));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn several_folders_and_files_are_checked_as_one_set() {
    let folder = folder(&[("one/x.json", VALID), ("two/x.json", VALID)]);
    let output = check(folder.path(), &["one", "two/x.json", "one/x.json"]);
    let text = stdout(&output);
    assert!(
        text.contains("error[duplicate_export_id]: the export id `x` is used by two files\n --> two/x.json\n"),
        "{text}"
    );
    assert!(text.contains("error[duplicate_software_id]"), "{text}");
    assert!(text.ends_with("Checked 2 files, 2 records (1 invalid): 2 errors, 0 warnings.\n"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn checking_an_unreadable_folder_exits_with_1() {
    let folder = folder(&[]);
    let output = check(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error: the path data can't be read: "), "{}", stderr(&output));
}

#[test]
fn a_folder_without_exports_is_reported() {
    let folder = folder(&[("data/notes.txt", "?")]);
    let output = check(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: there is no export file in the folder data: put at least one *.json file there\n"
    );
}

#[test]
fn an_entry_named_like_an_export_is_never_skipped() {
    let folder = folder(&[("data/a.json", VALID), ("data/folder.json/x.txt", "?")]);
    let output = check(folder.path(), &[]);
    assert!(stdout(&output).contains("error[not_a_file]"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn links_are_followed_and_broken_ones_are_reported() {
    let folder = folder(&[("elsewhere/x.json", VALID), ("data/y.json", &VALID.replace("\"a\"", "\"b\""))]);
    std::os::unix::fs::symlink("../elsewhere/x.json", folder.path().join("data/x.json")).expect("a link");
    assert!(stdout(&check(folder.path(), &[])).ends_with("Checked 2 files, 2 records: 0 errors, 2 warnings.\n"));
    std::os::unix::fs::symlink("nowhere", folder.path().join("data/z.json")).expect("a link");
    assert!(stdout(&check(folder.path(), &[])).contains("error[unreadable_file]"));
}

#[test]
fn a_file_over_the_limit_is_not_read() {
    let folder = folder(&[("data/x.json", VALID)]);
    let output = check(folder.path(), &["--max-file-bytes", "20"]);
    let expected = format!("error[file_too_large]: the file is too large: {} bytes, 20 are allowed\n", VALID.len());
    assert!(stdout(&output).starts_with(&expected), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(check(folder.path(), &["--max-file-bytes", &VALID.len().to_string()]).status.code(), Some(0));
}

#[test]
fn the_report_is_available_in_other_formats() {
    let folder = folder(&[("data/x.json", "[]")]);
    let json: serde_json::Value =
        serde_json::from_slice(&check(folder.path(), &["--format", "json"]).stdout).expect("JSON");
    assert_eq!((&json["valid"], &json["errors"]), (&serde_json::json!(false), &serde_json::json!(1)));
    assert_eq!(json["findings"][0]["code"], "wrong_type");
    let github = stdout(&check(folder.path(), &["--format", "github"]));
    assert!(github.starts_with("::error file=data/x.json,line=1,col=1,title=wrong_type::"), "{github}");
}

#[test]
fn control_characters_in_an_export_do_not_reach_the_terminal() {
    let key = r"\u001b[31m\u009b\u202e\n";
    let raw = "\u{9b}31m\u{202e}";
    let more = format!(r#""{key}": 1, "{key}": 2, "x": "{raw}", "x": 1, "id": "a""#);
    let folder = folder(&[("data/x\u{1b}[2J.json", &VALID.replace("\"id\": \"a\"", &more))]);
    for output in [check(folder.path(), &[]), check(folder.path(), &["data/missing\u{1b}[2J.json"])] {
        let shown = stdout(&output) + &stderr(&output);
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(steers) && shown.contains(r"\u{1b}["), "{shown:?}");
    }
}

#[test]
fn an_operators_prefix_tells_two_sources_apart() {
    let folder = folder(&[("data/x.json", VALID), ("data/y.json", &VALID.replace("a.example", "b.example"))]);
    assert_eq!(check(folder.path(), &[]).status.code(), Some(2));
    let output = check(folder.path(), &["--id-prefix", "y=y:"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
    let output = check(folder.path(), &["--id-prefix", "y=y:", "--id-prefix", "y.json=z:"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stderr(&output).contains("`y.json`, which doesn't exist"), "{}", stderr(&output));
    let output = check(folder.path(), &["--id-prefix", "y=a/b"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("ASCII letters, digits"), "{}", stderr(&output));
}
