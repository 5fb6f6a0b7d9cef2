//! A running server follows its exports.

use crate::common::process::{Server, export, folder_with, run, text, write};
use crate::common::until::until;

#[test]
fn valid_edits_are_published_and_broken_edits_are_reported() {
    let folder = folder_with(&["a", "b"]);
    let server = Server::start(folder.path(), &[]);
    assert_eq!(server.get("/v1/software/new").0, 404);
    write(folder.path(), &export(&["a", "b", "new"]));
    until("the new record is served", || (server.get("/v1/software/new").0 == 200).then_some(()));

    write(folder.path(), "{\n  oops\n}");
    until("/readyz reports it", || (server.reasons() == ["exports_invalid"]).then_some(()));
    assert_eq!(server.get("/v1/software/new").0, 200, "still served");
    assert!(server.stderr().contains("data/tools.json:2:3"), "{}", server.stderr());

    write(folder.path(), &export(&["a", "b", "fixed"]));
    until("the fixed record is served", || (server.get("/v1/software/fixed").0 == 200).then_some(()));
    until("it's healthy again", || server.reasons().is_empty().then_some(()));
    assert_eq!(server.terminate().0, Some(0));
}

#[test]
fn reindexing_while_a_server_runs_confirms_what_it_withheld() {
    let folder = folder_with(&["a", "b", "c", "d"]);
    let server = Server::start(folder.path(), &[]);
    write(folder.path(), &export(&["a"]));
    until("the exports are withheld", || (server.reasons() == ["records_removed"]).then_some(()));
    assert_eq!(server.get("/v1/software/b").0, 200);
    let output = run(folder.path(), &["--reindex"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).starts_with("Indexed 1 product as generation "), "{output:?}");
    until("the confirmed generation is picked up", || (server.get("/v1/software/b").0 == 404).then_some(()));
    until("it's healthy again", || server.reasons().is_empty().then_some(()));
}

#[test]
fn searching_from_the_terminal_confirms_nothing() {
    let folder = folder_with(&["a", "b", "c", "d"]);
    let server = Server::start(folder.path(), &[]);
    let before = std::fs::read_to_string(folder.path().join("index/CURRENT")).expect("a pointer");
    write(folder.path(), &export(&["a"]));
    until("the exports are withheld", || (server.reasons() == ["records_removed"]).then_some(()));
    assert_eq!(run(folder.path(), &["search", "tool"]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(folder.path().join("index/CURRENT")).expect("a pointer"), before);
}
