//! Startup: what's built, what's loaded, what's read.

use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

use software_directory::generation::{FailureCode, MeaningOption, Phase, Settings};
use software_directory::update::Outcome;

use crate::common::place::{Place, export, running};

#[test]
fn the_first_start_builds_and_persists() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.updater();
    let outcome = running.updater.start().expect("it serves");
    assert!((outcome, running.snapshot().software_count()) == (Outcome::Published, 2), "{outcome:?}");
    assert_eq!(running.seen().phases, [Phase::Reading, Phase::Indexing, Phase::Writing]);
    assert_eq!(running.ids(), ["a", "b"]);
    assert_eq!(running.reasons(), [""; 0]);
    let manifest = place.current();
    assert_eq!(manifest.generation.as_str(), running.snapshot().generation());
    assert_eq!(manifest.software_count, 2);
    place.store().load(&manifest).expect("intact");
}

#[test]
fn a_restart_with_unchanged_files_loads_without_reading_them() {
    let place = Place::with(&["a", "b"]);
    let first = place.started();
    let mut second = place.updater();
    let outcome = second.updater.start().expect("it serves");
    assert!(outcome == Outcome::Loaded, "{outcome:?}");
    assert_eq!((second.seen().phases.len(), second.seen().reports), (0, 0), "nothing was read");
    assert_eq!(second.ids(), ["a", "b"]);
    assert_eq!(second.snapshot().generation(), first.snapshot().generation());
    // The loaded generation is verified byte by byte, but the exports aren't checked again and
    // nothing is rebuilt.
    assert_eq!(second.updater.refresh().expect("it serves"), Outcome::Unchanged);
    assert_eq!((second.seen().phases.len(), second.seen().reports), (0, 0));
}

#[test]
fn a_generation_that_crashed_two_starts_is_rebuilt() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    let before = place.current();
    let die = |process: &str| {
        let name = format!(".opening-{}-{process}.tmp", before.generation);
        fs::write(place.index().join(name), "opening\n").expect("written");
    };
    die("first");
    assert!(matches!(place.updater().updater.start(), Ok(Outcome::Loaded)), "a single death may be a coincidence");
    die("first");
    die("second");
    let mut running = place.updater();
    assert!(matches!(running.updater.start(), Ok(Outcome::Published)));
    assert_eq!((running.ids().len(), running.reasons().len()), (2, 0));
    assert_ne!(place.current().folder_name(), before.folder_name(), "another build");
    assert_eq!(place.index_names().iter().filter(|name| name.starts_with('.')).count(), 0);
}

#[test]
fn files_that_changed_unnoticed_are_recognised_by_their_bytes() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    let mut second = place.updater();
    assert!(matches!(second.updater.start(), Ok(Outcome::Loaded)));
    // The new file has the same length, so only the bytes differ.
    place.write("tools.json", &export(&["a", "c"]));
    assert!(matches!(second.updater.refresh(), Ok(Outcome::Published)));
    assert_eq!(second.ids(), ["a", "c"]);
}

#[test]
fn changed_files_are_built_before_anything_is_published() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    place.write("tools.json", &export(&["a", "b", "c"]));
    let mut second = place.updater();
    let outcome = second.updater.start().expect("it serves");
    assert!(outcome == Outcome::Published, "{outcome:?}");
    assert_eq!(second.ids(), ["a", "b", "c"], "the old content must never be served");
}

#[test]
fn a_restart_with_the_previous_set_loads_it_and_makes_it_current() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    place.write("tools.json", &export(&["a", "b", "c"]));
    drop(place.started());
    place.write("tools.json", &export(&["a", "b"]));
    let mut third = place.updater();
    let outcome = third.updater.start().expect("it serves");
    assert!(outcome == Outcome::Loaded, "{outcome:?}");
    assert_eq!(third.seen().phases, [Phase::Reading], "read, but not indexed again");
    assert_eq!(third.ids(), ["a", "b"]);
    assert_eq!(place.current().generation.as_str(), third.snapshot().generation());
}

#[test]
fn touched_file_is_recognised_by_its_bytes() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    let before = place.current();
    let file = File::options().write(true).open(place.data().join("tools.json")).expect("open");
    file.set_modified(SystemTime::now() - Duration::from_hours(24)).expect("touched");
    assert_eq!(place.started().seen().phases, [], "neither checked nor indexed");
    assert_eq!(place.current(), before);
}

