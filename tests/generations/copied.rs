//! An index folder that another tool fills, served by a process without exports.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use software_directory::generation::INDEX_FORMAT;
use software_directory::generation::store::{Manifest, Store};
use software_directory::service::{PageRequest, Stop, get_export, list_changes};
use software_directory::update::index::IndexFolder;
use software_directory::update::{Directory, Outcome, Updater};
use tempfile::TempDir;

use crate::common::index_copy::{copy_index, copy_pointer};
use crate::common::place::{Place, export, ids};

/// A server's view of a copied index folder.
struct Copied {
    folder: TempDir,
    updater: Updater<IndexFolder>,
    directory: Arc<Directory>,
}

impl Copied {
    /// A server on an empty folder that hasn't been started.
    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = Arc::<Directory>::default();
        let updater = Updater::new(IndexFolder::new(Store::new(folder.path())), Arc::clone(&directory));
        Self { folder, updater, directory }
    }

    /// A server on a complete copy.
    fn started(place: &Place) -> Self {
        let mut copied = Self::empty();
        copied.copy(place);
        assert_eq!(copied.updater.start().expect("it serves"), Outcome::Loaded);
        copied
    }

    fn copy(&self, place: &Place) {
        copy_index(&place.index(), self.folder.path());
    }

    fn path(&self, manifest: &Manifest) -> PathBuf {
        self.folder.path().join(manifest.folder_name())
    }

    fn refresh(&mut self) -> Outcome {
        self.updater.refresh().expect("a generation is being served")
    }

    fn ids(&self) -> Vec<String> {
        ids(&self.directory.current().expect("a generation"))
    }

    fn reasons(&self) -> Vec<&'static str> {
        self.directory.degraded().iter().map(|reason| reason.code).collect()
    }

    fn detail(&self) -> String {
        self.directory.degraded()[0].detail.clone()
    }

    /// Whether the server knows what has changed since a generation; otherwise it responds with
    /// 410.
    fn knows(&self, generation: &str) -> bool {
        let page = PageRequest { limit: 10, offset: 0 };
        list_changes(&self.directory.current().expect("a generation"), Some(generation), page, &Stop::default())
            .is_some()
    }

    /// Every path in the folder with its time of change.
    fn stamps(&self) -> Vec<(PathBuf, Option<std::time::SystemTime>)> {
        fn collect(folder: &Path, stamps: &mut Vec<(PathBuf, Option<std::time::SystemTime>)>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let is_file = entry.path().is_file();
                stamps.push((
                    entry.path(),
                    is_file.then(|| entry.metadata().expect("metadata").modified().expect("a time")),
                ));
                if !is_file {
                    collect(&entry.path(), stamps);
                }
            }
        }
        let mut stamps = Vec::new();
        collect(self.folder.path(), &mut stamps);
        stamps.sort();
        stamps
    }
}

fn built(ids: &[&str]) -> Place {
    let place = Place::with(ids);
    place.reindex().expect("built");
    place
}

fn change(place: &Place, ids: &[&str]) -> Manifest {
    place.write("tools.json", &export(ids));
    place.reindex().expect("built")
}

#[test]
fn a_copied_index_is_served_and_nothing_is_written() {
    let place = built(&["a", "b"]);
    change(&place, &["a", "b", "c"]);
    let mut copied = Copied::started(&place);
    let before = copied.stamps();
    assert_eq!(copied.ids(), ["a", "b", "c"]);
    assert_eq!(copied.refresh(), Outcome::Unchanged);
    let original = place.started().snapshot();
    let snapshot = copied.directory.current().expect("a generation");
    assert_eq!(snapshot.generation(), original.generation());
    assert_eq!(snapshot.changes, original.changes, "the change log comes with the copy");
    assert_eq!(copied.reasons(), [""; 0]);
    assert_eq!(copied.stamps(), before);
    assert!(!copied.folder.path().join("LOCK").exists());
}

