//! Exports in every state a writer can leave them in. A half-written export is never served, and
//! every other change is published within three seconds plus the build.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use software_directory::service;
use software_directory::update::Outcome;

use crate::common::place::Place;
use crate::common::until::until;
use crate::corpus::Corpus;
use crate::scale::{Random, alone, is_full, times};
use crate::watched::{Watching, revision};

/// How long a change may take to be published, in addition to the build. If other tests run at the
/// same time, there's slack for a busy machine.
fn prompt() -> Duration {
    Duration::from_secs(if is_full() { 3 } else { 15 })
}

/// A folder whose export is revision 0 of a corpus.
fn place(corpus: &Corpus) -> Place {
    let place = Place::with(&[]);
    corpus.write(&place.data(), 0);
    place
}

/// Writes prefixes of the export to its file, and expects none of them to be served.
fn no_prefix_is_served(corpus: &Corpus, lengths: impl Iterator<Item = usize>) -> usize {
    let place = place(corpus);
    let mut running = place.started();
    let served = running.snapshot();
    let next = corpus.document(1);
    let mut prefixes = 0;
    for length in lengths {
        fs::write(place.data().join("tools.json"), &next[..length]).expect("written");
        let outcome = running.updater.refresh().expect("it serves");
        assert!(outcome == Outcome::Failed, "{length} bytes: {outcome:?}");
        assert!(Arc::ptr_eq(&served, &running.snapshot()), "{length} bytes");
        assert_eq!(running.reasons(), ["exports_invalid"], "{length} bytes");
        prefixes += 1;
    }
    fs::write(place.data().join("tools.json"), &next).expect("written");
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Published)), "the complete export is served");
    prefixes
}

#[test]
fn no_prefix_of_a_small_export_is_ever_served() {
    let _alone = alone();
    let corpus = Corpus::generated(2);
    let prefixes = no_prefix_is_served(&corpus, 0..corpus.document(1).len());
    println!("exports: all {prefixes} prefixes of a small export: none served");
}

#[test]
fn no_prefix_of_a_large_export_is_ever_served() {
    let _alone = alone();
    let corpus = Corpus::large();
    let (length, mut random) = (corpus.document(1).len(), Random(3));
    let prefixes = no_prefix_is_served(&corpus, (0..times(20, 1000)).map(|_| random.below(length)));
    println!("exports: {prefixes} prefixes of an export of {length} bytes: none served");
}

/// Waits until a watched updater is healthy and serving a revision. Returns how long that took
/// beyond the build.
fn follows(watching: &Watching, expected: usize, what: &str) -> Duration {
    let started = Instant::now();
    until(what, || (revision(&watching.directory) == expected && watching.reasons().is_empty()).then_some(()));
    let build = watching.directory.reloads().last.map_or(Duration::ZERO, |reload| reload.took);
    let took = started.elapsed().saturating_sub(build);
    assert!(took <= prompt(), "{what} took {took:?} in addition to the build");
    took
}

/// Waits until a watched updater reports a reason while it's still serving this revision.
fn reports(watching: &Watching, served: usize, reason: &str, what: &str) {
    until(what, || (watching.reasons() == [reason]).then_some(()));
    assert_eq!(revision(&watching.directory), served, "{what}: served throughout");
}

