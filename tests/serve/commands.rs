//! The commands beside `serve`.

use serde_json::Value;

use crate::process::{Server, folder_with, run, text, write};

#[test]
fn search_prints_the_matches_and_leaves_no_trace() {
    let folder = folder_with(&["alpha", "beta"]);
    let output = run(folder.path(), &["search", "alpha"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout).lines().next().map(str::trim), Some("Tool alpha  alpha"));
    assert!(!folder.path().join("index").exists());
}

#[test]
fn search_in_the_last_good_generation_says_so() {
    let folder = folder_with(&["alpha", "beta"]);
    assert_eq!(run(folder.path(), &["--reindex"]).status.code(), Some(0));
    write(folder.path(), "{");
    let output = run(folder.path(), &["search", "alpha"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("Tool alpha"), "{output:?}");
    assert!(text(&output.stderr).contains("warning: the exports are not served: "), "{output:?}");
}

#[test]
fn openapi_prints_the_document_that_is_served() {
    let folder = folder_with(&["a"]);
    let printed: Value = serde_json::from_slice(&run(folder.path(), &["openapi"]).stdout).expect("JSON");
    let (_, served) = Server::start(folder.path(), &["--index", "none"]).get("/openapi.json");
    assert_eq!(printed["paths"], served["paths"]);
    assert!(printed["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
}

#[test]
fn completions_are_a_script_for_the_shell() {
    let folder = folder_with(&["a"]);
    let output = run(folder.path(), &["completions", "bash"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("complete -F _software__directory"), "{output:?}");
    assert_eq!(run(folder.path(), &["completions", "dos"]).status.code(), Some(2));
}

#[test]
fn a_running_server_passes_its_health_check_and_a_stopped_one_does_not() {
    let folder = folder_with(&["a"]);
    let server = Server::start(folder.path(), &[]);
    let address = server.address.trim_start_matches("http://").to_owned();
    assert_eq!(run(folder.path(), &["healthcheck", "--listen", &address]).status.code(), Some(0));
    assert_eq!(server.terminate().0, Some(0));
    assert_eq!(run(folder.path(), &["healthcheck", "--listen", &address]).status.code(), Some(1));
}
