//! Changes while serving: valid edits, broken edits, and files that disappear and come back.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use software_directory::update::Outcome;

use crate::common::place::{Place, export, ids};

#[test]
fn a_valid_edit_is_published_and_persisted_while_requests_keep_their_generation() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    let taken = running.snapshot();
    place.write("tools.json", &export(&["a", "b", "c"]));
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Published)));
    assert_eq!(running.ids(), ["a", "b", "c"]);
    assert_eq!(ids(&taken), ["a", "b"], "a snapshot in use doesn't change");
    assert_eq!(place.current().generation.as_str(), running.snapshot().generation());
}

#[test]
fn adding_and_removing_files_are_ordinary_edits() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("more.json", &export(&["c"]));
    running.updater.refresh().expect("it serves");
    assert_eq!(running.ids(), ["a", "b", "c"]);
    fs::remove_file(place.data().join("more.json")).expect("removed");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.ids(), ["a", "b"]);
}

#[test]
fn a_broken_edit_keeps_the_last_good_generation_and_the_repaired_one_is_picked_up() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    let good = running.snapshot();
    place.write("tools.json", "{\n  \"name\": oops\n}");
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Failed)));
    assert!(Arc::ptr_eq(&good, &running.snapshot()), "not even opened again");
    assert_eq!(running.reasons(), ["exports_invalid"]);
    place.write("tools.json", &export(&["a", "b", "fixed"]));
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Published)));
    assert_eq!(running.ids(), ["a", "b", "fixed"]);
    assert_eq!(running.reasons(), [""; 0], "healthy again");
}

#[test]
fn reason_names_the_first_finding() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", "{\"software\": [],\n  \"name\": oops\n}");
    running.updater.refresh().expect("it serves");
    assert!(running.detail().contains(" errors, the first at "), "{}", running.detail());
    assert!(running.detail().contains("data/tools.json:2:11: "), "{}", running.detail());
    assert!(running.detail().ends_with("; the last good generation is being served"), "{}", running.detail());
}

#[test]
fn undoing_a_broken_edit_recovers_without_a_rebuild() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", "{");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.reasons(), ["exports_invalid"]);
    place.write("tools.json", &export(&["a", "b"]));
    assert_eq!(running.updater.refresh().expect("it serves"), Outcome::Unchanged);
    assert_eq!(running.reasons(), [""; 0]);
    assert_eq!(place.generation_names().len(), 1);
}

#[test]
fn a_data_folder_that_disappears_is_reported_and_its_return_is_noticed() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    fs::remove_dir_all(place.data()).expect("removed");
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Failed)));
    assert_eq!(running.reasons(), ["exports_missing"]);
    assert_eq!(running.ids(), ["a", "b"]);
    fs::create_dir(place.data()).expect("a folder");
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Failed)), "an empty folder isn't a directory");
    assert!(running.detail().contains("there is no export file in the folder"), "{}", running.detail());
    place.write("tools.json", &export(&["a", "b", "c"]));
    running.updater.refresh().expect("it serves");
    assert_eq!((running.ids().len(), running.reasons().len()), (3, 0));
}

#[test]
fn a_replaced_generation_is_freed_once_no_request_uses_it() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    let taken = running.snapshot();
    let watched = Arc::downgrade(&taken);
    place.write("tools.json", &export(&["a", "b", "c"]));
    running.updater.refresh().expect("it serves");
    running.updater.look(Instant::now());
    drop(taken);
    assert!(watched.upgrade().is_some(), "the last request shouldn't free it, because that takes time");
    running.updater.look(Instant::now());
    assert!(watched.upgrade().is_none(), "the updater should free it at its next check");
}
