//! Damage on disk that needs a special setup: downloads, manifests, pointers, shared parts. Damage of
//! every kind to every file is tested in `tests/faults/damage.rs`.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use software_directory::generation::Phase;
use software_directory::service::get_export;
use software_directory::update::Outcome;

use crate::common::place::{Place, Running, export};

/// A folder with a generation on disk, and the paths of the generation's parts.
fn persisted() -> (Place, Vec<PathBuf>) {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    let manifest = place.current();
    let folder = place.index().join(manifest.folder_name());
    let parts: Vec<_> = manifest.parts.iter().map(|part| folder.join(&part.name)).collect();
    assert!(parts.len() > 5, "{parts:?}");
    (place, parts)
}

#[test]
fn a_download_damaged_while_serving_is_refused_and_repaired() {
    // The file is modified in place, because replacing it would leave the open file unchanged.
    let flip = |part: &Path| {
        let mut content = fs::read(part).expect("read");
        let middle = content.len() / 2;
        content[middle] ^= 1;
        fs::write(part, content).expect("written");
    };
    let empty = |part: &Path| fs::write(part, "").expect("written");
    let damages: [&dyn Fn(&Path); 2] = [&flip, &empty];
    for damage in damages {
        let (place, _) = persisted();
        // This start loads the generation, so the download comes from disk.
        let mut running = place.started();
        let right = download(&running).expect("intact");
        assert!(!running.updater.is_due(Instant::now()), "nothing is wrong");
        damage(&place.index().join(place.current().folder_name()).join("catalogue.downloads.0"));
        download(&running).expect_err("a damaged download is refused");
        assert_eq!(running.ids().len(), 2, "everything else is in memory");
        assert!(running.updater.is_due(Instant::now()), "due immediately, not in ten minutes");
        assert_eq!(running.updater.refresh().expect("it serves"), Outcome::Unchanged);
        assert_eq!(download(&running).expect("repaired"), right);
        assert!(!running.updater.is_due(Instant::now()), "all problems are gone");
        place.store().load(&place.current()).expect("intact again");
    }
}

fn download(running: &Running) -> io::Result<String> {
    let stored = get_export(&running.snapshot(), "tools").expect("an export").open()?;
    io::read_to_string(stored.json()?)
}

#[test]
fn a_flipped_bit_in_a_manifest_never_changes_content() {
    let (place, parts) = persisted();
    let path = parts[0].with_file_name("manifest.json");
    let manifest = place.current();
    let whole = place.store().load(&manifest).expect("intact");
    let good = fs::read(&path).expect("read");
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&path, &bad).expect("written");
        let Some(manifest) = place.store().current() else { continue };
        if let Ok(artifact) = place.store().load(&manifest) {
            assert_eq!(artifact.parts, whole.parts, "byte {at}");
        }
    }
}

#[test]
fn a_missing_or_dangling_pointer_is_restored() {
    for pointer in [None, Some("0123456789abcdef-0001\n"), Some("../data\n"), Some("")] {
        let (place, _) = persisted();
        let before = place.current().folder_name();
        let path = place.index().join("CURRENT");
        match pointer {
            None => fs::remove_file(path).expect("removed"),
            Some(text) => fs::write(path, text).expect("written"),
        }
        let mut running = place.updater();
        let outcome = running.updater.start().expect("it serves");
        assert!(outcome == Outcome::Loaded, "{pointer:?}: {outcome:?}");
        assert_eq!(place.current().folder_name(), before, "{pointer:?}: made current again, not rebuilt");
    }
}

#[test]
fn a_damaged_part_that_two_generations_share_is_rebuilt_and_not_shared_again() {
    let (place, _) = persisted();
    place.write("more.json", &export(&["c"]));
    drop(place.started());
    place.write("tools.json", &export(&["a", "b", "d"]));
    drop(place.started());
    let shared = |folder: &str| place.index().join(folder).join("catalogue.downloads.0");
    let before = place.current().folder_name();
    fs::write(shared(&before), "damaged").expect("written");
    assert!(
        place.store().candidates().iter().all(|manifest| place.store().load(manifest).is_err()),
        "both are damaged"
    );
    let mut running = place.updater();
    assert!(matches!(running.updater.start(), Ok(Outcome::Published)));
    assert_eq!((running.ids().len(), running.reasons()), (4, vec![]));
    let after = place.current().folder_name();
    place.store().load(&place.current()).expect("intact again");
    assert_ne!(after, before);
    let inode = |folder: &str| fs::metadata(shared(folder)).expect("a file").ino();
    let damaged: Vec<_> = place.generation_names().into_iter().filter(|name| *name != after).collect();
    assert!(damaged.iter().all(|name| inode(name) != inode(&after)), "{damaged:?}");
}

#[test]
fn a_damaged_generation_and_broken_exports_leave_the_previous_generation() {
    let (place, _) = persisted();
    place.write("tools.json", &export(&["a", "b", "c"]));
    drop(place.started());
    let newest = place.index().join(place.current().folder_name());
    fs::write(newest.join("search"), "damaged").expect("written");
    place.write("tools.json", "{");
    let second = place.started();
    assert_eq!((second.ids().len(), second.reasons()), (2, vec!["exports_invalid"]));
}

#[test]
fn with_everything_damaged_and_broken_there_is_nothing_to_serve() {
    let (place, parts) = persisted();
    fs::write(&parts[0], "damaged").expect("written");
    place.write("tools.json", "{");
    let mut running = place.updater();
    running.updater.start().expect_err("nothing to serve");
    assert!(running.directory.current().is_none());
}

#[test]
fn a_pointer_lost_while_serving_is_restored_without_a_build() {
    let (place, _) = persisted();
    let mut running = place.started();
    let before = place.current().folder_name();
    fs::remove_file(place.index().join("CURRENT")).expect("removed");
    running.updater.look(Instant::now());
    assert!(running.updater.is_due(Instant::now()));
    assert_eq!(running.updater.refresh().expect("it serves"), Outcome::Unchanged);
    assert_eq!((place.current().folder_name(), running.seen().phases), (before, vec![Phase::Reading]));
    assert_eq!(running.reasons(), [""; 0]);
}

#[test]
fn a_named_pipe_instead_of_a_file_counts_as_damage_and_does_not_block() {
    for name in ["CURRENT", "manifest.json", "search"] {
        let (place, parts) = persisted();
        let path = if name == "CURRENT" { place.index().join(name) } else { parts[0].with_file_name(name) };
        fs::remove_file(&path).expect("removed");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
        let running = place.started();
        assert_eq!((running.ids().len(), running.reasons().len()), (2, 0), "{name}");
        place.store().load(&place.current()).expect("intact again");
    }
}

#[test]
fn lock_file_is_accessible_only_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with(&["a"]);
    fs::create_dir(place.index()).expect("a folder");
    fs::write(place.index().join("LOCK"), "").expect("written");
    drop(place.started());
    let mode = fs::metadata(place.index().join("LOCK")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
