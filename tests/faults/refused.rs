//! A full, read-only or forbidden disk: the server keeps serving what it has, serves new data from
//! memory, and reports the problem in `/readyz`. Once the disk works again, it writes the data
//! without an operator's help.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use fail::FailScenario;
use software_directory::generation::failpoint::Step;
use software_directory::update::Outcome;

use crate::common::binary::command;
use crate::common::place::{Place, export};
use crate::common::process::Server;
use crate::common::until::until;
use crate::corpus::Corpus;
use crate::scale::{alone, is_full};
use crate::system::{SmallDisk, is_superuser};
use crate::watched::revision;

/// The steps at which a write can fail.
const STEPS: [Step; 16] = [
    Step::StoreFolder,
    Step::StoreLocked,
    Step::StoreBegun,
    Step::PartCreated,
    Step::PartHalf,
    Step::PartWritten,
    Step::PartSynced,
    Step::ManifestCreated,
    Step::ManifestHalf,
    Step::ManifestSynced,
    Step::ManifestRenamed,
    Step::StoreWhole,
    Step::CurrentCreated,
    Step::CurrentHalf,
    Step::CurrentSynced,
    Step::CurrentRenamed,
];

/// How a write can fail, as failpoints call it.
const REFUSALS: [&str; 4] = ["full", "readonly", "denied", "io"];

/// The refusals to try at a step. The store treats them alike, so by default each step gets one.
fn refusals(step: usize) -> &'static [&'static str] {
    let at = step % REFUSALS.len();
    if is_full() { &REFUSALS } else { &REFUSALS[at..=at] }
}

#[test]
fn disk_failures_at_any_step_are_reported_and_recovered_from() {
    let _alone = alone();
    let corpus = Corpus::generated(20);
    let place = Place::with(&[]);
    corpus.write(&place.data(), 0);
    let mut at = 0;
    for (number, step) in STEPS.into_iter().enumerate() {
        for refusal in refusals(number) {
            let what = format!("{refusal} at {step:?}");
            let mut running = place.started();
            assert_eq!(running.reasons(), [""; 0], "{what}");
            let scenario = FailScenario::setup();
            fail::cfg(step.as_str(), &format!("return({refusal})")).expect("an action");
            corpus.write(&place.data(), at + 1);
            assert!(matches!(running.updater.refresh(), Ok(Outcome::Published)), "{what}: served from memory");
            assert_eq!(revision(&running.directory), at + 1, "{what}");
            assert_eq!(running.reasons(), ["index_not_written"], "{what}");
            running.updater.look(Instant::now());
            if step == Step::CurrentRenamed {
                // Only the last sync failed, so the current generation exists and is complete.
                assert_eq!(running.reasons(), [""; 0], "{what}");
            } else {
                assert!(running.updater.is_due(later()), "{what}");
                running.updater.refresh().expect("it serves");
                assert_eq!(running.reasons(), ["index_not_written"], "{what}: retried without success");
            }
            let other = place.started();
            assert_eq!(revision(&other.directory), at + 1, "{what}: it should be served after a restart");
            drop(other);
            fail::remove(step.as_str());
            drop(scenario);
            running.updater.refresh().expect("it serves");
            assert_eq!(running.reasons(), [""; 0], "{what}: repaired");
            assert_eq!(place.current().generation.as_str(), running.snapshot().generation(), "{what}");
            assert!(place.index_names().len() <= 4, "{what}: nothing is left behind: {:?}", place.index_names());
            for name in place.generation_names() {
                let manifest = place.store().candidates().into_iter().find(|manifest| manifest.folder_name() == name);
                place.store().load(&manifest.unwrap_or_else(|| panic!("{what}: {name} is incomplete"))).expect("whole");
            }
            let next = place.started();
            assert_eq!((revision(&next.directory), next.seen().phases.len()), (at + 1, 0), "{what}: loaded as is");
            at += 1;
        }
    }
    println!("refused: {at} refusals at {} steps: all of them reported and recovered from", STEPS.len());
}

#[test]
fn a_part_that_cannot_be_linked_is_written_instead() {
    let _alone = alone();
    let place = Place::with(&["a"]);
    place.write("more.json", &export(&["b"]));
    let mut running = place.started();
    let scenario = FailScenario::setup();
    fail::cfg(Step::PartLink.as_str(), "return(denied)").expect("an action");
    // Publishes a new set, and then the previous set again.
    for ids in [&["a", "c"][..], &["a"]] {
        place.write("tools.json", &export(ids));
        running.updater.refresh().expect("it serves");
        assert_eq!((running.ids().len(), running.reasons()), (ids.len() + 1, vec![]));
        let manifest = place.current();
        place.store().load(&manifest).expect("whole");
        let folder = place.index().join(manifest.folder_name());
        let links = |name: &str| fs::metadata(folder.join(name)).expect("a file").nlink();
        assert!(manifest.parts.iter().all(|part| links(&part.name) == 1), "{ids:?}");
    }
    drop(scenario);
    place.write("tools.json", &export(&["a", "c", "d"]));
    running.updater.refresh().expect("it serves");
    let part = place.index().join(place.current().folder_name()).join("catalogue.downloads.0");
    assert_eq!(fs::metadata(part).expect("a file").nlink(), 2, "linked, now that it's possible");
}

