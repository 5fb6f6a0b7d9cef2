//! The index folder: how many generations it keeps, and what it leaves alone.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use software_directory::generation::store::PartEntry;

use crate::common::place::{Place, export};

#[test]
fn two_generations_are_kept_and_unfinished_ones_are_swept() {
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
    assert_eq!(place.generation_names(), kept, "the current one and the previous one");
    assert!(!place.index().join(".next-abc").exists());
}

#[test]
fn sweeping_leaves_everything_but_generations_alone() {
    let place = Place::with(&["a"]);
    let mut running = place.started();
    fs::write(place.index().join("README.md"), "a note").expect("written");
    fs::create_dir(place.index().join("notes")).expect("a folder");
    for ids in [&["a", "b"][..], &["a", "b", "c"], &["a", "b", "c", "d"]] {
        place.write("tools.json", &export(ids));
        running.updater.refresh().expect("it serves");
    }
    assert_eq!(fs::read_to_string(place.index().join("README.md")).expect("still there"), "a note");
    assert!(place.index().join("notes").is_dir());
}

#[test]
fn reindexing_builds_the_same_generation_again() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let before = place.current();
    place.reindex().expect("built");
    let after = place.current();
    assert_eq!(after.generation, before.generation);
    assert_ne!(after.build, before.build);
}

#[test]
fn an_older_build_does_not_displace_the_previous_generation() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let before = place.current().folder_name();
    place.write("tools.json", &export(&["a", "b"]));
    drop(place.started());
    for _ in 0..2 {
        place.reindex().expect("built");
    }
    let mut kept = vec![before, place.current().folder_name()];
    kept.sort();
    assert_eq!(place.generation_names(), kept);
}

#[test]
fn startup_sweeps_what_a_killed_process_left_behind_even_if_it_writes_nothing() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let names = place.index_names();
    let unfinished = place.index().join("0123456789abcdef-0001");
    fs::create_dir(&unfinished).expect("a folder");
    let current = place.index().join(place.current().folder_name());
    for half in [unfinished.join("search"), place.index().join(".next-abc"), current.join(".next-def")] {
        fs::write(half, "half").expect("written");
    }
    assert_eq!(place.started().seen().phases, [], "loaded unchanged");
    assert_eq!(place.index_names(), names);
    assert!(!current.join(".next-def").exists());
}

/// The inode of each part of the current generation, by name.
fn inodes(place: &Place) -> Vec<(String, u64)> {
    let manifest = place.current();
    let folder = place.index().join(manifest.folder_name());
    let inode = |name: &str| fs::metadata(folder.join(name)).expect("a file").ino();
    manifest.parts.iter().map(|part| (part.name.clone(), inode(&part.name))).collect()
}

#[test]
fn both_generations_share_one_file_for_an_unchanged_part() {
    let place = Place::with(&["a", "b"]);
    place.write("more.json", &export(&["c"]));
    let mut running = place.started();
    let first = inodes(&place);
    place.write("tools.json", &export(&["a", "b", "d"]));
    running.updater.refresh().expect("it serves");
    let second = inodes(&place);
    let of = |inodes: &[(String, u64)], name: &str| {
        inodes.iter().find(|(of, _)| of == name).map(|(_, inode)| *inode).expect("a part")
    };
    for (name, is_same) in [("catalogue.downloads.0", true), ("catalogue.downloads.1", false), ("search", false)] {
        assert_eq!(of(&first, name) == of(&second, name), is_same, "{name}");
    }
    place.store().load(&place.current()).expect("intact");

    // When the previous set comes back, only the change log is different.
    place.write("tools.json", &export(&["a", "b"]));
    running.updater.refresh().expect("it serves");
    let third = inodes(&place);
    for (name, inode) in &third {
        assert_eq!(of(&first, name) == *inode, name != "changes", "{name}");
    }
    // Old generations are swept one after another, but the parts that a newer one shares remain.
    for ids in [&["a", "b", "e"][..], &["a", "b", "e", "f"], &["a", "b", "e", "f", "g"]] {
        place.write("tools.json", &export(ids));
        running.updater.refresh().expect("it serves");
        place.store().load(&place.current()).expect("intact");
    }
    assert_eq!(of(&inodes(&place), "catalogue.downloads.0"), of(&first, "catalogue.downloads.0"));
}

#[test]
fn a_manifest_with_unknown_parts_or_excessive_sizes_is_rejected() {
    let place = Place::with(&["a"]);
    drop(place.started());
    let rejected = |change: &dyn Fn(&mut PartEntry)| {
        let mut manifest = place.current();
        change(&mut manifest.parts[0]);
        place.store().load(&manifest).expect_err("rejected").to_string()
    };
    let other = place.current().parts[1].name.clone();
    for name in ["../evil", "/etc/passwd", "a/b", "..", ".next-1", "", "manifest.json", "a\0b", &other] {
        let error = rejected(&|part| part.name = name.to_owned());
        assert!(error.contains("names an unknown or repeated part"), "{name}: {error}");
    }
    let error = rejected(&|part| part.size = u64::MAX);
    assert!(error.contains("are allowed"), "{error}");
}
