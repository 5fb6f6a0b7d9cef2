//! Content hashes of resources that are in memory: they change with the resource alone, and not with the generation.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

use super::{get_category, get_term};
use crate::generation::Snapshot;

/// A resource with a content hash of its own. A product's is read by [`get_software_hash`](super::get_software_hash).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource<'a> {
    Category(Cow<'a, str>),
    Categories,
    /// A glossary term.
    Term(Cow<'a, str>),
    /// The whole glossary.
    Glossary,
    /// The log of changes up to a generation.
    Changes,
    /// The document of an export.
    Export(Cow<'a, str>),
}

/// A hash of a resource's content; `None` for one that doesn't exist.
pub fn content_hash(snapshot: &Snapshot, resource: &Resource<'_>) -> Option<u64> {
    let catalogue = &snapshot.catalogue;
    let hash = |bytes: &[u8]| FixedState::default().hash_one(bytes);
    match resource {
        Resource::Category(id) => get_category(snapshot, id).map(|object| hash(&object)),
        Resource::Categories => Some(catalogue.categories_hash()),
        Resource::Term(id) => get_term(snapshot, id).map(|object| hash(&object)),
        Resource::Glossary => Some(catalogue.glossary_hash()),
        // A generation that comes back has another log.
        Resource::Changes => {
            let log = [snapshot.generation(), snapshot.changes.changed_at()];
            Some(FixedState::default().hash_one(log))
        }
        Resource::Export(id) => catalogue.export(id).map(|export| hash(export.resource.sha256.as_bytes())),
    }
}
