//! Two processes that share an index.

use std::fs;
use std::time::Instant;

use serde_json::json;
use software_directory::generation::INDEX_FORMAT;
use software_directory::generation::Phase;

use crate::common::place::{Place, export};

#[test]
fn a_damaged_generation_from_another_process_is_not_picked_up() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    fs::write(place.index().join(place.current().folder_name()).join("search"), "damaged").expect("written");
    running.updater.look(Instant::now());
    assert_eq!(running.ids(), ["a", "b"]);
    running.updater.refresh().expect("it serves");
    assert_eq!((running.ids().len(), running.reasons().len()), (3, 0), "it should build its own instead");
}

#[test]
fn an_outdated_generation_is_not_picked_up() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    place.write("tools.json", &export(&["a", "b", "c", "d"]));
    running.updater.look(Instant::now());
    assert_eq!(running.ids(), ["a", "b"], "the files have changed since that generation was built");
}

#[test]
fn a_generation_from_another_process_is_served_without_reading_the_exports() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    let before = running.seen().phases;
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    running.updater.look(Instant::now());
    assert_eq!(running.ids().len(), 3);
    assert_eq!(running.seen().phases, before);
}

#[test]
fn a_generation_from_another_process_clears_a_disk_failure() {
    let place = Place::with(&["a", "b"]);
    fs::write(place.index(), "in the way").expect("written");
    let mut running = place.started();
    fs::remove_file(place.index()).expect("removed");
    place.reindex().expect("built");
    running.updater.look(Instant::now());
    assert_eq!(running.reasons(), [""; 0]);
}

/// Adds a generation with a different index format, as a different version of the program would.
fn foreign(place: &Place, name: &str, built_at: &str) {
    let folder = place.index().join(name);
    fs::create_dir(&folder).expect("a folder");
    let (generation, build) = name.split_once('-').expect("a name");
    let manifest = json!({
        "format": INDEX_FORMAT + 1, "generation": generation, "build": build, "built_at": built_at, "unheard": "of",
    });
    fs::write(folder.join("manifest.json"), manifest.to_string()).expect("written");
}

#[test]
fn an_index_taken_over_by_another_version_is_left_alone() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    foreign(&place, "00000000000000aa-0001", "2026-01-01T00:00:00Z");
    fs::write(place.index().join("CURRENT"), "00000000000000aa-0001\n").expect("written");
    let names = place.index_names();
    running.updater.look(Instant::now());
    running.updater.refresh().expect("it serves");
    running.updater.look(Instant::now());
    assert_eq!(running.reasons(), [""; 0], "nothing is lost");
    assert_eq!(place.index_names(), names, "nothing should be rewritten, because the other version would undo it");
    assert_eq!(place.store().current_name().as_deref(), Some("00000000000000aa-0001"));
}

#[test]
fn going_back_to_an_older_version_keeps_the_newer_versions_latest_generation() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    foreign(&place, "00000000000000aa-0001", "2026-01-01T00:00:00Z");
    foreign(&place, "00000000000000bb-0001", "2026-01-02T00:00:00Z");
    fs::write(place.index().join("CURRENT"), "00000000000000bb-0001\n").expect("written");
    let mut running = place.started();
    assert_eq!(running.seen().phases, [Phase::Reading], "its own generation should still exist and need no build");
    for ids in [&["a", "b", "c"][..], &["a", "b", "c", "d"]] {
        place.write("tools.json", &export(ids));
        running.updater.refresh().expect("it serves");
    }
    let names = place.generation_names();
    assert_eq!(names.len(), 3, "two of its own and one from the other version: {names:?}");
    assert!(names.contains(&"00000000000000bb-0001".to_owned()), "{names:?}");
}
