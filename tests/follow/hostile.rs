//! Leaders that send what they shouldn't: the follower refuses it and keeps its generation.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use software_directory::generation::process::ProbeProcess;
use software_directory::update::leader::Leader;

use crate::place::{Place, export};
use crate::stub::{Following, Stub};

/// A follower that's serving a leader's generation, although the leader now has a newer one.
fn with_news() -> (Place, Stub, Following) {
    let place = Place::with(&["a", "b"]);
    place.reindex().expect("built");
    let stub = Stub::serve(&place.index());
    let mut following = Following::of(stub.address);
    following.look();
    place.write("tools.json", &export(&["a", "b", "c"]));
    place.reindex().expect("built");
    (place, stub, following)
}

/// Follows a leader that sends this body for a file, and then the repaired leader.
fn refuses(file: &str, body: Vec<u8>, code: &str, text: &str) {
    let (place, stub, mut following) = with_news();
    let (before, files) = (following.generation(), following.names());
    stub.set(|state| state.replaced = Some((file.to_owned(), body)));
    following.look();
    let (found, detail) = following.reason().expect("degraded");
    assert_eq!(found, code, "{detail}");
    assert!(detail.contains(text), "{detail}");
    assert_eq!(following.generation(), before, "the follower should keep its generation");
    let others = following.names().into_iter().filter(|name| !name.starts_with(".pull-")).collect::<Vec<_>>();
    assert_eq!(others, files, "nothing in the index folder was lost");
    stub.set(|state| state.replaced = None);
    following.look();
    assert_eq!(following.reason(), None);
    assert_eq!(following.generation().as_deref(), Some(place.current().generation.as_str()));
}

fn manifest(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (place, _stub, _following) = with_news();
    manifest_of(&place, change)
}

fn manifest_of(place: &Place, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let path = place.index().join(place.current().folder_name()).join("manifest.json");
    let mut manifest = serde_json::from_slice(&fs::read(path).expect("read")).expect("JSON");
    change(&mut manifest);
    serde_json::to_vec(&manifest).expect("JSON")
}

#[test]
fn pointer_that_names_no_generation_is_refused() {
    refuses("CURRENT", b"../../etc\n".to_vec(), "leader_invalid", "it doesn't name a generation");
    refuses("CURRENT", vec![b'a'; 100_000], "leader_invalid", "more than");
    refuses("CURRENT", b"<html>Welcome</html>".to_vec(), "leader_invalid", "/v1/generations");
}

#[test]
fn manifest_that_names_paths_or_huge_sizes_is_refused() {
    let evil = manifest(|manifest| manifest["parts"][0]["name"] = json!("../../evil"));
    refuses("manifest.json", evil, "leader_invalid", "it names an unknown or repeated part");
    let huge = manifest(|manifest| manifest["parts"][0]["size"] = json!(u64::MAX / 2));
    refuses("manifest.json", huge, "leader_invalid", "are allowed");
}

#[test]
fn a_different_index_format_is_reported_and_refused() {
    let other = manifest(|manifest| manifest["format"] = json!(9999));
    refuses("manifest.json", other, "leader_incompatible", "index format 9999");
}

#[test]
fn part_that_does_not_match_its_manifest_is_refused_and_pulled_again() {
    let place = Place::with(&["a", "b"]);
    place.reindex().expect("built");
    let path = place.index().join(place.current().folder_name()).join("catalogue.texts");
    let longer = [fs::read(path).expect("read"), vec![0; 200_000]].concat();
    refuses("catalogue.texts", longer, "leader_invalid", "longer than the manifest says");
    refuses("catalogue.texts", Vec::new(), "leader_unreachable", "was cut off after 0 bytes");
}

#[test]
fn a_file_with_one_changed_byte_is_refused() {
    let (place, stub, mut following) = with_news();
    let before = following.generation();
    let path = place.index().join(place.current().folder_name()).join("search");
    let mut damaged = fs::read(path).expect("read");
    damaged[0] ^= 1;
    stub.set(|state| state.replaced = Some(("search".to_owned(), damaged)));
    following.look();
    let (code, detail) = following.reason().expect("degraded");
    assert_eq!((code, following.generation()), ("leader_invalid", before), "{detail}");
    assert!(detail.contains("its hash doesn't match the manifest"), "{detail}");
    stub.set(|state| state.replaced = None);
    following.look();
    assert_eq!(following.reason(), None);
}

