//! Opens generations in the index folder.

use std::sync::Arc;
use std::thread;

use crate::error::chain;
use crate::generation::artifact::is_download;
use crate::generation::store::{MAX_DEATHS, Manifest, Store, StoreError};
use crate::generation::{BuildFailure, FailureCode, Generation, Snapshot};
use crate::panics::ScopedThread;
use crate::update::state::{About, Problem};

/// How much memory it takes to load a generation, including decoded tables, as a multiple of the
/// size of its parts.
const LOADING_FACTOR: u64 = 2;

/// The problem to report if the current generation is skipped at startup, because processes died
/// while opening it.
pub(super) fn skipped(store: &Store) -> Option<Problem> {
    let manifest = store.current().filter(|current| is_deadly(store, current))?;
    let detail = format!(
        "{} processes died while opening generation {}, so another one is being served until it's time to retry this one",
        store.deaths(&manifest.generation),
        manifest.generation
    );
    let log = format!("not opening the current generation: {detail}");
    Some(Problem::new(About::Index, "generation_skipped", detail, Some(log)))
}

fn is_deadly(store: &Store, manifest: &Manifest) -> bool {
    store.deaths(&manifest.generation) >= MAX_DEATHS
}

/// Whether a generation may be opened. A process that's already serving another one makes one more
/// attempt than a process that's starting up.
pub(super) fn may_open(store: &Store, generation: &Generation) -> Result<(), BuildFailure> {
    let deaths = store.deaths(generation);
    if deaths <= MAX_DEATHS {
        return Ok(());
    }
    let detail = format!("not opening generation {generation}: {deaths} processes died opening it");
    Err(BuildFailure::transient(FailureCode::BuildFailed, detail))
}

/// Loads a generation and checks every byte of it.
pub(super) fn load(store: &Store, manifest: &Manifest) -> Result<Arc<Snapshot>, BuildFailure> {
    let unreadable = |error: &StoreError| {
        BuildFailure::transient(FailureCode::BuildFailed, format!("the generation can't be loaded: {}", chain(error)))
    };
    may_open(store, &manifest.generation)?;
    let _opening = store.mark_opening(&manifest.generation);
    // If memory ran out while decoding tables, the process would die. Here it's a failure like any
    // other.
    let in_memory = manifest.parts.iter().filter(|part| !is_download(&part.name));
    let bytes = in_memory.map(|part| part.size).sum::<u64>().saturating_mul(LOADING_FACTOR);
    if usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        let detail = format!("the generation can't be loaded: it needs {} MiB of memory", bytes >> 20);
        return Err(BuildFailure::transient(FailureCode::BuildFailed, detail));
    }
    let open = || -> Result<_, BuildFailure> {
        let artifact = store.load(manifest).map_err(|error| unreadable(&error))?;
        Ok(Snapshot::open(manifest.generation.clone(), artifact, manifest.skipped)?)
    };
    BuildFailure::catch(|| {
        // Use a separate thread, because the memory that a thread frees is returned to the system
        // once the thread ends. The updater's thread would hold on to the bytes of the parts.
        let snapshot = thread::scope(|scope| ScopedThread::spawn(scope, "open", open).map(ScopedThread::join));
        let snapshot = snapshot.map_err(|error| {
            BuildFailure::transient(
                FailureCode::BuildFailed,
                format!("a thread to open the generation can't be started: {error}"),
            )
        })??;
        store.forget_deaths(&manifest.generation);
        Ok(snapshot)
    })
}

/// The first generation that can be loaded, hasn't crashed processes opening it, and is allowed by
/// `may_serve`. The current one is tried first, then the others, newest first.
pub(super) fn load_any(store: &Store, may_serve: impl Fn(&Manifest) -> bool) -> Option<(Arc<Snapshot>, Manifest)> {
    let mut candidates =
        store.candidates().into_iter().filter(|manifest| !is_deadly(store, manifest)).filter(may_serve);
    candidates.find_map(|manifest| match load(store, &manifest) {
        Ok(snapshot) => Some((snapshot, manifest)),
        Err(failure) => {
            tracing::warn!("a generation on disk can't be used: {failure}");
            None
        }
    })
}
