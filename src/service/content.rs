//! Content hashes of in-memory resources. They change only with the resource itself, not with the
//! generation.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

use super::{get_category, get_term};
use crate::generation::Snapshot;

/// A resource with its own content hash. [`get_software_hash`](super::get_software_hash) returns a
/// product's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource<'a> {
    Category(Cow<'a, str>),
    Categories,
    Term(Cow<'a, str>),
    Glossary,
    /// The change log up to the current generation.
    Changes,
    Export(Cow<'a, str>),
}

/// Hashes a resource's content. Returns `None` if it doesn't exist.
pub fn content_hash(snapshot: &Snapshot, resource: &Resource<'_>) -> Option<u64> {
    let catalogue = &snapshot.catalogue;
    let hash = |bytes: &[u8]| FixedState::default().hash_one(bytes);
    match resource {
        Resource::Category(id) => get_category(snapshot, id).map(|object| hash(&object)),
        Resource::Categories => Some(catalogue.categories_hash()),
        Resource::Term(id) => get_term(snapshot, id).map(|object| hash(&object)),
        Resource::Glossary => Some(catalogue.glossary_hash()),
        // Generations can come back, but then the log differs.
        Resource::Changes => {
            let log = [snapshot.generation(), snapshot.changes.changed_at()];
            Some(FixedState::default().hash_one(log))
        }
        Resource::Export(id) => catalogue.export(id).map(|export| hash(export.resource.sha256.as_bytes())),
    }
}