#[test]
fn every_change_to_an_export_is_picked_up_while_the_last_good_one_stays_live() {
    let _alone = alone();
    let corpus = Corpus::generated(20);
    let place = place(&corpus);
    let watching = Watching::new(place.started());
    let (data, export) = (place.data(), place.data().join("tools.json"));
    let aside = data.with_file_name("aside");
    fs::create_dir(&aside).expect("a folder");
    let mut most = Duration::ZERO;
    let mut at = 0;
    let mut recovered = |what: &str| {
        at += 1;
        corpus.write(&data, at);
        most = most.max(follows(&watching, at, what));
        at
    };

    fs::remove_file(&export).expect("removed");
    reports(&watching, 0, "exports_missing", "the export is deleted");
    let at = recovered("the export exists again");

    // Not even root can read a dangling link.
    fs::remove_file(&export).expect("removed");
    symlink("nowhere", &export).expect("a link");
    reports(&watching, at, "exports_invalid", "the export can't be read");
    fs::remove_file(&export).expect("removed");
    let at = recovered("the export can be read again");

    fs::remove_file(&export).expect("removed");
    fs::create_dir(&export).expect("a folder");
    reports(&watching, at, "exports_invalid", "a folder has replaced the export");
    fs::remove_dir(&export).expect("removed");
    let at = recovered("the folder is gone");

    fs::remove_file(&export).expect("removed");
    assert!(Command::new("mkfifo").arg(&export).status().expect("mkfifo runs").success());
    reports(&watching, at, "exports_invalid", "a pipe has replaced the export");
    fs::remove_file(&export).expect("removed");
    let at = recovered("the pipe is gone");

    corpus.write(&aside, at + 1);
    fs::remove_file(&export).expect("removed");
    symlink(aside.join("tools.json"), &export).expect("a link");
    follows(&watching, at + 1, "a link has replaced the export");
    corpus.write(&aside, at + 2);
    follows(&watching, at + 2, "the file that the link points to is replaced");
    fs::remove_file(&export).expect("removed");
    recovered("the link is gone");
    let at = recovered("edits are picked up again");

    fs::remove_dir_all(&data).expect("removed");
    reports(&watching, at, "exports_missing", "the folder is removed");
    fs::create_dir(&data).expect("a folder");
    recovered("the folder exists again");
    recovered("edits in the new folder are picked up");

    println!(
        "exports: deleted, unreadable, folder, pipe, link, folder recreated: {most:?} at most, in addition to the build"
    );
}

#[test]
fn a_link_swapped_the_way_kubernetes_swaps_a_config_map_is_picked_up() {
    let _alone = alone();
    let corpus = Corpus::generated(20);
    let place = place(&corpus);
    let data = place.data();
    fs::remove_file(data.join("tools.json")).expect("removed");
    let version = |at: usize| {
        let folder = data.join(format!("..version_{at}"));
        fs::create_dir(&folder).expect("a folder");
        corpus.write(&folder, at);
        symlink(folder.file_name().expect("a name"), data.join("..data_tmp")).expect("a link");
        fs::rename(data.join("..data_tmp"), data.join("..data")).expect("swapped");
    };
    version(0);
    symlink("..data/tools.json", data.join("tools.json")).expect("a link");
    let watching = Watching::new(place.started());
    for at in 1..=times(3, 20) {
        version(at);
        fs::remove_dir_all(data.join(format!("..version_{}", at - 1))).expect("removed");
        follows(&watching, at, "the link is swapped");
    }
    assert!(watching.builds() <= times(3, 20) as u64 + 1, "one build per swap");
}

#[test]
fn many_files_changed_at_once_cause_one_build() {
    let _alone = alone();
    let corpus = Corpus::generated(20);
    let place = place(&corpus);
    let files = times(40, 200);
    let write = |at: usize| {
        for file in 0..files {
            let export = crate::common::place::export(&[&format!("file-{file}-{}", if file == 0 { at } else { 0 })]);
            // Git replaces a file by removing it and then writing a new file with the same name.
            let path = place.data().join(format!("more-{file}.json"));
            drop(fs::remove_file(&path));
            fs::write(&path, export).expect("written");
        }
        corpus.write(&place.data(), at);
    };
    write(0);
    let watching = Watching::new(place.started());
    // First, the updater verifies the generation that it loaded at startup.
    until("the load is verified", || (watching.directory.reloads().counts.iter().sum::<u64>() == 2).then_some(()));
    let before = watching.builds();
    let mut pauses = 0;
    for at in 1..=3 {
        let started = Instant::now();
        write(at);
        // If the machine is too busy to write all files at once, the folder may look settled
        // partway through.
        pauses += u64::try_from(started.elapsed().as_millis()).expect("a time") / 250;
        let id = format!("file-0-{at}");
        until("the pull is picked up", || {
            let snapshot = watching.directory.current().expect("a generation");
            let hash = service::get_software_hash(&snapshot, &id);
            (hash.is_some() && watching.reasons().is_empty()).then_some(())
        });
    }
    // A build is counted right after it's published.
    until("the last build is counted", || (watching.builds() - before >= 3).then_some(()));
    let builds = watching.builds() - before;
    assert!((3..=3 + pauses).contains(&builds), "{builds} builds for three pulls, {pauses} pauses");
    println!("exports: three pulls of {files} files each: {builds} builds");
}
