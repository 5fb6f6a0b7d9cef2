//! Damage on disk, at startup and while an updater is serving: every file, every kind of damage,
//! and random bits.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use software_directory::generation::INDEX_FORMAT;
use software_directory::generation::Phase;
use software_directory::generation::store::Store;
use software_directory::update::Outcome;

use crate::common::place::Place;
use crate::corpus::Corpus;
use crate::scale::{Random, alone, times};
use crate::watched::{answers, answers_from_memory, download, expected};

/// A kind of damage.
type Damage = fn(&Path);

const DAMAGES: [(&str, Damage); 6] = [
    ("truncated", |path| {
        let content = fs::read(path).expect("read");
        fs::write(path, &content[..content.len() / 2]).expect("written");
    }),
    ("emptied", |path| fs::write(path, "").expect("written")),
    ("zeroed", |path| {
        let length = fs::read(path).expect("read").len();
        fs::write(path, vec![0; length]).expect("written");
    }),
    ("deleted", |path| fs::remove_file(path).expect("removed")),
    ("extended", |path| {
        let mut content = fs::read(path).expect("read");
        content.push(0);
        fs::write(path, content).expect("written");
    }),
    ("changed", |path| {
        let length = fs::metadata(path).expect("a file").len();
        if length > 0 {
            flip(path, usize::try_from(length).expect("a size") / 2 * 8);
        }
    }),
];

/// Flips one bit of a file.
fn flip(path: &Path, bit: usize) {
    let mut content = fs::read(path).expect("read");
    content[bit / 8] ^= 1 << (bit % 8);
    fs::write(path, content).expect("written");
}

/// The current generation's files, and the pointer to the generation.
fn files(store: &Store) -> Vec<PathBuf> {
    let manifest = store.current().expect("a current generation");
    let folder = store.folder().join(manifest.folder_name());
    let mut files: Vec<_> = manifest.parts.iter().map(|part| folder.join(&part.name)).collect();
    files.extend([folder.join("manifest.json"), store.folder().join("CURRENT")]);
    files
}

/// A folder with a generation on disk, and the expected responses.
fn persisted() -> (Place, Vec<Vec<u8>>) {
    let place = Place::with(&[]);
    let corpus = Corpus::generated(20);
    corpus.write(&place.data(), 1);
    drop(place.started());
    (place, expected(&corpus.document(1)))
}

/// Starts an updater, and expects the correct responses and then an intact index.
fn start_is_right(place: &Place, right: &[Vec<u8>], what: &str) {
    let running = place.started();
    assert!(answers(&running.snapshot()) == right, "{what}: a different response");
    assert_eq!(running.reasons(), [""; 0], "{what}");
    is_whole(place, what);
}

fn is_whole(place: &Place, what: &str) {
    let manifest = place.store().current().unwrap_or_else(|| panic!("{what}: no generation is current"));
    place.store().load(&manifest).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut names = place.generation_names();
    // A flipped bit can change a manifest's index format, and one generation in a different format
    // is allowed to remain.
    let is_foreign = |name: &String| {
        let text = fs::read(place.index().join(name).join("manifest.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
        manifest["format"].is_u64() && manifest["format"] != INDEX_FORMAT
    };
    if let Some(at) = names.iter().position(is_foreign) {
        names.remove(at);
    }
    assert_eq!(names, [manifest.folder_name()], "{what}: nothing is left behind");
}

/// Damages files while an updater is serving. The updater must keep responding as before, and
/// repair the damage at its next full read.
fn serving_is_right(place: &Place, right: &[Vec<u8>], damage: impl Fn(), what: &str) {
    let mut running = place.started();
    let served = running.snapshot();
    damage();
    let (document, from_memory) = right.split_last().expect("responses");
    // The download is only on disk. While it's damaged, requests for it fail.
    if let Ok(found) = download(&served) {
        assert!(found == *document, "{what}: a different document");
    }
    running.updater.look(Instant::now());
    assert!(matches!(running.updater.refresh(), Ok(Outcome::Unchanged)), "{what}");
    running.updater.look(Instant::now() + Duration::from_mins(1));
    assert_eq!(served.generation(), running.snapshot().generation(), "{what}: a different generation");
    assert!(answers_from_memory(&served) == from_memory, "{what}: a different response");
    assert!(answers(&running.snapshot()) == right, "{what}: a different response");
    assert_eq!(running.reasons(), [""; 0], "{what}");
    is_whole(place, what);
    let next = place.started();
    assert!(answers(&next.snapshot()) == right, "{what}: a different response after a restart");
    // If the exports' stamp was damaged, the exports are read, but nothing is built.
    assert!(!next.seen().phases.contains(&Phase::Indexing), "{what}: the next start needs no build");
}

#[test]
fn damage_of_any_kind_to_any_file_is_noticed_and_repaired() {
    let _alone = alone();
    let (place, right) = persisted();
    let mut damages = 0;
    for (how, damage) in DAMAGES {
        for at in 0..files(&place.store()).len() {
            // Some parts have a different name in each build, but their order never changes.
            let what = format!("{:?} {how}", files(&place.store())[at].file_name());
            damage(&files(&place.store())[at]);
            start_is_right(&place, &right, &what);
            let file = files(&place.store())[at].clone();
            serving_is_right(&place, &right, || damage(&file), &what);
            damages += 2;
        }
    }
    println!("damage: {damages} files: every response correct, every index repaired");
}

#[test]
fn a_flipped_bit_never_changes_a_response() {
    let _alone = alone();
    let (place, right) = persisted();
    let mut random = Random(20);
    let (at_start, serving) = (times(20, 1000), times(10, 1000));
    for flips in 0..at_start + serving {
        let files = files(&place.store());
        let file = files[random.below(files.len())].clone();
        let length = fs::metadata(&file).expect("a file").len();
        if length == 0 {
            continue;
        }
        let bit = random.below(usize::try_from(length).expect("a size") * 8);
        let what = format!("bit {bit} of {}", file.display());
        if flips < at_start {
            flip(&file, bit);
            start_is_right(&place, &right, &what);
        } else {
            serving_is_right(&place, &right, || flip(&file, bit), &what);
        }
    }
    println!(
        "damage: {at_start} bits flipped before a start, {serving} while an updater was serving: every response correct"
    );
}

#[test]
fn a_bit_flipped_in_a_large_generation_is_always_noticed() {
    let _alone = alone();
    let place = Place::with(&[]);
    let corpus = Corpus::large();
    corpus.write(&place.data(), 1);
    drop(place.started());
    let (store, manifest) = (place.store(), place.current());
    let folder = store.folder().join(manifest.folder_name());
    let mut random = Random(2);
    let flips = times(50, 1000);
    for _ in 0..flips {
        let part = &manifest.parts[random.below(manifest.parts.len())];
        if part.size == 0 {
            continue;
        }
        let bit = random.below(usize::try_from(part.size).expect("a size") * 8);
        flip(&folder.join(&part.name), bit);
        assert!(store.load(&manifest).is_err(), "bit {bit} of {} isn't noticed", part.name);
        flip(&folder.join(&part.name), bit);
    }
    store.load(&manifest).expect("intact again");
    println!("damage: {flips} bits flipped in a generation of {} products: all noticed", manifest.software_count);
}
