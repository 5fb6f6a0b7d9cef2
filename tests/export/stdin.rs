//! `check -`: an export on standard input.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use super::check::{VALID, check, command, folder, stderr, stdout};

fn check_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = command(folder);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    // If the process rejects the input, it has closed the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("an output")
}

#[test]
fn an_export_on_standard_input_is_checked() {
    let empty = folder(&[]);
    let output = check_input(empty.path(), &["-"], VALID.as_bytes());
    assert_eq!(stdout(&output), "Checked 1 file, 1 record: 0 errors, 0 warnings.\n");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let output = check_input(empty.path(), &["-"], VALID.replace("pending-review", "x").as_bytes());
    assert!(stdout(&output).contains(" --> <stdin>:2:"), "{}", stdout(&output));
    assert!(stdout(&output).contains("product `a` \"A\", at /software/0/evidence_status"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn standard_input_has_the_id_stdin() {
    let empty = folder(&[]);
    let output = check_input(empty.path(), &["-", "--id-prefix", "stdin=s:"], VALID.as_bytes());
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn standard_input_is_bounded() {
    let empty = folder(&[]);
    let limit = VALID.len().to_string();
    assert_eq!(check_input(empty.path(), &["-", "--max-file-bytes", &limit], VALID.as_bytes()).status.code(), Some(0));
    let more = format!("{VALID} ");
    let output = check_input(empty.path(), &["-", "--max-file-bytes", &limit], more.as_bytes());
    assert!(stdout(&output).starts_with("error[file_too_large]: "), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn standard_input_with_other_paths_is_a_usage_error() {
    let files = folder(&[("data/x.json", VALID), ("-", VALID)]);
    for paths in [["-", "data"], ["data", "-"], ["-", "-"]] {
        let output = check(files.path(), &paths);
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
        assert!(stderr(&output).starts_with("error: - stands for standard input"), "{}", stderr(&output));
    }
    assert_eq!(check(files.path(), &["./-"]).status.code(), Some(0));
}
