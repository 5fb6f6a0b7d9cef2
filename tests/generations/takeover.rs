//! Two processes on one index.

use std::fs;
use std::time::Instant;

use crate::place::{Place, export};

#[test]
fn a_damaged_generation_of_another_process_is_not_taken_over() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.keeper().keeper.reindex().expect("it builds");
    fs::write(place.index().join(place.in_force().folder_name()).join("search"), "damaged").expect("written");
    running.keeper.look_at_index(Instant::now());
    assert_eq!(running.ids(), ["a", "b"]);
    running.keeper.refresh().expect("it serves");
    assert_eq!((running.ids().len(), running.reasons().len()), (3, 0), "built by itself instead");
}

#[test]
fn a_generation_of_files_that_changed_since_is_not_taken_over() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.keeper().keeper.reindex().expect("it builds");
    place.write("tools.json", &export(&["a", "b", "c", "d"]));
    running.keeper.look_at_index(Instant::now());
    assert_eq!(running.ids(), ["a", "b"], "an answer of yesterday's files is no news");
}

#[test]
fn a_generation_of_another_process_is_served_without_reading_the_exports() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    let before = running.seen().phases;
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.keeper().keeper.reindex().expect("it builds");
    running.keeper.look_at_index(Instant::now());
    assert_eq!(running.ids().len(), 3);
    assert_eq!(running.seen().phases, before);
}

#[test]
fn what_another_process_wrote_heals_a_disk_that_refused() {
    let place = Place::with(&["a", "b"]);
    fs::write(place.index(), "in the way").expect("written");
    let mut running = place.started();
    fs::remove_file(place.index()).expect("removed");
    place.keeper().keeper.reindex().expect("it builds");
    running.keeper.look_at_index(Instant::now());
    assert_eq!(running.reasons(), [""; 0]);
}
