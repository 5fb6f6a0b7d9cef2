//! An updater that panics because the observer injects a panic.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use software_directory::export::Report;
use software_directory::generation::{FailureCode, Observer, Phase, RenderedReport};
use software_directory::update::files::ExportFiles;
use software_directory::update::{Directory, Outcome, Updater};

use crate::common::place::{Place, export, ids};

struct Panicking(Arc<AtomicBool>);

impl Observer for Panicking {
    fn progress(&mut self, phase: Phase, _: u64, _: u64) -> ControlFlow<()> {
        assert!(phase != Phase::Indexing || !self.0.load(Ordering::Relaxed), "out of paper");
        ControlFlow::Continue(())
    }

    fn report(&mut self, _: &Report) {}

    fn relay(&mut self, _: RenderedReport) {}
}

fn updater(place: &Place) -> (Updater<ExportFiles>, Arc<Directory>, Arc<AtomicBool>) {
    let (directory, panics) = (Arc::<Directory>::default(), Arc::new(AtomicBool::new(true)));
    let observer = Box::new(Panicking(Arc::clone(&panics)));
    (Updater::new(ExportFiles::new(place.settings(), observer), Arc::clone(&directory)), directory, panics)
}

#[test]
fn a_build_that_panics_leaves_the_last_good_generation_and_is_retried_later() {
    let place = Place::with(&["a", "b"]);
    let (mut updater, directory, panics) = updater(&place);
    panics.store(false, Ordering::Relaxed);
    updater.start().expect("it serves");
    panics.store(true, Ordering::Relaxed);
    place.write("tools.json", &export(&["a", "b", "c"]));
    assert!(matches!(updater.refresh(), Ok(Outcome::Failed)));
    let degraded = directory.degraded();
    assert_eq!(degraded.iter().map(|reason| reason.code).collect::<Vec<_>>(), ["build_panicked"]);
    assert!(degraded[0].detail.contains("out of paper"), "{degraded:?}");
    assert_eq!(ids(&directory.current().expect("a generation")), ["a", "b"]);
    let now = Instant::now();
    // The longer a build took, the later it's retried.
    assert!(!updater.is_due(now) && updater.is_due(now + Duration::from_hours(1)), "retried, but not immediately");
    panics.store(false, Ordering::Relaxed);
    assert!(matches!(updater.refresh(), Ok(Outcome::Published)));
    assert_eq!((directory.degraded().len(), updater.is_due(now + Duration::from_hours(1))), (0, false));
}

#[test]
fn a_start_that_panics_serves_the_last_good_generation() {
    let place = Place::with(&["a", "b"]);
    drop(place.started());
    place.write("tools.json", &export(&["a", "b", "c"]));
    let (mut updater, directory, _) = updater(&place);
    assert!(matches!(updater.start(), Ok(Outcome::Failed)));
    assert_eq!(ids(&directory.current().expect("a generation")), ["a", "b"]);
}

#[test]
fn a_first_start_that_panics_is_an_error() {
    let place = Place::with(&["a"]);
    let (mut updater, _, _) = updater(&place);
    assert!(updater.start().is_err_and(|failure| {
        failure.code == FailureCode::BuildPanicked && failure.detail.contains("out of paper")
    }));
}
