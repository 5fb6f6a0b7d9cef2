//! Memory refused to a build at any point: the process ends, and what is on disk is the old generation or the new one, whole.

use std::alloc::System;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use cap::Cap;
use software_directory::update::Outcome;

#[allow(dead_code, reason = "shared with tests/generations")]
#[path = "../common/place.rs"]
mod place;

use place::{Place, export};

/// Refuses memory beyond a limit.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The limits that are tried, from nothing to what a build takes.
const LIMITS: usize = 40;

/// The folder of a build in a process of its own, and the bytes that it may take beyond those that the process has.
const FOLDER: &str = "BUILD_FOLDER";
const LIMIT: &str = "BUILD_LIMIT";

/// The line in which the process prints the peak of its build.
const TOOK: &str = "the build took ";

/// The place that the process works on; `None` where no test has started it.
fn place_of_process() -> Option<Place> {
    Some(Place::at(Path::new(&std::env::var_os(FOLDER)?)))
}

/// The line in which the process prints that all went well.
const LOADED: &str = "the next generation was loaded";

#[test]
#[ignore = "run by the other test, in a process of its own"]
fn build() {
    let Some(place) = place_of_process() else { return };
    let before = ALLOCATOR.allocated();
    if let Some(limit) = std::env::var(LIMIT).ok().and_then(|limit| limit.parse::<usize>().ok()) {
        ALLOCATOR.set_limit(before + limit).expect("a limit above what is taken");
    }
    place.reindex().expect("it builds");
    println!("{TOOK}{}", ALLOCATOR.max_allocated() - before);
}

/// Serves a generation while there isn't memory for the next one, and then there is.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn load() {
    let Some(place) = place_of_process() else { return };
    let mut running = place.started();
    place.write("tools.json", &export_of(2000));
    let parts = place.reindex().expect("it builds").parts;
    let bytes: u64 =
        parts.iter().filter(|part| !part.name.starts_with("catalogue.downloads.")).map(|part| part.size).sum();
    let room = usize::try_from(bytes).expect("a size");
    ALLOCATOR.set_limit(ALLOCATOR.allocated() + room).expect("a limit above what is taken");
    running.updater.look(Instant::now());
    assert_eq!(running.snapshot().software_count(), 100, "what was served is");
    ALLOCATOR.set_limit(usize::MAX).expect("no limit");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.snapshot().software_count(), 2000);
    println!("{LOADED}");
}

#[test]
fn generation_that_memory_is_too_small_for_is_loaded_once_it_is_not() {
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(100));
    let (loaded, said) = in_a_process("load", &place, None);
    assert!(loaded && said.contains(LOADED), "{said}");
}

/// An export of that number of products.
fn export_of(count: usize) -> String {
    let ids: Vec<_> = (0..count).map(|number| format!("p{number}")).collect();
    export(&ids.iter().map(String::as_str).collect::<Vec<_>>())
}

fn in_a_process(test: &str, place: &Place, limit: Option<usize>) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]).env(FOLDER, place.path());
    command.env_remove("RUST_BACKTRACE");
    if let Some(limit) = limit {
        command.env(LIMIT, limit.to_string());
    }
    let output = command.output().expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn build_without_enough_memory_leaves_the_old_generation_or_the_new_one() {
    let (old, new) = (100, 200);
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(old));
    drop(place.started());
    place.write("tools.json", &export_of(new));
    // Elsewhere, so that there still is something to build.
    let other = Place::with(&[]);
    other.write("tools.json", &export_of(new));
    let (built, said) = in_a_process("build", &other, None);
    assert!(built, "{said}");
    let took = said.split_once(TOOK).and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<usize>().ok());
    let took = took.unwrap_or_else(|| panic!("{said}"));

    let mut refused = 0;
    for step in 0..LIMITS {
        let (built, said) = in_a_process("build", &place, Some(took * step / LIMITS));
        refused += usize::from(!built);
        assert!(built || said.contains("memory allocation of"), "{step}: {said}");
        let current = place.current();
        let expected = if built { new } else { old };
        assert_eq!(current.software_count, expected as u64, "{step}");
        place.store().load(&current).expect("whole");
        if built {
            break;
        }
    }
    assert!(refused > LIMITS / 2, "memory ran out {refused} times");
    let mut running = place.updater();
    assert!(matches!(running.updater.start(), Ok(Outcome::Published | Outcome::Loaded)));
    assert_eq!(running.snapshot().software_count(), new);
    assert!(place.generation_names().len() <= 2, "nothing is left behind: {:?}", place.index_names());
}
