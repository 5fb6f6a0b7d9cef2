//! Generations in the index folder, opened.

use std::sync::Arc;

use crate::error::chain;
use crate::generation::artifact::is_download;
use crate::generation::store::{Manifest, Store, StoreError};
use crate::generation::{BuildFailure, FailureCode, Snapshot};

/// The memory that a generation takes while it is loaded, decoded tables included, in bytes of its parts.
const LOADING_FACTOR: u64 = 2;

/// Loads a generation and checks every byte of it.
pub(super) fn load(store: &Store, manifest: &Manifest) -> Result<Arc<Snapshot>, BuildFailure> {
    let unreadable = |error: &StoreError| {
        BuildFailure::transient(FailureCode::BuildFailed, format!("the generation can't be loaded: {}", chain(error)))
    };
    // Memory that runs out while tables are decoded would end the process; here it is a failure like others.
    let in_memory = manifest.parts.iter().filter(|part| !is_download(&part.name));
    let bytes = in_memory.map(|part| part.size).sum::<u64>().saturating_mul(LOADING_FACTOR);
    if usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        let detail = format!("the generation can't be loaded: there aren't {} MiB of memory for it", bytes >> 20);
        return Err(BuildFailure::transient(FailureCode::BuildFailed, detail));
    }
    BuildFailure::catch(|| {
        let artifact = store.load(manifest).map_err(|error| unreadable(&error))?;
        Ok(Snapshot::open_skipping(manifest.generation.clone(), artifact, manifest.skipped)?)
    })
}

/// The first generation that can be loaded and that `may_serve` allows: the current one, then the others from the newest on.
pub(super) fn load_any(store: &Store, may_serve: impl Fn(&Manifest) -> bool) -> Option<(Arc<Snapshot>, Manifest)> {
    store.candidates().into_iter().filter(may_serve).find_map(|manifest| match load(store, &manifest) {
        Ok(snapshot) => Some((snapshot, manifest)),
        Err(failure) => {
            tracing::warn!("a generation on disk can't be used: {failure}");
            None
        }
    })
}
