//! A server without exports on an index folder that another tool fills.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::binary::command;
use crate::common::index_copy::copy_index;
use crate::common::process::{Server, export, folder_with, run, text, write};
use crate::common::until::until;

fn reindex(folder: &Path) {
    let built = run(folder, &["--reindex"]);
    assert!(built.status.success(), "{built:?}");
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("changed");
}

/// Copies an index into a folder that only its owner may write to, and not even the owner in
/// between.
fn fill(folder: &Path, from: &Path) {
    set_mode(folder, 0o755);
    copy_index(&from.join("index"), folder);
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        set_mode(&path, if path.is_dir() { 0o555 } else { 0o444 });
    }
    set_mode(folder, 0o555);
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    names.sort();
    names
}

/// The command for a server that can't write to the folder. Root ignores permissions, so if this is
/// root, the server runs as another user, with its own copy of the binary.
fn without_privileges(folder: &Path) -> Command {
    let original = command(folder);
    if !rustix::process::geteuid().is_root() {
        return original;
    }
    let binary = folder.join("software-directory");
    fs::hard_link(original.get_program(), &binary)
        .or_else(|_| fs::copy(original.get_program(), &binary).map(drop))
        .expect("copied");
    let mut other = Command::new(binary);
    other.current_dir(folder).uid(65534).gid(65534);
    for (name, _) in original.get_envs() {
        other.env_remove(name);
    }
    other
}

#[test]
fn a_read_only_index_folder_is_served_and_watched() {
    let builder = folder_with(&["a"]);
    reindex(builder.path());
    let place = tempfile::tempdir().expect("a folder");
    set_mode(place.path(), 0o755);
    let index = place.path().join("copy");
    fs::create_dir(&index).expect("a folder");
    fill(&index, builder.path());
    let copied = names(&index);
    let mut start = without_privileges(place.path());
    start.args(["--data", "none", "--index", "copy"]);
    let server = Server::spawn_command(start).announced();
    until("the copy is served", || (server.get("/v1/software/a").0 == 200).then_some(()));
    assert_eq!(names(&index), copied, "nothing is written");
    write(builder.path(), &export(&["a", "b"]));
    reindex(builder.path());
    fill(&index, builder.path());
    until("the next copy is served", || (server.get("/v1/software/b").0 == 200).then_some(()));
    assert_eq!(server.reasons(), [""; 0]);
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("published a new generation from the index folder"), "{log}");
    set_mode(&index, 0o755);
    for path in names(&index).iter().filter(|path| path.is_dir()) {
        set_mode(path, 0o755);
    }
}

#[test]
fn a_server_waits_for_a_copy_and_says_so() {
    let builder = folder_with(&["a"]);
    reindex(builder.path());
    let place = tempfile::tempdir().expect("a folder");
    let server = Server::start(place.path(), &["--data", "none", "--index", "copy"]);
    assert_eq!(server.get("/readyz").0, 503);
    let log = "CURRENT doesn't exist or doesn't name a generation";
    until("the reason is logged", || server.stderr().contains(log).then_some(()));
    assert!(server.stderr().contains("waiting for a generation in the index folder"), "{}", server.stderr());
    copy_index(&builder.path().join("index"), &place.path().join("copy"));
    until("the copy is served", || (server.get("/readyz").0 == 200).then_some(()));
    let found = run(place.path(), &["search", "--data", "none", "--index", "copy", "tool"]);
    assert!(text(&found.stdout).contains("Tool a"), "{found:?}");
}

#[test]
fn contradictory_and_removed_options_are_usage_errors() {
    let folder = folder_with(&["a"]);
    for (arguments, part) in [
        (&["--data", "none", "--reindex"][..], "--reindex builds from exports"),
        (&["--data", "none", "--index", "none"], "--index none"),
        (&["--data", "none", "--meaning", "off"], "to the server that builds them"),
        (&["--data", "none", "--id-prefix", "tools=t:"], "to the server that builds them"),
        (&["--follow", "https://leader.example/v1/generations"], "--data none"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(part), "{output:?}");
    }
    let output =
        command(folder.path()).env("SOFTWARE_DIRECTORY_FOLLOW", "http://127.0.0.1:1/").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
