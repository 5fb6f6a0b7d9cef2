//! Serving from memory: without an index folder, or if the disk fails. The tests simulate a failing
//! disk with a file that has the folder's name, because permissions don't restrict root.

use std::fs;
use std::io::Read as _;
use std::time::{Duration, Instant};

use software_directory::generation::{FailureCode, Settings};
use software_directory::service::get_export;
use software_directory::update::Outcome;

use crate::common::place::{Place, Running, export, running};

fn later() -> Instant {
    Instant::now() + Duration::from_hours(1)
}

#[test]
fn without_an_index_everything_is_served_from_memory_and_nothing_is_written() {
    let place = Place::with(&["a"]);
    let mut running = running(Settings { index: None, ..place.settings() });
    assert!(matches!(running.updater.start(), Ok(Outcome::Published)));
    place.write("tools.json", &export(&["a", "b"]));
    running.updater.refresh().expect("it serves");
    running.updater.look(later());
    assert_eq!((running.ids().len(), running.reasons().len()), (2, 0));
    assert!(!place.index().exists());
}

#[test]
fn an_unwritable_index_is_reported_and_written_as_soon_as_possible() {
    let place = Place::with(&["a"]);
    fs::write(place.index(), "in the way").expect("written");
    let mut running = place.started();
    assert_eq!(running.ids(), ["a"]);
    assert_eq!(running.reasons(), ["index_not_written"]);
    assert!(running.detail().contains("served from memory"), "{}", running.detail());
    assert!(!running.updater.is_due(Instant::now()), "not retried at every check");
    assert!(running.updater.is_due(later()));

    let builds = running.directory.reloads().builds;
    running.updater.refresh().expect("it serves");
    assert_eq!(running.reasons(), ["index_not_written"], "retried without success");
    assert_eq!(running.directory.reloads().builds, builds, "a generation in memory isn't rebuilt");

    fs::remove_file(place.index()).expect("removed");
    let served = running.snapshot();
    running.updater.refresh().expect("it serves");
    assert_eq!(running.reasons(), [""; 0]);
    assert_eq!(running.snapshot().generation(), served.generation());
    assert!(!running.updater.is_due(later()), "there is nothing left to do");
    assert_eq!(place.started().seen().phases, [], "the next start should load the index");
}

#[test]
fn downloads_are_complete_from_memory_and_from_disk() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    let [right, other] = [export(&["a"]), export(&["a", "b"])];
    assert_eq!(download(&running), right.as_bytes());
    // The files are still open, so downloads work even after they're deleted.
    fs::remove_dir_all(place.index()).expect("removed");
    assert_eq!(download(&running), right.as_bytes());
    running.updater.look(Instant::now());
    running.updater.refresh().expect("it serves");
    assert_eq!(download(&running), right.as_bytes(), "from a rewritten generation");
    place.write("tools.json", &other);
    running.updater.refresh().expect("it serves");
    assert_eq!(download(&running), other.as_bytes(), "from the next generation");
    let mut running = running_without_index(&place);
    running.updater.start().expect("it serves");
    assert_eq!(download(&running), other.as_bytes(), "served from a generation that isn't on disk");
}

fn running_without_index(place: &Place) -> Running {
    running(Settings { index: None, ..place.settings() })
}

fn download(running: &Running) -> Vec<u8> {
    let mut document = Vec::new();
    let stored = get_export(&running.snapshot(), "tools").expect("an export").open().expect("its document");
    stored.json().and_then(|mut json| json.read_to_end(&mut document)).expect("intact");
    document
}

#[test]
fn exports_that_changed_during_a_disk_failure_are_still_read_when_due() {
    let place = Place::with(&["a", "b"]);
    fs::write(place.index(), "in the way").expect("written");
    let mut running = place.started();
    let seen = running.updater.origin.seen().cloned();
    place.write("tools.json", &export(&["a", "b", "c"]));
    running.updater.look(later());
    assert_eq!(running.ids(), ["a", "b"], "writing the index must not publish anything new");
    assert_eq!(running.updater.origin.seen().cloned(), seen, "the edit should still count as a change");
}

#[test]
fn an_index_that_is_deleted_while_serving_is_written_again() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    fs::remove_dir_all(place.index()).expect("removed");
    running.updater.look(Instant::now());
    assert_eq!(running.reasons(), ["index_lost"]);
    assert!(running.updater.is_due(Instant::now()), "immediately");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.reasons(), [""; 0]);
    assert_eq!(place.current().generation.as_str(), running.snapshot().generation());
}

#[test]
fn reindexing_an_index_that_cannot_be_written_is_an_error() {
    let place = Place::with(&["a"]);
    fs::write(place.index(), "in the way").expect("written");
    let failure = place.reindex().expect_err("nothing was written");
    assert_eq!(failure.code, FailureCode::IndexNotWritten);
}

#[test]
fn an_empty_folder_is_read_only_once_until_it_changes() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    fs::remove_file(place.data().join("tools.json")).expect("removed");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.updater.origin.seen(), Some(&Vec::new()));
    fs::remove_dir(place.data()).expect("removed");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.updater.origin.seen(), None);
}
