//! A storm of writes while a server is running.

use std::fs;
use std::time::{Duration, Instant};

use crate::checker::Checker;
use crate::client::Client;
use crate::common::process::Server;
use crate::common::until::until;
use crate::corpus::{Corpus, replace};
use crate::scale::{is_full, times};
use crate::system::rss_kib;

#[test]
fn a_storm_of_writes_causes_few_builds_and_no_outage() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    let corpus = Corpus::generated(20);
    corpus.write(&data, 0);
    let server = Server::start(folder.path(), &[]);
    let checker = Checker::default();
    let mut client = Client::connect(&server.address, &server.key()).expect("a connection");
    let mut ask = || {
        let answer = client.get("/v1/software?limit=100").expect("a response");
        checker.check(&corpus, &answer, true).expect("one complete generation")
    };
    // There's one edit before memory is measured, so that the baseline includes a build.
    corpus.write(&data, 1);
    until("the first edit is served", || (ask() == 1).then_some(()));
    let before = rss_kib(server.pid());
    let (writes, started) = (times(20_000, 200_000), Instant::now());
    let documents: Vec<_> = (0..8).map(|revision| corpus.document(revision)).collect();
    let mut most = before;
    for write in 0..writes {
        match write % 4 {
            // A complete revision, half a revision, and two files that aren't exports.
            0 => replace(&data, &documents[write / 4 % documents.len()]),
            1 => fs::write(data.join("tools.json"), &documents[0][..documents[0].len() / 2]).expect("written"),
            2 => fs::write(data.join("notes.txt"), write.to_string()).expect("written"),
            _ => fs::write(data.join(".hidden.json"), write.to_string()).expect("written"),
        }
        if write % 500 == 0 {
            ask();
            most = most.max(rss_kib(server.pid()));
        }
    }
    let took = started.elapsed();
    corpus.write(&data, 9);
    let ended = Instant::now();
    until("the server serves the last revision", || (ask() == 9).then_some(()));
    let followed = ended.elapsed();
    until("it's healthy", || server.reasons().is_empty().then_some(()));
    let builds = server.stderr().matches("published a new generation").count();
    most = most.max(rss_kib(server.pid()));
    println!(
        "storm: {writes} writes in {took:.1?}: {builds} builds, up to date {followed:.1?} after the last, \
         {} MiB at most, {} MiB before",
        most / 1024,
        before / 1024
    );
    // During an endless storm, the exports are read every five seconds. The first and last edits
    // add two more reads.
    let allowed = 3 + usize::try_from(took.as_secs() / 5).expect("a count");
    assert!(builds <= allowed, "{builds} builds, {allowed} allowed");
    let prompt = Duration::from_secs(if is_full() { 4 } else { 15 });
    assert!(followed <= prompt, "it took {followed:?} after the last write until the server was up to date");
    assert!(most <= before + 64 * 1024, "{most} KiB, {before} KiB before");
}
