//! Makes a build run out of memory at any point: the process dies, and the disk contains either the
//! complete old generation or the complete new one. Memory that a reload frees goes back to the
//! system.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use cap::Cap;
use mimalloc::MiMalloc;
use software_directory::update::Outcome;

use crate::common::place::{Place, export};
use crate::common::until::until;

/// The program's allocator, with a limit on how much it allocates.
#[global_allocator]
static ALLOCATOR: Cap<MiMalloc> = Cap::new(MiMalloc, usize::MAX);

/// How many memory limits to try, from zero to what a build needs.
const LIMITS: usize = 40;

/// Environment variables for a build in a separate process: its folder, and how many bytes the
/// build may allocate on top of what the process already uses.
const FOLDER: &str = "BUILD_FOLDER";
const LIMIT: &str = "BUILD_LIMIT";

/// The beginning of the line in which the process prints the build's peak memory.
const TOOK: &str = "the build took ";

/// The folder that this process works on; `None` unless a test has started the process.
fn place_of_process() -> Option<Place> {
    Some(Place::at(Path::new(&std::env::var_os(FOLDER)?)))
}

/// The line that the process prints if everything went well.
const LOADED: &str = "the next generation was loaded";

#[test]
#[ignore = "run by another test, in a separate process"]
fn build() {
    let Some(place) = place_of_process() else { return };
    let before = ALLOCATOR.allocated();
    if let Some(limit) = std::env::var(LIMIT).ok().and_then(|limit| limit.parse::<usize>().ok()) {
        ALLOCATOR.set_limit(before + limit).expect("a limit above current use");
    }
    place.reindex().expect("it builds");
    println!("{TOOK}{}", ALLOCATOR.max_allocated() - before);
}

/// Keeps serving a generation until there's enough memory for the next one.
#[test]
#[ignore = "run by another test, in a separate process"]
fn load() {
    let Some(place) = place_of_process() else { return };
    let mut running = place.started();
    place.write("tools.json", &export_of(2000));
    let parts = place.reindex().expect("it builds").parts;
    let bytes: u64 =
        parts.iter().filter(|part| !part.name.starts_with("catalogue.downloads.")).map(|part| part.size).sum();
    let room = usize::try_from(bytes).expect("a size");
    ALLOCATOR.set_limit(ALLOCATOR.allocated() + room).expect("a limit above current use");
    running.updater.look(Instant::now());
    assert_eq!(running.snapshot().software_count(), 100, "the old generation should still be served");
    ALLOCATOR.set_limit(usize::MAX).expect("no limit");
    running.updater.refresh().expect("it serves");
    assert_eq!(running.snapshot().software_count(), 2000);
    println!("{LOADED}");
}

/// The line that the process prints if its memory was returned to the system.
const RETURNED: &str = "freed memory was returned";

/// As much memory as the tables for 300,000 records take up.
const FREED: usize = 256 << 20;

/// Frees a lot of memory before the first generation is served, and again when it's replaced.
#[test]
#[ignore = "run by another test, in a separate process"]
fn free() {
    let Some(place) = place_of_process() else { return };
    let before = resident();
    // The blocks are as large as a decoded table's.
    let allocate_and_free = || drop((0..256).map(|_| vec![1_u8; FREED / 256]).collect::<Vec<_>>());
    let wait = |what| until(what, || (resident() < before + FREED / 4).then_some(()));
    allocate_and_free();
    let mut running = place.started();
    wait("the memory freed before the start is returned");
    place.write("tools.json", &export_of(200));
    running.updater.refresh().expect("it serves");
    allocate_and_free();
    running.updater.look(Instant::now());
    wait("the memory freed by the reload is returned");
    println!("{RETURNED}");
}

/// `RssAnon` from `/proc/self/status`, in bytes. Allocates nothing, because that might return
/// memory.
fn resident() -> usize {
    let mut status = [0; 4096];
    let mut file = File::open("/proc/self/status").expect("the status");
    let length = file.read(&mut status).expect("the status");
    let status = std::str::from_utf8(&status[..length]).expect("text");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("its line");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

#[test]
fn freed_memory_is_returned_to_the_system_without_requests() {
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(100));
    let (returned, said) = in_a_process("free", &place, None);
    assert!(returned && said.contains(RETURNED), "{said}");
}

#[test]
fn a_generation_too_large_for_memory_is_loaded_once_it_fits() {
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(100));
    let (loaded, said) = in_a_process("load", &place, None);
    assert!(loaded && said.contains(LOADED), "{said}");
}

/// An export with this many products.
fn export_of(count: usize) -> String {
    let ids: Vec<_> = (0..count).map(|number| format!("p{number}")).collect();
    export(&ids.iter().map(String::as_str).collect::<Vec<_>>())
}

fn in_a_process(test: &str, place: &Place, limit: Option<usize>) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args([&format!("memory::{test}"), "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(FOLDER, place.path());
    command.env_remove("RUST_BACKTRACE");
    if let Some(limit) = limit {
        command.env(LIMIT, limit.to_string());
    }
    let output = command.output().expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn a_build_without_enough_memory_leaves_either_the_old_or_the_new_generation() {
    let (old, new) = (100, 200);
    let place = Place::with(&[]);
    place.write("tools.json", &export_of(old));
    drop(place.started());
    place.write("tools.json", &export_of(new));
    // This build uses a different folder, so that there's still something to build in `place`.
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
        place.store().load(&current).expect("a complete generation");
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
