//! The index folder: how many generations it keeps, and what it leaves alone.

use std::fs;

use crate::place::{Place, export};

#[test]
fn two_generations_are_kept_and_what_was_never_finished_is_swept() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    let unfinished = place.index().join("0123456789abcdef-0001");
    fs::create_dir(&unfinished).expect("a folder");
    fs::write(unfinished.join("search"), "half").expect("written");
    fs::write(place.index().join(".next-abc"), "half").expect("written");
    let mut names = Vec::new();
    for ids in [&["a", "b"][..], &["a", "b", "c"], &["a", "b", "c", "d"]] {
        place.write("tools.json", &export(ids));
        running.updater.refresh().expect("it serves");
        names.push(place.current().folder_name());
    }
    let mut kept = names.split_off(1);
    kept.sort();
    assert_eq!(place.generation_names(), kept, "the current one and the one before");
    assert!(!place.index().join(".next-abc").exists());
}

#[test]
fn sweeping_leaves_alone_what_is_no_generation() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    fs::write(place.index().join("development-key"), "a key").expect("written");
    fs::create_dir(place.index().join("notes")).expect("a folder");
    for ids in [&["a", "b"][..], &["a", "b", "c"], &["a", "b", "c", "d"]] {
        place.write("tools.json", &export(ids));
        running.updater.refresh().expect("it serves");
    }
    assert_eq!(fs::read_to_string(place.index().join("development-key")).expect("still there"), "a key");
    assert!(place.index().join("notes").is_dir());
}

#[test]
fn reindexing_makes_another_build_of_the_same_generation() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let before = place.current();
    place.reindex().expect("it builds");
    let after = place.current();
    assert_eq!(after.generation, before.generation);
    assert_ne!(after.build, before.build);
}

#[test]
fn an_older_build_of_a_generation_does_not_push_out_the_generation_before() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let before = place.current().folder_name();
    place.write("tools.json", &export(&["a", "b"]));
    drop(place.started());
    for _ in 0..2 {
        place.reindex().expect("it builds");
    }
    let mut kept = vec![before, place.current().folder_name()];
    kept.sort();
    assert_eq!(place.generation_names(), kept);
}

#[test]
fn a_start_sweeps_what_a_killed_process_left_even_where_nothing_is_to_be_written() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let names = place.index_names();
    let unfinished = place.index().join("0123456789abcdef-0001");
    fs::create_dir(&unfinished).expect("a folder");
    let current = place.index().join(place.current().folder_name());
    for half in [unfinished.join("search"), place.index().join(".next-abc"), current.join(".next-def")] {
        fs::write(half, "half").expect("written");
    }
    assert_eq!(place.started().seen().phases, [], "loaded as it is");
    assert_eq!(place.index_names(), names);
    assert!(!current.join(".next-def").exists());
}
