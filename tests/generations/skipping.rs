//! Serving the valid records of an invalid set.

use std::fs;
use std::io;
use std::time::Instant;

use serde_json::{Value, json};
use software_directory::export::Skipped;
use software_directory::generation::{FailureCode, Settings};
use software_directory::service::{get_export, get_software};
use software_directory::update::Outcome;

use crate::common::place::{Place, Running, export, export_of, product, running};

fn with_one_invalid_record() -> (Place, Running) {
    let place = Place::with(&[]);
    let mut invalid = product("bad");
    invalid["url"] = json!("no uri");
    place.write("tools.json", &export_of(&[product("first"), invalid, product("last")]));
    let running = running(Settings { skip_invalid: true, ..place.settings() });
    (place, running)
}

#[test]
fn the_valid_records_are_served() {
    let (_place, mut running) = with_one_invalid_record();
    assert!(matches!(running.updater.start(), Ok(Outcome::Published)));
    assert_eq!(running.ids(), ["first", "last"]);
    assert!(get_software(&running.snapshot(), "bad", None).expect("intact").is_none());
    assert_eq!(running.seen().reports, 1, "the invalid record should be reported");
}

#[test]
fn the_download_is_valid_json_without_the_skipped_records() {
    let (_place, mut running) = with_one_invalid_record();
    running.updater.start().expect("it serves");
    let snapshot = running.snapshot();
    let download = get_export(&snapshot, "tools").expect("an export");
    let json = download.open().expect("intact").json().expect("a decoder");
    let document: Value = serde_json::from_reader(json).expect("JSON");
    assert_eq!(document["software"], json!([product("first"), product("last")]));
    assert_eq!(document["name"], "Tools");
    let lines = download.open().and_then(|stored| io::read_to_string(stored.ndjson()?)).expect("text");
    let ids: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].take()).collect();
    assert_eq!(ids, ["first", "last"]);
}

#[test]
fn skipped_records_and_exports_are_reported_as_a_reason_with_counts() {
    let (place, mut running) = with_one_invalid_record();
    place.write("unlicensed.json", &export(&["a", "b"]).replace("\"license\"", "\"licence\""));
    running.updater.start().expect("it serves");
    assert_eq!(running.snapshot().skipped(), Skipped { exports: 1, records: 3 });
    let reasons = running.directory.degraded();
    let [reason] = reasons.as_slice() else { panic!("one reason: {reasons:?}") };
    assert_eq!((reason.code, reason.count, reason.export_count), ("records_skipped", Some(3), Some(1)));
    let restarted = running_on(&place, true);
    assert_eq!(restarted.snapshot().skipped(), Skipped { exports: 1, records: 3 }, "the manifest has the counts");
}

#[test]
fn skipped_review_counts_as_a_record() {
    let (place, mut running) = with_one_invalid_record();
    let mut document: Value = serde_json::from_str(&export(&["a"])).expect("JSON");
    document["reviews"] = json!([{"id": "r", "software_id": "unknown", "rating": 5}]);
    place.write("tools.json", &document.to_string());
    running.updater.start().expect("it serves");
    assert_eq!(running.snapshot().skipped(), Skipped { exports: 0, records: 1 });
}

#[test]
fn removing_the_skipped_export_clears_the_reason() {
    let place = Place::with(&["a"]);
    place.write("broken.json", "{");
    let mut running = running_on(&place, true);
    let before = running.snapshot().generation().to_owned();
    assert_eq!(running.reasons(), ["records_skipped"]);
    fs::remove_file(place.data().join("broken.json")).expect("removed");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.reasons(), [""; 0]);
    assert_ne!(running.snapshot().generation(), before, "callers mustn't keep the old counts");
}

#[test]
fn complete_generation_from_a_skipping_server_is_loaded_by_a_strict_server() {
    let place = Place::with(&["a"]);
    drop(running_on(&place, true));
    assert!(matches!(place.updater().updater.start(), Ok(Outcome::Loaded)));
}

#[test]
fn strict_start_refuses_a_generation_with_skipped_records() {
    let (place, mut skipping) = with_one_invalid_record();
    skipping.updater.start().expect("it serves");
    let failure = place.updater().updater.start().expect_err("nothing complete to serve");
    assert_eq!(failure.code, FailureCode::ExportsInvalid);
}

#[test]
fn strict_start_serves_an_older_complete_generation_instead() {
    let place = Place::with(&["first", "last"]);
    drop(place.started());
    place.write("tools.json", &export_of(&[product("first"), json!({"id": "bad"})]));
    drop(running_on(&place, true));
    let strict = place.started();
    assert_eq!(
        (strict.reasons(), strict.ids()),
        (vec!["exports_invalid"], vec!["first".to_owned(), "last".to_owned()])
    );
}

#[test]
fn running_strict_server_ignores_what_a_skipping_server_wrote() {
    let place = Place::with(&["first", "last"]);
    let mut strict = place.started();
    place.write("tools.json", &export_of(&[product("first"), json!({"id": "bad"})]));
    drop(running_on(&place, true));
    strict.updater.look(Instant::now());
    assert_eq!(strict.ids(), ["first", "last"]);
}

/// An updater for this folder that has already started.
fn running_on(place: &Place, skip_invalid: bool) -> Running {
    let mut running = running(Settings { skip_invalid, ..place.settings() });
    running.updater.start().expect("it serves");
    running
}