#[test]
fn unreadable_part_with_the_right_hash_does_not_replace_a_good_one() {
    let nonsense = b"nonsense".to_vec();
    let hash = blake3::hash(&nonsense).to_hex().to_string();
    let (place, stub, mut following) = with_news();
    let before = following.generation();
    let path = place.index().join(place.current().folder_name()).join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(path).expect("read")).expect("JSON");
    let parts = manifest["parts"].as_array_mut().expect("parts");
    let part = parts.iter_mut().find(|part| part["name"] == "search").expect("a part");
    (part["size"], part["blake3"]) = (json!(nonsense.len()), json!(hash));
    let folder = place.index().join(place.current().folder_name());
    fs::write(folder.join("manifest.json"), manifest.to_string()).expect("written");
    fs::write(folder.join("search"), nonsense).expect("written");
    let names = following.names();
    following.look();
    assert_eq!(following.reason().expect("degraded").0, "leader_invalid");
    assert_eq!((following.generation(), following.names()), (before, names));
    drop(stub);
}

/// Replaces a part of the leader's current generation, with a matching hash.
fn replace(place: &Place, name: &str, content: &[u8]) {
    let folder = place.index().join(place.current().folder_name());
    let mut manifest: Value =
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).expect("read")).expect("JSON");
    let parts = manifest["parts"].as_array_mut().expect("parts");
    let part = parts.iter_mut().find(|part| part["name"] == name).expect("a part");
    (part["size"], part["blake3"]) = (json!(content.len()), json!(blake3::hash(content).to_hex().to_string()));
    fs::write(folder.join("manifest.json"), manifest.to_string()).expect("written");
    fs::write(folder.join(name), content).expect("written");
}

#[test]
fn generation_that_fails_its_trial_is_pulled_once_and_the_next_one_is_followed() {
    let (place, stub, mut following) = with_news();
    let (before, names) = (following.generation(), following.names());
    // The generation can be opened, because text is only read on request.
    let folder = place.index().join(place.current().folder_name());
    let mut texts = fs::read(folder.join("catalogue.texts")).expect("read");
    let at = texts.windows(17).position(|bytes| bytes == b"\"name\":\"Product a").expect("an item");
    texts[at + 8] = b'x';
    replace(&place, "catalogue.texts", &texts);
    following.look();
    let (code, detail) = following.reason().expect("degraded");
    assert_eq!(code, "leader_invalid");
    assert!(detail.contains("the text of product"), "{detail}");
    assert_eq!((following.generation(), following.names()), (before.clone(), names.clone()));
    let pulled = stub.pulled();
    let since = following.directory.degraded()[0].since;
    following.look();
    assert_eq!((stub.pulled(), following.reason()), (pulled, Some((code, detail))), "the pull isn't retried");
    assert_eq!(following.directory.degraded()[0].since, since);

    place.write("tools.json", &export(&["a", "b", "d"]));
    place.reindex().expect("built");
    following.look();
    assert_eq!(following.reason(), None);
    assert_ne!(following.generation(), before);
}

#[test]
fn process_that_dies_trying_out_a_generation_is_reported() {
    let place = Place::with(&["a", "b"]);
    place.reindex().expect("built");
    let stub = Stub::serve(&place.index());
    let folder = tempfile::tempdir().expect("a folder");
    let dying = "echo 'memory allocation of 576461123818095968 bytes failed' >&2; kill -ABRT $$";
    let probe = ProbeProcess { program: "sh".into(), arguments: ["-c".into(), dying.into()].to_vec() };
    let leader = Leader::new(&format!("http://{}", stub.address), None).expect("an address");
    let mut following = Following::probed_by(folder, leader, probe);
    following.look();
    let (code, detail) = following.reason().expect("degraded");
    assert_eq!((code, following.generation()), ("leader_invalid", None));
    assert!(detail.contains("SIGABRT") && detail.contains("memory allocation of 5764"), "{detail}");
    let pulled = stub.pulled();
    following.look();
    assert_eq!(stub.pulled(), pulled, "the pull isn't retried");
    assert!(following.store().candidates().is_empty(), "the next start doesn't retry the generation either");
}

#[test]
#[ignore = "slow: decodes a gigabyte, which takes a minute"]
fn part_that_needs_too_much_memory_kills_only_the_process_that_tries_it_out() {
    let (place, _stub, mut following) = with_news();
    let before = following.generation();
    // Everything before the synonyms is empty. Then come 60 million terms of one byte each, which
    // take up 24 bytes each once they're decoded.
    let mut search = vec![0; 8];
    search.extend([0x80, 0x8e, 0xce, 0x1c]);
    search.resize(search.len() + 60_000_000 + 1, 0);
    replace(&place, "search", &search);
    following.look();
    let (code, detail) = following.reason().expect("degraded");
    assert_eq!((code, following.generation()), ("leader_invalid", before), "{detail}");
    assert!(detail.contains("memory allocation of"), "{detail}");
}

