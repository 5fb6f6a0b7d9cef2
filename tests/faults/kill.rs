//! Kills the process at each step of building, persisting and publishing. Whatever is on disk at
//! that moment, the next start serves the old or the new generation, complete, without an
//! operator's help, and leaves nothing behind.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use software_directory::generation::failpoint::Step;
use software_directory::generation::store::Store;
use tempfile::TempDir;

use crate::checker::Checker;
use crate::client::Client;
use crate::common::binary::command;
use crate::common::process::Server;
use crate::common::until::until;
use crate::corpus::{Corpus, replace};
use crate::scale::{is_full, times};

/// Which process was killed.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// Startup, with exports that have changed.
    Start,
    /// A running server whose exports change.
    Reload,
    /// `--reindex`.
    Reindex,
}

/// How the exports change before the next start.
#[derive(Debug, Clone, Copy)]
enum Exports {
    StayNew,
    ArePutBack,
    AreBroken,
}

const EXPORTS: [Exports; 3] = [Exports::StayNew, Exports::ArePutBack, Exports::AreBroken];

/// A folder with exports and an index, its current revision, and the next revision.
struct Place {
    folder: TempDir,
    corpus: Corpus,
    served: usize,
    next: usize,
    checker: Checker,
}

impl Place {
    fn new(corpus: Corpus) -> Self {
        let place = Self {
            folder: tempfile::tempdir().expect("a folder"),
            corpus,
            served: 0,
            next: 1,
            checker: Checker::default(),
        };
        fs::create_dir(place.data()).expect("a folder");
        place.corpus.write(&place.data(), 0);
        drop(Server::start(place.folder.path(), &[]));
        place
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts work on the next revision. Kills the first process (build or server) that reaches a
    /// step after passing it `before` times, and then the other process. Returns whether the step
    /// was reached.
    fn kill(&self, work: Work, step: Step, before: usize) -> bool {
        let mut command = command(self.folder.path());
        command.env("FAILPOINTS", format!("{}={before}*off->return(kill)", step.as_str()));
        let next = self.next;
        if let Work::Reindex = work {
            self.corpus.write(&self.data(), next);
            let output = command.arg("--reindex").output().expect("the binary runs");
            assert!(output.status.success() || output.status.signal() == Some(9), "{output:?}");
            return !output.status.success();
        }
        if let Work::Start = work {
            self.corpus.write(&self.data(), next);
        }
        let mut server = Server::spawn_command(command);
        if server.is_announced() {
            if let Work::Reload = work {
                self.corpus.write(&self.data(), next);
            }
            let is_served = || self.ask(&server).is_ok_and(|revision| revision == next);
            until("a process is killed, or the new revision is served", || {
                (server.stderr().contains("the build process") || is_gone(server.pid()) || is_served()).then_some(())
            });
            if server.ended().is_none() {
                let was_killed = server.stderr().contains("the build process");
                server.signal("KILL");
                until("it ends", || server.ended());
                return was_killed;
            }
        }
        let status = until("it ends", || server.ended());
        assert_eq!(status.signal(), Some(9), "{}", server.stderr());
        true
    }

    /// The revision of a server's responses, which must be complete and share one revision.
    fn ask(&self, server: &Server) -> Result<usize, String> {
        let text = |error: std::io::Error| error.to_string();
        let mut client = Client::connect(&server.address, &server.key()).map_err(text)?;
        let mut last = None;
        for (path, is_all) in [
            ("/v1/software?limit=100", true),
            ("/v1/search?limit=100", true),
            ("/v1/search?q=product&limit=100&highlight=true", false),
            ("/v1/software?sort=-rating&offset=1&limit=3", true),
            ("/v1/exports/tools", false),
        ] {
            let answer = client.get(path).map_err(text)?;
            let revision = self.checker.check(&self.corpus, &answer, is_all)?;
            if last.is_some_and(|last| last != revision) {
                return Err(format!("{path} responded with revision {revision}, after responding with {last:?}"));
            }
            last = Some(revision);
        }
        last.ok_or_else(|| "no requests were sent".to_owned())
    }

    /// Restarts the server. Expects either revision, complete and with nothing left behind.
    fn restart(&mut self, then: Exports, what: &str) {
        let (old, new) = (self.served, self.next);
        match then {
            Exports::StayNew => self.corpus.write(&self.data(), new),
            Exports::ArePutBack => self.corpus.write(&self.data(), old),
            Exports::AreBroken => replace(&self.data(), b"{\"name\": \"half"),
        }
        let server = Server::start(self.folder.path(), &[]);
        let revision = self.ask(&server).unwrap_or_else(|error| panic!("{what}: {error}"));
        let reasons = server.reasons();
        match then {
            Exports::StayNew => assert_eq!((revision, reasons.len()), (new, 0), "{what}: {reasons:?}"),
            Exports::ArePutBack => assert_eq!((revision, reasons.len()), (old, 0), "{what}: {reasons:?}"),
            Exports::AreBroken => {
                assert!(revision == old || revision == new, "{what}: revision {revision}, not {old} or {new}");
                assert_eq!(reasons, ["exports_invalid"], "{what}");
            }
        }
        assert_tidy(&self.folder.path().join("index"), what);
        drop(server);
        (self.served, self.next) = (revision, new + 1);
        self.corpus.write(&self.data(), revision);
    }
}

/// Whether a process has exited but hasn't been reaped.
fn is_gone(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

/// Asserts that there are only complete generations, at most two, and nothing else.
pub(crate) fn assert_tidy(index: &Path, what: &str) {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    };
    let store = Store::new(index);
    let manifests = store.candidates();
    assert!(!manifests.is_empty() && manifests.len() <= 2, "{what}: {:?}", names(index));
    let mut expected = vec!["CURRENT".to_owned(), "LOCK".to_owned()];
    for manifest in &manifests {
        store.load(manifest).unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut files: Vec<_> = manifest.parts.iter().map(|part| part.name.clone()).collect();
        files.push("manifest.json".to_owned());
        files.sort();
        assert_eq!(names(&index.join(manifest.folder_name())), files, "{what}");
        expected.push(manifest.folder_name());
    }
    expected.sort();
    assert_eq!(names(index), expected, "{what}");
    assert!(store.current().is_some(), "{what}: there is a current generation");
}

/// How many times a process passes a step before it's killed there. Most steps are passed only once.
fn befores(step: Step) -> Vec<usize> {
    match step {
        Step::BuildProduct if is_full() => vec![0, 10, 19],
        Step::BuildProduct => vec![10],
        Step::PartCreated | Step::PartHalf | Step::PartWritten | Step::PartSynced if is_full() => (0..32).collect(),
        Step::PartCreated | Step::PartSynced => vec![0, 5],
        Step::StoreFolder
        | Step::StoreLocked
        | Step::PartLink
        | Step::Opening
        | Step::PublishBefore
        | Step::PublishAfter => vec![0, 1],
        _ => vec![0],
    }
}

fn every_step(work: Work) {
    let mut place = Place::new(Corpus::generated(20));
    let mut kills = 0;
    for step in Step::ALL {
        // `--reindex` neither opens nor publishes a generation.
        let is_of_server = matches!(step, Step::Opening | Step::PublishBefore | Step::PublishAfter);
        if matches!(work, Work::Reindex) && is_of_server {
            continue;
        }
        let mut at_step = 0;
        for before in befores(*step) {
            // For three kinds of work, full runs kill a process about fifty times per step.
            for round in 0..times(1, 17) {
                let then = EXPORTS[(kills + round) % EXPORTS.len()];
                let what = format!("{work:?} killed at {step:?} after {before}, exports then {then:?}");
                if !place.kill(work, *step, before) {
                    place.restart(Exports::StayNew, &what);
                    break;
                }
                place.restart(then, &what);
                at_step += 1;
            }
        }
        kills += at_step;
        assert!(at_step > 0, "{work:?} never passed {step:?}");
    }
    println!("kill: {work:?}: {kills} kills, {} generations, every restart complete", place.checker.generations());
}

#[test]
fn a_generation_is_rebuilt_after_two_starts_were_killed_while_opening_it() {
    let mut place = Place::new(Corpus::generated(20));
    // The first start opens the last good generation before the new one, which is then current.
    assert!(place.kill(Work::Start, Step::Opening, 1) && place.kill(Work::Start, Step::Opening, 0));
    let before = Store::new(&place.folder.path().join("index")).current();
    place.restart(Exports::StayNew, "killed twice");
    let after = Store::new(&place.folder.path().join("index")).current();
    assert_ne!(before.map(|of| of.folder_name()), after.map(|of| of.folder_name()));
}

#[test]
fn a_start_killed_at_any_step_is_followed_by_a_complete_start() {
    every_step(Work::Start);
}

#[test]
fn a_reload_killed_at_any_step_is_followed_by_a_complete_start() {
    every_step(Work::Reload);
}

#[test]
fn a_reindex_killed_at_any_step_is_followed_by_a_complete_start() {
    every_step(Work::Reindex);
}

#[test]
#[ignore = "slow: takes about twelve minutes; run by `make faults`"]
fn a_large_generation_killed_at_each_step_is_followed_by_a_complete_start() {
    let mut place = Place::new(Corpus::large());
    for (round, step) in Step::ALL.iter().enumerate() {
        let what = format!("the large export killed at {step:?}");
        let was_killed = place.kill(Work::Start, *step, usize::from(*step == Step::BuildProduct) * 100);
        assert!(was_killed, "{what}: it never passed the step");
        place.restart(EXPORTS[round % EXPORTS.len()], &what);
    }
    println!("kill: large: {} kills, every restart complete", Step::ALL.len());
}