fn later() -> Instant {
    Instant::now() + Duration::from_hours(1)
}

/// A folder with exports, an empty index and a server command to run there.
fn folder(corpus: &Corpus) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    fs::create_dir(folder.path().join("index")).expect("a folder");
    corpus.write(&folder.path().join("data"), 0);
    folder
}

fn serves(server: &Server, corpus: &Corpus, revision: usize) -> bool {
    let body = server.get("/v1/software?limit=100").1;
    let expected = format!("rev-{revision:08}");
    let data = body["data"].as_array().expect("a list");
    data.len() == corpus.count(revision).min(100) && data.iter().all(|item| item["tagline"] == *expected)
}

/// Makes the disk fail while a server is running, and then work again.
fn goes_well(
    corpus: &Corpus,
    folder: &Path,
    server: &Server,
    refuse: impl FnOnce() -> io::Result<()>,
    heal: impl FnOnce() -> io::Result<()>,
) {
    assert!(serves(server, corpus, 0));
    assert_eq!(server.reasons(), [""; 0]);
    refuse().expect("it fails");
    corpus.write(&folder.join("data"), 1);
    until("the new revision is served from memory", || serves(server, corpus, 1).then_some(()));
    until("/readyz reports it", || (server.reasons() == ["index_not_written"]).then_some(()));
    assert!(serves(server, corpus, 1));
    heal().expect("the disk works again");
    // The server retries after 30 s, or immediately on SIGHUP.
    if !is_full() {
        server.signal("HUP");
    }
    until("it's written", || server.reasons().is_empty().then_some(()));
    assert!(serves(server, corpus, 1));
    let log = server.stderr();
    assert_eq!(log.matches("can't be written").count(), 1, "logged only once: {log}");
}

#[test]
fn a_server_survives_a_full_and_a_read_only_disk() {
    let corpus = Corpus::generated(50);
    let folder = folder(&corpus);
    let index = folder.path().join("index");
    let Some(disk) = SmallDisk::mount(&index, "size=1m") else {
        // The test with failpoints, above, injects the same failures at every step.
        println!("refused: mounting a file system isn't allowed here, so no real disk was filled");
        return;
    };
    let server = Server::start(folder.path(), &[]);
    let filler = index.join("filler");
    let fill = || match fs::write(&filler, vec![1; 2 * 1024 * 1024]) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        other => Err(io::Error::other(format!("not full: {other:?}"))),
    };
    goes_well(&corpus, folder.path(), &server, fill, || fs::remove_file(&filler));
    corpus.write(&folder.path().join("data"), 0);
    until("back at the first revision", || serves(&server, &corpus, 0).then_some(()));
    drop(server);
    let server = Server::start(folder.path(), &[]);
    let remount = |options| {
        disk.remount(options);
        Ok(())
    };
    goes_well(&corpus, folder.path(), &server, || remount("ro"), || remount("rw"));
}

#[test]
fn a_server_survives_an_index_folder_without_permission() {
    let corpus = Corpus::generated(20);
    let folder = folder(&corpus);
    let (index, program) = (folder.path().join("index"), folder.path().join("program"));
    let mut command = command(folder.path());
    if is_superuser() {
        // Permissions don't restrict root, so another account runs the server.
        const NOBODY: u32 = 65_534;
        // A separate process copies the program. If this process wrote the file, another test's
        // child might have it open at that moment, and it couldn't be executed (ETXTBSY).
        let copied = std::process::Command::new("cp").arg(command.get_program()).arg(&program).status();
        assert!(copied.is_ok_and(|status| status.success()), "copied");
        for (path, mode) in [(folder.path(), 0o755), (&folder.path().join("data"), 0o755), (&*program, 0o755)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("allowed");
        }
        chown(&index, Some(NOBODY), Some(NOBODY)).expect("given away");
        let environment: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        command = std::process::Command::new(&program);
        for name in &environment {
            command.env_remove(name);
        }
        command.current_dir(folder.path()).uid(NOBODY).gid(NOBODY);
    }
    let server = Server::spawn_command(command).announced();
    let allow = |mode| fs::set_permissions(&index, fs::Permissions::from_mode(mode));
    goes_well(&corpus, folder.path(), &server, || allow(0o555), || allow(0o755));
    corpus.write(&folder.path().join("data"), 0);
    until("back at the first revision", || serves(&server, &corpus, 0).then_some(()));
    // This time, the index folder can't even be read.
    allow(0o000).expect("forbidden");
    until("the loss is noticed", || (!server.reasons().is_empty()).then_some(()));
    assert!(serves(&server, &corpus, 0));
    allow(0o755).expect("allowed");
    server.signal("HUP");
    until("the server is healthy again", || server.reasons().is_empty().then_some(()));
}
