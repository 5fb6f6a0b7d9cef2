//! Leaders that send what they shouldn't: it is refused, and what is served stays.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Place, export};
use crate::stub::{Following, Stub};

/// A follower that serves a generation of a leader that then has another one.
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

/// Looks at a leader that sends something else for a file, then at the repaired one.
fn refuses(file: &str, body: Vec<u8>, code: &str, text: &str) {
    let (place, stub, mut following) = with_news();
    let (before, files) = (following.generation(), following.names());
    stub.set(|state| state.replaced = Some((file.to_owned(), body)));
    following.look();
    let (found, detail) = following.reason().expect("degraded");
    assert_eq!(found, code, "{detail}");
    assert!(detail.contains(text), "{detail}");
    assert_eq!(following.generation(), before, "what was served stays");
    let others = following.names().into_iter().filter(|name| !name.starts_with(".pull-")).collect::<Vec<_>>();
    assert_eq!(others, files, "nothing in the index folder was lost");
    stub.set(|state| state.replaced = None);
    following.look();
    assert_eq!(following.reason(), None);
    assert_eq!(following.generation().as_deref(), Some(place.current().generation.as_str()));
}

fn manifest(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (place, _stub, _following) = with_news();
    let path = place.index().join(place.current().folder_name()).join("manifest.json");
    let mut manifest = serde_json::from_slice(&fs::read(path).expect("read")).expect("JSON");
    change(&mut manifest);
    serde_json::to_vec(&manifest).expect("JSON")
}

#[test]
fn pointer_that_names_no_generation_is_refused() {
    refuses("CURRENT", b"../../etc\n".to_vec(), "leader_invalid", "its text names no generation");
    refuses("CURRENT", vec![b'a'; 100_000], "leader_invalid", "more than");
    refuses("CURRENT", b"<html>Welcome</html>".to_vec(), "leader_invalid", "/v1/generations");
}

#[test]
fn manifest_that_names_paths_or_huge_sizes_is_refused() {
    let evil = manifest(|manifest| manifest["parts"][0]["name"] = json!("../../evil"));
    refuses("manifest.json", evil, "leader_invalid", "it names a part");
    let huge = manifest(|manifest| manifest["parts"][0]["size"] = json!(u64::MAX / 2));
    refuses("manifest.json", huge, "leader_invalid", "are the most");
}

#[test]
fn other_index_format_is_named_and_refused() {
    let other = manifest(|manifest| manifest["format"] = json!(9999));
    refuses("manifest.json", other, "leader_incompatible", "index format 9999");
}

#[test]
fn part_that_is_not_what_its_manifest_says_is_refused_and_pulled_again() {
    let place = Place::with(&["a", "b"]);
    place.reindex().expect("built");
    let path = place.index().join(place.current().folder_name()).join("catalogue.texts");
    let longer = [fs::read(path).expect("read"), vec![0; 200_000]].concat();
    refuses("catalogue.texts", longer, "leader_invalid", "longer than the manifest says");
    refuses("catalogue.texts", Vec::new(), "leader_unreachable", "broke off after 0 bytes");
}

#[test]
fn one_changed_byte_is_refused() {
    let (place, stub, mut following) = with_news();
    let before = following.generation();
    let path = place.index().join(place.current().folder_name()).join("search");
    let mut damaged = fs::read(path).expect("read");
    damaged[0] ^= 1;
    stub.set(|state| state.replaced = Some(("search".to_owned(), damaged)));
    following.look();
    let (code, detail) = following.reason().expect("degraded");
    assert_eq!((code, following.generation()), ("leader_invalid", before), "{detail}");
    assert!(detail.contains("its hash isn't that of the manifest"), "{detail}");
    stub.set(|state| state.replaced = None);
    following.look();
    assert_eq!(following.reason(), None);
}

#[test]
fn part_with_the_right_hash_that_cannot_be_opened_takes_no_place_of_a_good_one() {
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

#[test]
fn index_folder_that_cannot_be_written_leaves_what_is_served() {
    let (place, _stub, mut following) = with_news();
    let before = following.generation();
    // A file where the folder should be fails for every account, unlike a missing permission.
    fs::write(following.index().join(format!(".pull-{}", place.current().folder_name())), "x").expect("written");
    following.look();
    assert_eq!(following.reason().expect("degraded").0, "index_not_written");
    assert_eq!(following.generation(), before);
}
