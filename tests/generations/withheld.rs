//! Sets that would lose many records are withheld until they're confirmed.

use std::fs;
use std::time::Instant;

use software_directory::generation::source::Source;
use software_directory::update::Outcome;

use crate::common::place::{Place, export, running};

#[test]
fn a_set_that_loses_more_than_the_allowed_share_is_withheld() {
    let place = Place::with(&["a", "b", "c", "d"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "new"]));
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Withheld)));
    assert_eq!(running.ids(), ["a", "b", "c", "d"]);
    assert_eq!(running.reasons(), ["records_removed"]);
    assert!(running.detail().contains("3 of 4 products, more than 50 per cent"), "{}", running.detail());
    assert!(running.detail().contains("(tools.json loses 3 of 4)"), "{}", running.detail());
    assert!(running.detail().contains("software-directory --reindex"), "{}", running.detail());
}

#[test]
fn missing_files_are_listed_with_what_was_lost() {
    let place = Place::with(&["a", "b", "c"]);
    place.write("more.json", &export(&["d", "e", "f", "g"]));
    let mut running = place.started();
    fs::remove_file(place.data().join("more.json")).expect("removed");
    place.write("tools.json", &export(&["a", "b"]));
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Withheld)));
    let losses = "(more.json is gone, along with 4 products; tools.json loses 1 of 3)";
    assert!(running.detail().contains(losses), "{}", running.detail());
}

#[test]
fn a_set_that_loses_exactly_the_allowed_share_is_published() {
    let place = Place::with(&["a", "b", "c", "d"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "b"]));
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Published)));
    assert_eq!((running.ids().len(), running.reasons().len()), (2, 0));
}

#[test]
fn a_set_is_also_withheld_at_startup() {
    let place = Place::with(&["a", "b", "c", "d"]);
    drop(place.started());
    place.write("tools.json", &export(&["a"]));
    let second = place.started();
    assert_eq!((second.ids().len(), second.reasons()), (4, vec!["records_removed"]));
    let third = place.started();
    assert_eq!((third.ids().len(), third.reasons()), (4, vec!["records_removed"]), "at every start");
}

#[test]
fn a_set_that_was_once_current_is_still_withheld_at_startup() {
    let place = Place::with(&["a"]);
    drop(place.started());
    place.write("tools.json", &export(&["a", "b", "c", "d"]));
    drop(place.started());
    place.write("tools.json", &export(&["a"]));
    let third = place.started();
    assert_eq!((third.ids().len(), third.reasons()), (4, vec!["records_removed"]));
}

#[test]
fn reindexing_confirms_a_set_and_a_running_updater_picks_it_up() {
    let place = Place::with(&["a", "b", "c", "d"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a"]));
    running.updater.refresh().expect("it serves");
    running.updater.look(Instant::now());
    assert_eq!(running.ids().len(), 4, "not confirmed yet");

    assert_eq!(place.reindex().expect("built").software_count, 1);
    running.updater.look(Instant::now());
    assert_eq!((running.ids(), running.reasons().len()), (vec!["a".to_owned()], 0));
    assert!(!running.seen().phases.is_empty());
    assert_eq!(running.updater.refresh().expect("it serves"), Outcome::Unchanged);
}

#[test]
fn confirmed_set_stays_confirmed_after_a_rebuild() {
    let place = Place::with(&["a", "b", "c", "d"]);
    drop(place.started());
    place.write("tools.json", &export(&["a"]));
    place.reindex().expect("built");
    let manifest = place.current();
    fs::write(place.index().join(manifest.folder_name()).join("search"), "damaged").expect("written");
    let second = place.started();
    assert_eq!(
        (second.ids(), second.reasons().len()),
        (vec!["a".to_owned()], 0),
        "the older generation, with more records, mustn't be served"
    );
}

#[test]
fn restoring_the_records_ends_the_degraded_state() {
    let place = Place::with(&["a", "b", "c", "d"]);
    drop(place.started());
    place.write("tools.json", &export(&["a"]));
    let mut second = place.started();
    assert_eq!(second.reasons(), ["records_removed"]);
    place.write("tools.json", &export(&["a", "b", "c", "d"]));
    assert_eq!(second.updater.refresh().expect("it serves"), Outcome::Unchanged);
    assert_eq!(second.reasons(), [""; 0]);
    assert_eq!(place.started().seen().phases, [], "the next start reuses the file");
}

#[test]
fn a_disk_that_recovers_does_not_publish_what_is_withheld() {
    let place = Place::with(&["a", "b", "c", "d"]);
    fs::write(place.index(), "in the way").expect("written");
    let mut running = place.started();
    place.write("tools.json", &export(&["a"]));
    running.updater.refresh().expect("it serves");
    fs::remove_file(place.index()).expect("removed");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.ids().len(), 4);
    assert_eq!(running.reasons()[0], "records_removed");
    assert_eq!(place.store().current(), None, "no other generation should be made current");
}

#[test]
fn trying_the_demo_first_does_not_count_as_losing_its_records() {
    let place = Place::with(&["a"]);
    let mut demo = running(software_directory::generation::Settings { source: Source::Embedded, ..place.settings() });
    demo.updater.start().expect("it serves");
    let own = place.started();
    assert_eq!((own.ids(), own.reasons().len()), (vec!["a".to_owned()], 0));
}

#[test]
fn broken_exports_do_not_fall_back_to_the_demo_that_was_tried_first() {
    let place = Place::with(&["a"]);
    let embedded = software_directory::generation::Settings { source: Source::Embedded, ..place.settings() };
    running(embedded).updater.start().expect("it serves");
    place.write("tools.json", "{");
    let mut own = place.updater();
    assert!(own.updater.start().is_err(), "there's nothing to serve except the demo");
}