#[test]
fn touching_a_file_creates_no_new_generation() {
    let place = Place::with(&["a", "b"]);
    let mut running = place.started();
    place.write("tools.json", &export(&["a", "b"]));
    assert_eq!(running.updater.refresh().expect("it serves"), Outcome::Unchanged);
    assert_eq!(place.generation_names().len(), 1);
    assert_eq!(place.started().seen().phases, [], "the next start reuses the file");
}

#[test]
fn first_start_without_any_export_files_is_an_error() {
    let place = Place::with(&[]);
    fs::remove_file(place.data().join("tools.json")).expect("removed");
    let mut running = place.updater();
    let error = running.updater.start().expect_err("nothing to serve");
    assert_eq!(error.code, FailureCode::ExportsMissing);
    assert!(error.to_string().contains("there is no export file in the folder"), "{error}");
    assert!(running.directory.current().is_none(), "never an empty directory");
    fs::remove_dir(place.data()).expect("removed");
    let error = running.updater.start().expect_err("nothing to serve");
    assert!(error.to_string().contains("can't be read"), "{error}");
    assert!(!place.index().exists());
}

#[test]
fn later_start_without_the_data_folder_serves_the_last_good_generation() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    fs::remove_dir_all(place.data()).expect("removed");
    let second = place.started();
    assert_eq!(second.ids(), ["a", "b"]);
    assert_eq!(second.reasons(), ["exports_missing"]);
}

#[test]
fn invalid_exports_at_the_first_start_are_an_error_and_write_nothing() {
    let place = Place::with(&["a"]);
    place.write("tools.json", "{");
    let mut running = place.updater();
    let error = running.updater.start().expect_err("nothing to serve");
    assert_eq!(error.code, FailureCode::ExportsInvalid);
    assert!(error.detail.contains(" 1 error,"), "{error}");
    assert!(running.directory.current().is_none());
    assert!(!place.index().exists());
}

#[test]
fn later_start_with_invalid_exports_serves_the_last_good_generation() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    place.write("tools.json", "{");
    let mut second = place.updater();
    let outcome = second.updater.start().expect("it serves");
    assert!(outcome == Outcome::Failed, "{outcome:?}");
    assert_eq!(second.ids(), ["a", "b"]);
    assert_eq!(second.reasons(), ["exports_invalid"]);
}

#[test]
fn different_prefixes_produce_a_different_generation() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    let before = place.current();
    let with = |prefix: &str| {
        let id_prefixes = [("tools".into(), prefix.into())].into_iter().collect();
        // All ids change.
        let mut running = running(Settings { id_prefixes, max_removed: 100, ..place.settings() });
        let outcome = running.updater.start().expect("it serves");
        (running, outcome)
    };
    let (mut first, outcome) = with("t:");
    assert!(outcome == Outcome::Published, "{outcome:?}");
    assert_eq!(first.ids(), ["t:a", "t:b"]);
    assert_ne!(place.current().generation, before.generation);
    assert_eq!(first.updater.refresh().expect("it serves"), Outcome::Unchanged, "recognised by its bytes and prefixes");
    let (again, outcome) = with("t:");
    assert!(outcome == Outcome::Loaded, "{outcome:?}");
    assert_eq!(again.seen().phases, [], "nothing was read");
    let (other, _) = with("u:");
    assert_eq!(other.ids(), ["u:a", "u:b"]);
    let mut without = running(Settings { max_removed: 100, ..place.settings() });
    without.updater.start().expect("it serves");
    assert_eq!(without.ids(), ["a", "b"]);
}

#[test]
fn generation_without_semantic_vectors_is_a_different_generation() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    let before = place.current();
    let without = Settings { meaning: MeaningOption::Off, ..place.settings() };
    place.reindex_with(&without).expect("built");
    assert_ne!(place.current().generation, before.generation);
    running.updater.look(Instant::now());
    assert_eq!(running.snapshot().generation(), before.generation.as_str(), "not picked up");
    let mut other = self::running(without);
    let outcome = other.updater.start().expect("it serves");
    assert!(outcome == Outcome::Loaded, "{outcome:?}");
}

#[test]
fn generation_with_different_prefixes_is_not_picked_up() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    let id_prefixes = [("tools".into(), "t:".into())].into_iter().collect();
    let settings = Settings { id_prefixes, ..place.settings() };
    place.reindex_with(&settings).expect("built");
    running.updater.look(Instant::now());
    assert_eq!(running.ids(), ["a"]);
}