#[test]
fn unknown_parts_are_refused_before_anything_is_pulled() {
    let hash = "0".repeat(64);
    let part = |name: &str, size: u64| json!({"name": name, "size": size, "blake3": hash});
    let (place, stub, mut following) = with_news();
    let pulled = stub.pulled();
    for (part, text) in [
        (part("unused", 2 << 30), "names an unknown or repeated part \"unused\""),
        (part("catalogue.downloads", 1), "names an unknown or repeated part \"catalogue.downloads\""),
        (part("catalogue.downloads.128", 1), "names an unknown or repeated part \"catalogue.downloads.128\""),
        (part("catalogue.downloads.01", 1), "names an unknown or repeated part \"catalogue.downloads.01\""),
        (part("engine.unused", 1), "unexpected engine files"),
        (part("engine.0123456789abcdef0123456789abcdef.term", 1), "unexpected engine files"),
        (part("engine.../x", 1), "unexpected engine files"),
    ] {
        let body = manifest_of(&place, |manifest| manifest["parts"].as_array_mut().expect("parts").push(part));
        stub.set(|state| state.replaced = Some(("manifest.json".to_owned(), body)));
        following.look();
        let (code, detail) = following.reason().expect("degraded");
        assert!(code == "leader_invalid" && detail.contains(text), "{code}: {detail}");
    }
    let body = manifest_of(&place, |manifest| {
        let parts = manifest["parts"].as_array_mut().expect("parts");
        let log = parts.iter_mut().find(|part| part["name"] == "changes").expect("a part");
        log["size"] = json!(1 << 30);
    });
    stub.set(|state| state.replaced = Some(("manifest.json".to_owned(), body)));
    following.look();
    let detail = following.reason().expect("degraded").1;
    assert!(detail.contains("says that changes has 1073741824 bytes"), "{detail}");
    assert_eq!(stub.pulled() - pulled, 8, "only manifests");
}

#[test]
fn leader_that_sends_too_slowly_is_reported_and_retried() {
    /// Every time the clock is read, three seconds pass, so no single file takes a minute.
    fn clock() -> Instant {
        static LOOKS: AtomicU64 = AtomicU64::new(0);
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        *START + Duration::from_secs(3) * u32::try_from(LOOKS.fetch_add(1, Ordering::Relaxed)).expect("few")
    }
    let place = Place::with(&["a", "b"]);
    place.reindex().expect("built");
    let stub = Stub::serve(&place.index());
    let leader = Leader::new(&format!("http://{}", stub.address), None).expect("an address").with_clock(clock);
    let mut following = Following::of_leader(tempfile::tempdir().expect("a folder"), leader);
    following.look();
    let (code, detail) = following.reason().expect("degraded");
    assert_eq!(code, "leader_unreachable", "{detail}");
    assert!(detail.contains("bytes arrived within 6"), "{detail}");
    assert!(stub.pulled() > 2, "over several files");
    assert!(following.directory.degraded()[0].since.is_some() && following.updater.health.retry().is_some());

    let mut following = Following::within(following.folder, stub.address);
    following.look();
    assert_eq!((following.reason(), following.generation().is_some()), (None, true));
}

#[test]
fn links_in_the_index_folder_are_not_followed() {
    let (place, _stub, mut following) = with_news();
    let before = following.generation();
    let outside = tempfile::tempdir().expect("a folder");
    let pulled = following.index().join(format!(".pull-{}", place.current().folder_name()));
    // First, the folder that the generation is pulled into is a link, and then a part in it is.
    symlink(outside.path(), &pulled).expect("linked");
    following.look();
    assert_eq!(following.reason().expect("degraded").0, "index_not_written");
    fs::remove_file(&pulled).expect("removed");
    fs::create_dir(&pulled).expect("a folder");
    symlink(outside.path().join("planted"), pulled.join("search")).expect("linked");
    following.look();
    assert_eq!(following.reason().expect("degraded").0, "index_not_written");
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 0, "nothing is written outside");
    fs::remove_file(pulled.join("search")).expect("removed");
    following.look();
    assert_eq!(following.reason(), None);
    assert_ne!(following.generation(), before);

    // Now a part of an existing generation is a link, and then the generation's folder is.
    let name = place.current().folder_name();
    let store = following.store();
    let manifest = store.manifest(&name).expect("a manifest");
    let part = following.index().join(&name).join("search");
    fs::rename(&part, outside.path().join("search")).expect("moved");
    symlink(outside.path().join("search"), &part).expect("linked");
    store.load(&manifest).expect_err("a part is a link");
    assert!(store.open_published(&name, "search").is_err());
    fs::rename(following.index().join(&name), outside.path().join(&name)).expect("moved");
    symlink(outside.path().join(&name), following.index().join(&name)).expect("linked");
    assert_eq!(store.manifest(&name), None);
    assert!(store.open_published(&name, "manifest.json").is_err());
}

#[test]
fn unwritable_index_folder_keeps_the_served_generation() {
    let (place, _stub, mut following) = with_news();
    let before = following.generation();
    // A missing permission wouldn't stop root, but a file with the folder's name stops any account.
    fs::write(following.index().join(format!(".pull-{}", place.current().folder_name())), "x").expect("written");
    following.look();
    assert_eq!(following.reason().expect("degraded").0, "index_not_written");
    assert_eq!(following.generation(), before);
}
