//! The change log: each build creates it, it's persisted with the generation, and it's the same no
//! matter how the generation came about.

use software_directory::generation::Snapshot;
use software_directory::service::{ChangesPage, PageRequest, Stop, list_changes};
use software_directory::update::Outcome;

use crate::common::place::{Place, Running, export};

const ALL: PageRequest = PageRequest { limit: 100, offset: 0 };

fn since(snapshot: &Snapshot, generation: &str) -> Option<Vec<String>> {
    let ChangesPage { data, .. } = list_changes(snapshot, Some(generation), ALL, &Stop::default())?;
    Some(data.iter().map(|change| format!("{} {}", change.change, change.id)).collect())
}

/// An updater that served `a` and `b` first, and is now serving `a`, `b` and `c`. Also returns both
/// generations' names.
fn after_an_addition(place: &Place) -> (Running, String, String) {
    let mut running = place.started();
    let first = running.snapshot().generation().to_owned();
    place.write("tools.json", &export(&["a", "b", "c"]));
    running.updater.refresh().expect("it serves");
    let second = running.snapshot().generation().to_owned();
    (running, first, second)
}

#[test]
fn changes_are_known_after_edits_and_a_restart() {
    let place = Place::with(&["a", "b"]);
    let (mut running, first, second) = after_an_addition(&place);
    place.write("tools.json", &export(&["b", "c", "d"]));
    running.updater.refresh().expect("it serves");
    let restarted = place.started();
    for snapshot in [running.snapshot(), restarted.snapshot()] {
        assert_eq!(since(&snapshot, &first).expect("known"), ["removed a", "added c", "added d"]);
        assert_eq!(since(&snapshot, &second).expect("known"), ["removed a", "added d"]);
        assert_eq!(since(&snapshot, snapshot.generation()).expect("known"), [""; 0]);
        assert_eq!(since(&snapshot, "fedcba9876543210"), None);
    }
}

#[test]
fn a_generation_that_comes_back_lists_the_changes_in_between() {
    let place = Place::with(&["a", "b"]);
    let (mut running, first, second) = after_an_addition(&place);
    place.write("tools.json", &export(&["a", "b"]));
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Loaded)), "not built again");
    assert_eq!(running.snapshot().generation(), first);
    for snapshot in [running.snapshot(), place.started().snapshot()] {
        assert_eq!(since(&snapshot, &second).expect("known"), ["removed c"]);
        assert_eq!(since(&snapshot, &first).expect("known"), [""; 0]);
    }
}

#[test]
fn generations_in_memory_and_from_reindex_also_have_a_log() {
    let place = Place::with(&["a", "b"]);
    let mut in_memory =
        crate::common::place::running(software_directory::generation::Settings { index: None, ..place.settings() });
    in_memory.updater.start().expect("it serves");
    place.reindex().expect("built");
    let first = in_memory.snapshot().generation().to_owned();
    place.write("tools.json", &export(&["b", "c"]));
    in_memory.updater.refresh().expect("it serves");
    place.reindex().expect("built");
    place.reindex().expect("rebuilt, which adds nothing to the log");
    for snapshot in [in_memory.snapshot(), place.started().snapshot()] {
        assert_eq!(since(&snapshot, &first).expect("known"), ["removed a", "added c"]);
    }
}
