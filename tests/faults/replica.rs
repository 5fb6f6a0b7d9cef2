//! A replica under load while another tool copies generations into its index folder.

use std::fs;
use std::path::Path;

use crate::common::index_copy::{copy_index, copy_pointer};
use crate::common::place::Place;
use crate::common::process::{Server, run};
use crate::corpus::Corpus;
use crate::load::Target;
use crate::scale::times;

/// Builds in another process, because other tests make builds in this one fail.
fn reindex(folder: &Path) {
    let built = run(folder, &["--reindex"]);
    assert!(built.status.success(), "{built:?}");
}

/// Copies a builder's current generation, either with `CURRENT` last or, as a careless tool would,
/// first.
fn copy(from: &Path, to: &Path, is_pointer_last: bool) {
    if !is_pointer_last {
        copy_pointer(from, to);
    }
    copy_index(from, to);
    // As with `rsync --delete`, only the current generation remains.
    let current = fs::read_to_string(to.join("CURRENT")).expect("a name");
    for entry in fs::read_dir(to).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with(current.trim()) {
            fs::remove_dir_all(path).expect("removed");
        }
    }
}

#[test]
fn copies_under_load_never_mix_generations_or_reject_requests() {
    let target = Target::started_by(Corpus::generated(times(200, 2000)), |folder| {
        let place = Place::at(folder);
        reindex(folder);
        fs::create_dir(folder.join("copy")).expect("a folder");
        copy(&place.index(), &folder.join("copy"), true);
        Server::start(folder, &["--data", "none", "--index", "copy"])
    });
    let place = Place::at(target.folder.path());
    let copies = times(4, 200);
    let (seen, ()) = target.ask_during(Some(50.0), || {
        for revision in 1..=copies {
            target.corpus.write(&target.data(), revision);
            reindex(target.folder.path());
            copy(&place.index(), &target.folder.path().join("copy"), revision.is_multiple_of(2));
            // A build may take longer than the server keeps an idle connection open.
            target.await_revision(&mut target.client(), revision);
        }
    });
    println!("replica: {copies} copies under load: {}", seen.summary());
    assert_eq!(seen.faults.first(), None, "{} faults", seen.faults.len());
    assert!(target.checker.generations() >= copies, "{} generations", target.checker.generations());
}