#[test]
fn a_server_waits_for_its_first_generation() {
    let place = built(&["a"]);
    let mut copied = Copied::empty();
    assert_eq!(copied.updater.start().expect("it waits"), Outcome::Unchanged);
    copied.updater.refresh().expect_err("nothing to serve");
    assert_eq!(copied.reasons(), ["index_missing"]);
    copied.copy(&place);
    // A change is read once the folder has been quiet for a while.
    let now = Instant::now();
    assert!(!copied.updater.look(now));
    assert!(copied.updater.look(now + Duration::from_millis(300)));
    assert_eq!(copied.refresh(), Outcome::Loaded);
    assert_eq!((copied.ids(), copied.reasons()), (vec!["a".to_owned()], vec![]));
    assert!(!copied.updater.look(now + Duration::from_secs(1)), "nothing has changed since");
}

#[test]
fn an_interrupted_or_reordered_copy_takes_effect_once_it_is_complete() {
    let place = built(&["a"]);
    let mut copied = Copied::started(&place);
    let next = change(&place, &["a", "b"]);
    let (from, to) = (place.index().join(next.folder_name()), copied.path(&next));
    // In the right order, an unfinished copy isn't even looked at.
    fs::create_dir(&to).expect("a folder");
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Unchanged, vec![]));
    copy_pointer(&place.index(), copied.folder.path());
    let mut files = vec!["manifest.json".to_owned()];
    files.extend(next.parts.iter().map(|part| part.name.clone()));
    for file in &files {
        let bytes = fs::read(from.join(file)).expect("read");
        for content in [None, Some(&bytes[..bytes.len() / 2])] {
            if let Some(half) = content {
                fs::write(to.join(file), half).expect("written");
            }
            if fs::read(to.join(file)).is_ok_and(|found| found == bytes) {
                continue;
            }
            assert_eq!(copied.refresh(), Outcome::Failed, "{file}");
            assert_eq!((copied.ids(), copied.reasons()), (vec!["a".to_owned()], vec!["generation_incomplete"]));
            assert!(copied.detail().contains(file.as_str()), "{}", copied.detail());
        }
        fs::write(to.join(file), bytes).expect("written");
    }
    assert_eq!(copied.refresh(), Outcome::Loaded);
    assert_eq!((copied.ids().len(), copied.reasons()), (2, vec![]));
}

#[test]
fn a_damaged_copy_is_never_served_and_takes_effect_once_it_is_repaired() {
    let place = built(&["a"]);
    let mut copied = Copied::started(&place);
    let next = change(&place, &["a", "b"]);
    copied.copy(&place);
    for part in &next.parts {
        let path = copied.path(&next).join(&part.name);
        let bytes = fs::read(&path).expect("read");
        let mut flipped = bytes.clone();
        if let Some(byte) = flipped.get_mut(bytes.len() / 2) {
            *byte ^= 1;
        }
        for damaged in [flipped, [&bytes[..], b"more"].concat()] {
            if damaged == bytes {
                continue;
            }
            fs::write(&path, damaged).expect("written");
            assert_eq!(copied.refresh(), Outcome::Failed, "{}", part.name);
            assert_eq!((copied.ids(), copied.reasons()), (vec!["a".to_owned()], vec!["generation_damaged"]));
            assert!(copied.detail().contains(&part.name), "{}", copied.detail());
        }
        fs::write(&path, bytes).expect("written");
    }
    let now = Instant::now();
    assert!(!copied.updater.look(now) && copied.updater.look(now + Duration::from_secs(1)), "the repair is noticed");
    assert_eq!((copied.refresh(), copied.ids().len(), copied.reasons()), (Outcome::Loaded, 2, vec![]));
}

