//! Pulling: a follower converges with its leader, resumes after interruptions, and outlives its
//! leader.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use software_directory::service::{PageRequest, get_software, list_changes};
use software_directory::update::Origin as _;

use crate::place::{Place, export, ids};
use crate::stub::{Following, Stub};

const SECOND: Duration = Duration::from_secs(1);

fn leader(ids: &[&str]) -> (Place, Stub) {
    let place = Place::with(ids);
    place.reindex().expect("built");
    let stub = Stub::serve(&place.index());
    (place, stub)
}

#[test]
fn follower_serves_each_generation_of_its_leader() {
    let (place, stub) = leader(&["a", "b"]);
    let mut following = Following::of(stub.address);
    assert!(following.start().is_none(), "nothing to serve yet");
    assert_eq!(following.look(), SECOND);
    assert_eq!(following.generation().as_deref(), Some(place.current().generation.as_str()));
    assert_eq!(following.reason(), None);
    let pulled = stub.pulled();
    assert_eq!(following.look(), SECOND);
    assert_eq!(stub.pulled(), pulled, "nothing is pulled twice");

    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    following.look();
    assert_eq!(ids(&following.directory.current().expect("a generation")), ["a", "b", "c"]);
    // The folder contains two generations and nothing else.
    assert_eq!(following.names().iter().filter(|name| !["CURRENT", "LOCK"].contains(&name.as_str())).count(), 2);

    // Back to the previous set, which still exists.
    let between = following.generation().expect("a generation");
    let pulled = stub.pulled();
    place.write("tools.json", &export(&["a", "b"]));
    place.reindex().expect("built");
    following.look();
    assert_eq!(ids(&following.directory.current().expect("a generation")), ["a", "b"]);
    assert_eq!(stub.pulled(), pulled + 2, "only its manifest and change log; the index folder has the rest");
    let since = |generation: &str| {
        let current = following.directory.current().expect("a generation");
        list_changes(&current, Some(generation), PageRequest { limit: 9, offset: 0 }).map(|page| page.data.len())
    };
    assert_eq!((since(&between), since("fedcba9876543210")), (Some(1), None), "the same changes as on the leader");
}

#[test]
fn follower_starts_with_what_it_has_and_catches_up_when_its_leader_is_back() {
    let (place, stub) = leader(&["a", "b"]);
    let mut first = Following::of(stub.address);
    first.look();
    stub.set(|state| state.status = Some(503));
    let mut second = Following::within(first.folder, stub.address);
    assert_eq!(second.start().expect("served at once").software_count(), 2);
    let waits: Vec<_> = (0..7).map(|_| second.look().as_secs()).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30], "the follower should back off");
    let (code, detail) = second.reason().expect("degraded");
    assert_eq!(code, "leader_unreachable");
    assert!(detail.contains("503") && detail.contains("last known to be current at"), "{detail}");
    assert!(second.directory.degraded()[0].since.is_some());
    assert!(second.directory.current().is_some(), "the follower should keep serving");

    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    stub.set(|state| state.status = None);
    assert_eq!(second.look(), SECOND);
    assert_eq!(second.reason(), None);
    assert_eq!(ids(&second.directory.current().expect("a generation")), ["a", "b", "c"]);
}

#[test]
fn pull_resumes_where_it_broke_off_even_after_a_restart() {
    let (_place, stub) = leader(&["a", "b"]);
    let part = "catalogue.downloads.0";
    stub.set(|state| state.cut = Some((part.to_owned(), 40)));
    let mut first = Following::of(stub.address);
    first.look();
    assert_eq!(first.reason().expect("degraded").0, "leader_unreachable");
    assert!(first.generation().is_none(), "nothing is published until everything has arrived");
    first.look();
    let mut second = Following::within(first.folder, stub.address);
    stub.set(|state| state.cut = None);
    second.look();
    let range = |first: u64| Some(format!("bytes={first}-"));
    assert_eq!(stub.requests(part), [None, range(40), range(80)]);
    assert_eq!(stub.requests("catalogue.tables").len(), 1, "complete parts aren't pulled again");
    assert!(second.generation().is_some());
    assert!(second.names().iter().all(|name| !name.starts_with('.')), "{:?}", second.names());
}

