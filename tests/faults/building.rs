//! The build process fails in every possible way. The server keeps serving the last good
//! generation, even after a restart, and `/readyz` reports why.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::common::binary::command;
use crate::common::process::Server;
use crate::common::until::until;
use crate::corpus::Corpus;
use crate::system::niceness;

fn folder(corpus: &Corpus) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    corpus.write(&folder.path().join("data"), 0);
    folder
}

fn total(server: &Server) -> usize {
    let total = server.get("/v1/software").1["pagination"]["total"].as_u64().expect("a total");
    usize::try_from(total).expect("a count")
}

/// Starts with the old generation, and makes the build of a new one fail, first during a reload and
/// then at startup.
fn last_good_is_served(corpus: &Corpus, command: impl Fn(&Path) -> Command, reason: &str, log: &str) {
    let folder = folder(corpus);
    drop(Server::start(folder.path(), &[]));
    let server = Server::spawn_command(command(folder.path())).announced();
    corpus.write(&folder.path().join("data"), 1);
    until("/readyz reports it", || (server.reasons() == [reason]).then_some(()));
    assert_eq!(total(&server), corpus.count(0));
    assert!(server.stderr().contains(log), "{}", server.stderr());
    assert_eq!(server.terminate().0, Some(0));

    let server = Server::spawn_command(command(folder.path())).announced();
    assert_eq!((server.reasons(), total(&server)), (vec![reason.to_owned()], corpus.count(0)));
    assert_eq!(server.terminate().0, Some(0));

    let server = Server::start(folder.path(), &[]);
    assert_eq!((server.reasons().len(), total(&server)), (0, corpus.count(1)));
}

/// The process that's building for a server.
fn build_of(server: &Server) -> u32 {
    let children = format!("/proc/{0}/task", server.pid());
    let tasks = fs::read_dir(children).expect("a process").map(|task| task.expect("a task").path());
    let children = tasks.filter_map(|task| fs::read_to_string(task.join("children")).ok()).collect::<String>();
    children.trim().parse().expect("one child")
}

#[test]
fn a_build_without_processor_time_is_reported_and_has_normal_priority_if_nothing_is_served() {
    let corpus = Corpus::generated(20);
    let folder = folder(&corpus);
    // The build does nothing for long enough to be noticed.
    let mut server = Server::spawn_command(with_failpoint(folder.path(), "build::begun=sleep(7000)"));
    let own = niceness(server.pid());
    until("the first build is reported", || server.stderr().contains("the build is slow").then_some(()));
    assert_eq!(niceness(build_of(&server)), own);
    assert!(server.is_announced(), "{}", server.stderr());
    assert_eq!((server.reasons().len(), total(&server)), (0, corpus.count(0)));

    corpus.write(&folder.path().join("data"), 1);
    until("/readyz reports it", || (server.reasons() == ["build_slow"]).then_some(()));
    let available = std::thread::available_parallelism().expect("known").get();
    assert_eq!(niceness(build_of(&server)), own + i32::from(available > 1));
    assert!(server.get("/readyz").1["reasons"][0]["since"].is_string());
    until("the edit is served", || (total(&server) == corpus.count(1)).then_some(()));
    until("it has recovered", || server.stderr().contains("recovered: serving the current exports").then_some(()));
    assert_eq!(server.reasons().len(), 0);
    assert_eq!(server.stderr().matches("building a generation").count(), 2, "{}", server.stderr());
}

fn with_failpoint(folder: &Path, failpoint: &str) -> Command {
    let mut command = command(folder);
    command.env("FAILPOINTS", failpoint);
    command
}

#[test]
fn a_killed_build_leaves_the_last_good_generation() {
    let command = |folder: &Path| with_failpoint(folder, "build::finish=return(kill)");
    last_good_is_served(&Corpus::generated(20), command, "build_failed", "ran out of memory");
}

#[test]
fn a_panicking_build_leaves_the_last_good_generation() {
    let command = |folder: &Path| with_failpoint(folder, "build::finish=panic(out of paper)");
    last_good_is_served(&Corpus::generated(20), command, "build_panicked", "out of paper, at ");
}

#[test]
fn a_build_that_runs_out_of_memory_leaves_the_last_good_generation() {
    let command = |folder: &Path| {
        let mut command = command(folder);
        command.args(["--max-build-bytes", "4000000"]);
        command
    };
    last_good_is_served(&Corpus::generated(2000), command, "build_failed", "keeping the last good generation");
}

#[test]
fn a_first_start_without_a_generation_reports_why() {
    let folder = folder(&Corpus::generated(20));
    let output = with_failpoint(folder.path(), "build::finish=return(kill)").output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: the build process"), "{output:?}");
}

#[test]
fn exports_are_served_from_memory_while_another_process_locks_the_index() {
    let corpus = Corpus::generated(20);
    let folder = folder(&corpus);
    let server = Server::start(folder.path(), &[]);
    let lock = File::options().write(true).open(folder.path().join("index/LOCK")).expect("the lock");
    lock.lock().expect("locked");
    corpus.write(&folder.path().join("data"), 1);
    until("the edit is served", || (total(&server) == corpus.count(1)).then_some(()));
    assert_eq!(server.reasons(), ["index_locked"]);
    drop(lock);
    server.signal("HUP");
    until("it's written", || server.reasons().is_empty().then_some(()));
}
