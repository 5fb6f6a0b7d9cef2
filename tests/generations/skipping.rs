//! Serving the valid records of an invalid set.

use std::io;

use serde_json::{Value, json};
use software_directory::service::{get_export, get_software};
use software_directory::snapshot::Settings;
use software_directory::snapshot::keeper::Outcome;

use crate::place::{Place, Running, export_of, product, running};

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
    assert!(matches!(running.keeper.start(), Ok(Outcome::Published(_))));
    assert_eq!(running.ids(), ["first", "last"]);
    assert!(get_software(&running.snapshot(), "bad").expect("whole").is_none());
    assert_eq!(running.seen().reports, 1, "and the others reported");
}

#[test]
fn the_download_is_valid_json_without_the_skipped_records() {
    let (_place, mut running) = with_one_invalid_record();
    running.keeper.start().expect("it serves");
    let snapshot = running.snapshot();
    let download = get_export(&snapshot, "tools").expect("an export");
    let json = download.open().expect("whole").json().expect("a decoder");
    let document: Value = serde_json::from_reader(json).expect("JSON");
    assert_eq!(document["software"], json!([product("first"), product("last")]));
    assert_eq!(document["name"], "Tools");
    let lines = download.open().and_then(|stored| io::read_to_string(stored.ndjson()?)).expect("text");
    let ids: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].take()).collect();
    assert_eq!(ids, ["first", "last"]);
}

#[test]
fn a_start_that_no_longer_skips_does_not_load_what_was_skipped_for() {
    let (place, mut skipping) = with_one_invalid_record();
    skipping.keeper.start().expect("it serves");
    let strict = place.started();
    assert_eq!(strict.reasons(), ["exports_invalid"], "the files are read, and found invalid");
}