#[test]
fn server_without_range_support_can_be_followed() {
    let (_place, stub) = leader(&["a", "b"]);
    stub.set(|state| {
        state.no_ranges = true;
        state.cut = Some(("catalogue.downloads.0".to_owned(), 100));
    });
    let mut following = Following::of(stub.address);
    following.look();
    stub.set(|state| state.cut = None);
    following.look();
    assert!(following.generation().is_some());
}

/// Leaves the marker file of a process that died while opening a generation.
fn die(index: &Path, generation: &str, process: &str) {
    fs::write(index.join(format!(".opening-{generation}-{process}.tmp")), "opening\n").expect("written");
}

#[test]
fn start_uses_the_previous_generation_if_two_starts_died_opening_the_current_one() {
    let (place, stub) = leader(&["a", "b"]);
    let mut following = Following::of(stub.address);
    following.look();
    let older = following.generation().expect("a generation");
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    following.look();
    let newer = following.generation().expect("a generation");
    assert_ne!(older, newer);

    die(&following.index(), &newer, "first");
    let mut following = Following::within(following.folder, stub.address);
    assert_eq!(following.start().expect("a generation").generation(), newer, "a single death may be a coincidence");
    assert!(
        following.names().iter().all(|name| !name.starts_with('.')),
        "nothing should be left: {:?}",
        following.names()
    );

    let restart = |following: Following| {
        let mut following = Following::within(following.folder, stub.address);
        assert_eq!(following.start().expect("a generation").generation(), older);
        let (code, detail) = following.reason().expect("degraded");
        assert!(code == "generation_skipped" && detail.contains(&newer), "{code}: {detail}");
        assert!(following.directory.degraded()[0].since.is_some());
        following
    };
    die(&following.index(), &newer, "first");
    die(&following.index(), &newer, "second");
    let mut following = restart(following);
    // The generation turns out to be fine.
    following.look();
    assert_eq!((following.generation(), following.reason()), (Some(newer.clone()), None));
    assert!(following.names().iter().all(|name| !name.starts_with('.')), "{:?}", following.names());

    // By now three processes have died, the third one while trying out the generation for a server.
    for process in ["first", "second", "third"] {
        die(&following.index(), &newer, process);
    }
    let mut following = restart(following);
    let pulled = stub.pulled();
    following.look();
    let reason = following.reason().expect("degraded");
    assert!(reason.0 == "leader_invalid" && reason.1.contains("3 processes died opening it"), "{reason:?}");
    assert_eq!((following.generation(), stub.pulled()), (Some(older.clone()), pulled));
    place.write("tools.json", &export(&["a", "b", "d"]));
    place.reindex().expect("built");
    following.look();
    assert_eq!(following.reason(), None);
    assert!(!following.generation().is_some_and(|generation| [&older, &newer].contains(&&generation)));
}

#[test]
fn index_that_is_deleted_or_damaged_while_it_is_served_is_pulled_again() {
    let (_place, stub) = leader(&["a", "b"]);
    let mut following = Following::of(stub.address);
    following.look();
    fs::remove_dir_all(following.index()).expect("removed");
    following.look();
    assert!(following.index().join("CURRENT").exists());
    // Damaged files aren't served after a restart.
    let name = fs::read_to_string(following.index().join("CURRENT")).expect("a pointer");
    fs::write(following.index().join(name.trim()).join("search"), "x").expect("written");
    let mut next = Following::within(following.folder, stub.address);
    assert!(next.start().is_none());
    next.look();
    assert!(next.generation().is_some());
    assert_eq!(next.reason(), None);
}

/// The path of a part of the follower's generation.
fn part(following: &Following, name: &str) -> PathBuf {
    let current = fs::read_to_string(following.index().join("CURRENT")).expect("a pointer");
    following.index().join(current.trim()).join(name)
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").ino()
}