#[test]
fn damage_to_the_served_generation_is_reported_until_it_is_repaired() {
    let place = built(&["a", "b"]);
    let mut copied = Copied::started(&place);
    let path = copied.path(&place.current()).join("catalogue.downloads.0");
    let good = fs::read(&path).expect("read");
    fs::write(&path, "").expect("written");
    let snapshot = copied.directory.current().expect("a generation");
    let download = || get_export(&snapshot, "tools").expect("an export").open().map(drop);
    download().expect_err("a damaged download is refused");
    assert!(copied.updater.is_due(Instant::now()));
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Failed, vec!["generation_incomplete"]));
    assert_eq!(copied.ids().len(), 2, "everything else is in memory");
    fs::write(&path, good).expect("written");
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Unchanged, vec![]));
    let snapshot = copied.directory.current().expect("a generation");
    get_export(&snapshot, "tools").expect("an export").open().map(drop).expect("repaired");
    assert!(!copied.updater.is_due(Instant::now()));
}

#[test]
fn an_older_generation_is_not_served_but_returning_to_older_exports_is() {
    let place = built(&["a"]);
    let mut copied = Copied::started(&place);
    let old = fs::read(copied.folder.path().join("CURRENT")).expect("read");
    let next = change(&place, &["a", "b"]);
    copied.copy(&place);
    assert_eq!(copied.refresh(), Outcome::Loaded);
    fs::write(copied.folder.path().join("CURRENT"), old).expect("rolled back");
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Failed, vec!["generation_older"]));
    assert_eq!(copied.ids().len(), 2);
    assert!(copied.detail().contains(&format!("generation {} is still being served", next.generation)));
    copy_pointer(&place.index(), copied.folder.path());
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Unchanged, vec![]));
    // The builder's log says that the exports went back, so this is the newest generation.
    place.write("tools.json", &export(&["a"]));
    drop(place.started());
    copied.copy(&place);
    assert_eq!((copied.refresh(), copied.ids().len(), copied.reasons()), (Outcome::Loaded, 1, vec![]));
    assert!(copied.knows(next.generation.as_str()));
}

#[test]
fn a_recreated_index_starts_a_new_history_everywhere() {
    let place = built(&["a"]);
    let first = place.current();
    let second = change(&place, &["a", "b"]);
    let mut copied = Copied::started(&place);
    assert!(copied.knows(first.generation.as_str()));
    fs::remove_dir_all(place.index()).expect("deleted");
    let again = place.reindex().expect("built");
    assert_eq!(again.generation, second.generation, "the content is the same");
    assert_ne!(again.folder_name(), second.folder_name(), "a build's name is never used again");
    copied.copy(&place);
    assert_eq!(copied.refresh(), Outcome::Loaded);
    assert!(!copied.knows(first.generation.as_str()) && copied.knows(again.generation.as_str()));
}

#[test]
fn an_index_of_another_version_is_reported() {
    let place = built(&["a"]);
    let mut copied = Copied::started(&place);
    let next = change(&place, &["a", "b"]);
    copied.copy(&place);
    let path = copied.path(&next).join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    manifest["format"] = (INDEX_FORMAT + 1).into();
    fs::write(&path, manifest.to_string()).expect("written");
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Failed, vec!["generation_format"]));
    assert_eq!(copied.ids(), ["a"]);
}

#[test]
fn a_folder_that_disappears_leaves_the_generation_live() {
    let place = built(&["a"]);
    let mut copied = Copied::started(&place);
    fs::remove_dir_all(copied.folder.path()).expect("removed");
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Failed, vec!["index_missing"]));
    assert_eq!(copied.ids(), ["a"]);
    copied.copy(&place);
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Unchanged, vec![]));
}

#[test]
fn a_start_with_a_damaged_copy_serves_the_previous_generation() {
    let place = built(&["a"]);
    let mut copied = Copied::empty();
    copied.copy(&place);
    let next = change(&place, &["a", "b"]);
    copied.copy(&place);
    fs::write(copied.path(&next).join("search"), "damaged").expect("written");
    assert_eq!(copied.updater.start().expect("it serves"), Outcome::Loaded);
    assert_eq!(copied.ids(), ["a"]);
    assert_eq!((copied.refresh(), copied.reasons()), (Outcome::Failed, vec!["generation_incomplete"]));
}
