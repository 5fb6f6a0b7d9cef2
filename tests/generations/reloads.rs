//! Reloads as monitoring sees them.

use std::time::Instant;

use software_directory::update::Outcome;

use crate::common::place::{Place, Running, export};

fn last(running: &Running) -> Option<Outcome> {
    running.directory.reloads().last.map(|reload| reload.outcome)
}

#[test]
fn every_reload_is_reported_with_its_outcome_and_builds() {
    let place = Place::with(&["a", "b", "c", "d"]);
    let mut running = place.updater();
    assert_eq!(last(&running), None, "nothing has happened yet");
    running.updater.start().expect("it serves");
    assert_eq!(last(&running), Some(Outcome::Published));
    running.updater.refresh().expect("it serves");
    assert_eq!(last(&running), Some(Outcome::Unchanged));
    let current_at = running.directory.reloads().current_at;
    place.write("tools.json", "{");
    running.updater.refresh().expect("it serves");
    assert_eq!(last(&running), Some(Outcome::Failed));
    place.write("tools.json", &export(&["a"]));
    running.updater.refresh().expect("it serves");
    assert_eq!(last(&running), Some(Outcome::Withheld));
    let status = running.directory.reloads();
    assert_eq!(status.current_at, current_at, "the served data hasn't been current since then");
    assert!(current_at.is_some());
    assert_eq!(status.builds, 1, "unchanged and refused exports aren't built");
    place.reindex().expect("built");
    running.updater.look(Instant::now());
    assert_eq!(last(&running), Some(Outcome::Loaded));
    let status = running.directory.reloads();
    assert!(status.current_at > current_at);
    assert_eq!(Outcome::ALL.map(|outcome| status.count(outcome)), [1; 5]);
    assert_eq!(last(&place.started()), Some(Outcome::Loaded), "a start is reported too");
}

#[test]
fn a_start_with_nothing_to_serve_fails() {
    let place = Place::with(&["a"]);
    place.write("tools.json", "{");
    let mut running = place.updater();
    running.updater.start().expect_err("nothing to serve");
    assert_eq!(last(&running), Some(Outcome::Failed));
    assert_eq!(running.directory.reloads().current_at, None);
}

#[test]
fn exports_are_reported_each_time_they_are_read() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    assert_eq!(running.seen().reports, 1);
    place.write("tools.json", &export(&["b"]));
    running.updater.refresh().expect("it serves");
    assert_eq!(running.seen().reports, 2);
}