/// Changes a file's first byte in place.
fn damage(path: &Path) {
    let file = fs::File::options().read(true).write(true).open(path).expect("a file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, 0).expect("read");
    file.write_all_at(&[byte[0] ^ 1], 0).expect("written");
}

#[test]
fn download_of_an_unchanged_export_is_linked_and_not_pulled() {
    let place = Place::with(&["a", "b"]);
    place.write("more.json", &export(&["c"]));
    place.reindex().expect("built");
    let stub = Stub::serve(&place.index());
    let mut following = Following::of(stub.address);
    following.look();
    let (of_more, of_tools) = ("catalogue.downloads.0", "catalogue.downloads.1");
    let before = [of_more, of_tools].map(|name| inode(&part(&following, name)));
    place.write("tools.json", &export(&["a", "b", "d"]));
    place.reindex().expect("built");
    let of_parts = || stub.sent("") - stub.sent("CURRENT") - stub.sent("manifest.json");
    let sent = of_parts();
    let opened = following.updater.origin.fetch(None, &mut following.updater.health).expect("pulled").expect("news");
    assert_eq!(opened.pulled_bytes, Some((of_parts() - sent) as u64));
    following.look();
    assert_eq!([of_more, of_tools].map(|name| stub.requests(name).len()), [1, 2]);
    let after = [of_more, of_tools].map(|name| inode(&part(&following, name)));
    assert!(after[0] == before[0] && after[1] != before[1]);

    // Both generations share the file, so damaging it affects both.
    damage(&part(&following, of_more));
    let mut next = Following::within(following.folder, stub.address);
    assert!(next.start().is_none(), "neither generation is served");
    next.look();
    assert_eq!(ids(&next.directory.current().expect("a generation")), ["a", "b", "c", "d"]);
    assert_ne!(inode(&part(&next, of_more)), before[0], "the damaged file should be replaced");
    assert_eq!([of_more, of_tools].map(|name| stub.requests(name).len()), [2, 2], "only this part was pulled again");
}

/// An export of three thousand products with long taglines. The tagline of a product in the middle
/// begins with `first`.
fn large_export(first: &str) -> String {
    let mut document: Value = serde_json::from_str(&export(&["a"])).expect("JSON");
    let mut random = 1_u64;
    let mut word = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("word{}", (random >> 33) % 1000)
    };
    let products = (0..3000).map(|number| {
        let mut product = document["software"][0].clone();
        let words: Vec<_> = std::iter::repeat_with(&mut word).take(50).collect();
        let id = format!("product-{number:04}");
        product["tagline"] = format!("{} {}", if number == 1500 { first } else { "any" }, words.join(" ")).into();
        (product["name"], product["id"]) = (id.clone().into(), id.into());
        product
    });
    document["software"] = products.collect();
    document.to_string()
}

#[test]
fn only_the_changed_pieces_of_a_large_part_are_pulled() {
    let place = Place::with(&[]);
    let texts = "catalogue.texts";
    place.write("tools.json", &large_export("first"));
    place.reindex().expect("built");
    let stub = Stub::serve(&place.index());
    let mut following = Following::of(stub.address);
    following.look();
    let size = stub.sent(texts);
    let is_right = |following: &Following, tagline: &str| {
        let current = following.directory.current().expect("a generation");
        let record = pollster::block_on(get_software(&current, "product-1500")).expect("read").expect("a product");
        String::from_utf8(record.body.to_vec()).expect("text").contains(&format!("\"tagline\":\"{tagline} "))
    };
    assert!(is_right(&following, "first"));

    place.write("tools.json", &large_export("second"));
    place.reindex().expect("built");
    following.look();
    assert!(is_right(&following, "second"));
    let sent = stub.sent(texts) - size;
    assert!(0 < sent && sent < size * 3 / 4, "{sent} of {size} bytes");

    // A damaged local piece is pulled. A server without range support sends the whole file.
    damage(&part(&following, texts));
    place.write("tools.json", &large_export("third"));
    place.reindex().expect("built");
    let before = stub.sent(texts);
    following.look();
    assert!(is_right(&following, "third"));
    assert!(stub.sent(texts) - before > sent);
    assert!(stub.requests(texts).iter().flatten().any(|range| range.starts_with("bytes=0-")));
    stub.set(|state| state.no_ranges = true);
    place.write("tools.json", &large_export("fourth"));
    place.reindex().expect("built");
    following.look();
    assert!(is_right(&following, "fourth"));
    assert_eq!(following.reason(), None);
}
