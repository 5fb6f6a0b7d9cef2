//! A panic in the updater's thread: the service keeps running, the panic is reported, and the work
//! is retried.

use std::time::{Duration, Instant};

use fail::FailScenario;
use software_directory::generation::FailureCode;
use software_directory::generation::failpoint::Step;
use software_directory::update::Outcome;

use crate::common::binary::command;
use crate::common::place::{Place, export};
use crate::common::process::Server;
use crate::common::until::until;
use crate::corpus::Corpus;
use crate::scale::alone;
use crate::watched::revision;

#[test]
fn a_panic_at_any_step_keeps_the_last_good_generation_and_is_retried() {
    let _alone = alone();
    let corpus = Corpus::generated(20);
    let place = Place::with(&[]);
    corpus.write(&place.data(), 0);
    drop(place.started());
    for (at, step) in Step::ALL.iter().enumerate() {
        // There are two generations, so that a third one leaves one to sweep.
        let mut running = place.started();
        let scenario = FailScenario::setup();
        fail::cfg(step.as_str(), "1*panic(out of paper)").expect("an action");
        corpus.write(&place.data(), at + 1);
        let outcome = running.updater.refresh().expect("it serves");
        // A panic after publishing doesn't undo it.
        let is_published = outcome == Outcome::Published || matches!(step, Step::PublishAfter);
        assert_eq!(revision(&running.directory), if is_published { at + 1 } else { at }, "{step:?}");
        if matches!(outcome, Outcome::Published) {
            assert!(matches!(step, Step::SweepManifest | Step::SweepParts) && at < Step::ALL.len(), "{step:?}");
        } else {
            assert!(outcome == Outcome::Failed, "{step:?}: {outcome:?}");
            assert_eq!(running.reasons(), ["build_panicked"], "{step:?}");
            assert!(running.detail().contains("out of paper"), "{}", running.detail());
            let last = running.directory.reloads().last.expect("a reload");
            assert_eq!(last.outcome, Outcome::Failed, "{step:?}");
            let now = Instant::now();
            assert!(!running.updater.is_due(now), "{step:?}: not immediately");
            assert!(running.updater.is_due(now + Duration::from_hours(1)), "{step:?}");
            running.updater.refresh().expect("it serves");
        }
        drop(scenario);
        assert_eq!((revision(&running.directory), running.reasons().len()), (at + 1, 0), "{step:?}: recovered");
        assert!(!running.updater.is_due(Instant::now() + Duration::from_hours(1)), "{step:?}");
        drop(running);
        let next = place.started();
        assert_eq!((revision(&next.directory), next.reasons().len()), (at + 1, 0), "{step:?}: after a restart");
        assert!(place.generation_names().len() <= 2, "{step:?}: {:?}", place.generation_names());
    }
}

#[test]
fn a_start_that_panics_serves_the_last_good_generation_if_there_is_one() {
    let _alone = alone();
    let place = Place::with(&["a", "b"]);
    let scenario = FailScenario::setup();
    fail::cfg(Step::BuildFinish.as_str(), "panic(out of paper)").expect("an action");
    let failure = place.updater().updater.start().expect_err("nothing to serve");
    assert_eq!(failure.code, FailureCode::BuildPanicked);
    assert!(failure.detail.contains("out of paper"), "{failure}");
    fail::remove(Step::BuildFinish.as_str());
    drop(place.started());
    place.write("tools.json", &export(&["a", "b", "c"]));
    fail::cfg(Step::BuildFinish.as_str(), "panic(out of paper)").expect("an action");
    let mut running = place.updater();
    assert!(matches!(running.updater.start(), Ok(Outcome::Failed)));
    assert_eq!((running.ids(), running.reasons()), (vec!["a".to_owned(), "b".to_owned()], vec!["build_panicked"]));
    drop(scenario);
}

#[test]
fn a_server_survives_a_panic_in_its_updater() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    let corpus = Corpus::generated(20);
    corpus.write(&data, 0);
    let mut command = command(folder.path());
    // Publishing panics once, for the second generation.
    command.env("FAILPOINTS", "publish::before=1*off->1*panic(out of paper)->off");
    let server = Server::spawn_command(command).announced();
    corpus.write(&data, 1);
    until("/readyz reports it", || (server.reasons() == ["build_panicked"]).then_some(()));
    assert_eq!(server.get("/v1/software").1["pagination"]["total"], corpus.count(0));
    corpus.write(&data, 2);
    until("the next change is published", || {
        (server.get("/v1/software").1["pagination"]["total"] == corpus.count(2)).then_some(())
    });
    assert_eq!(server.reasons(), [""; 0]);
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0));
    assert_eq!(log.matches("keeping the last good generation").count(), 1, "{log}");
}
