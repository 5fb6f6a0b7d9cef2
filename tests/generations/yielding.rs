//! A keeper beside requests: it builds where nothing else wants the processor, and where that never happens all the same.
#![cfg(target_os = "linux")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use software_directory::export::Report;
use software_directory::snapshot::keeper::{Keeper, Observer, Outcome, Phase};
use software_directory::snapshot::{Directory, ReloadOutcome};
use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, thread_schedule_policy};

use crate::place::{Place, export};

/// Longer than work that yields is left without its tenth.
const LONG: Duration = Duration::from_millis(1100);
/// More than are indexed between two looks at the share.
const PRODUCTS: usize = 100;

/// One thing a keeper was seen doing: `None` a report.
type Sight = (Option<Phase>, bool);

/// Notes whether each thing is done by a thread that yields, and leaves such a one without a processor in one phase.
struct Busy {
    starved: Option<Phase>,
    seen: Arc<Mutex<Vec<Sight>>>,
}

impl Busy {
    fn note(&self, what: Option<Phase>) -> bool {
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        let sight = (what, thread_schedule_policy() == Ok(idle));
        let mut seen = self.seen.lock().expect("no panic");
        let is_new = seen.last() != Some(&sight);
        if is_new {
            seen.push(sight);
        }
        is_new && sight.1
    }
}

impl Observer for Busy {
    fn progress(&mut self, phase: Phase, _: u64, _: u64) {
        if self.note(Some(phase)) && self.starved == Some(phase) {
            std::thread::sleep(LONG);
        }
    }

    fn report(&mut self, _: &Report) {
        self.note(None);
    }
}

/// What a keeper does about an edit, when it gives way and is starved in a phase.
fn reload(starved: Option<Phase>) -> Vec<Sight> {
    let ids: Vec<String> = (0..PRODUCTS).map(|number| format!("p{number}")).collect();
    let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let place = Place::with(&ids);
    let (directory, seen) = (Arc::<Directory>::default(), Arc::<Mutex<Vec<Sight>>>::default());
    let observer = Box::new(Busy { starved, seen: Arc::clone(&seen) });
    let mut keeper = Keeper::new(place.settings(), Arc::clone(&directory), observer);
    keeper.start().expect("it serves");
    assert!(seen.lock().expect("no panic").drain(..).all(|(_, yields)| !yields), "nothing is served yet");
    ids.push("new");
    place.write("tools.json", &export(&ids));
    // It lowers its thread for good, so that must not be the test's.
    let keeper = std::thread::spawn(move || {
        keeper.give_way();
        let outcome = keeper.refresh().expect("it serves");
        assert!(matches!(outcome, Outcome::Published(kept) if kept.software_count == PRODUCTS + 1));
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        assert_ne!(thread_schedule_policy(), Ok(idle), "its own thread must hear what comes next");
    });
    keeper.join().expect("no panic");
    let reloads = directory.reloads();
    assert_eq!((reloads.count(ReloadOutcome::Published), reloads.builds), (2, 2), "what was stopped is no build");
    seen.lock().expect("no panic").clone()
}

#[test]
fn a_reload_beside_requests_yields_to_them() {
    let of = |phase| (phase, true);
    let expected = [of(Some(Phase::Reading)), of(None), of(Some(Phase::Indexing)), of(Some(Phase::Writing))];
    // On a machine that has no time to spare it does begin again.
    assert!((0..10).any(|_| reload(None) == expected), "{:?}", reload(None));
}

#[test]
fn where_the_processor_is_wanted_all_the_time_it_begins_again_and_takes_its_tenth() {
    let own = |phase| (phase, false);
    let rest = [own(Some(Phase::Indexing)), own(Some(Phase::Writing))];
    let mut expected = vec![(Some(Phase::Reading), true), own(Some(Phase::Reading)), own(None)];
    expected.extend(rest);
    assert_eq!(reload(Some(Phase::Reading)), expected);
    // What was reported stays reported.
    let mut expected: Vec<Sight> =
        [Some(Phase::Reading), None, Some(Phase::Indexing)].map(|phase| (phase, true)).into();
    expected.push(own(Some(Phase::Reading)));
    expected.extend(rest);
    assert_eq!(reload(Some(Phase::Indexing)), expected);
}
