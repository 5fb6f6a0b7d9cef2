//! A directory in an OpenSearch cluster, in OpenSearch's own form: a second implementation of the
//! service's operations, which knows nothing of the embedded engine.
//!
//! `--reindex` ([`Update`]) writes one document per product to an index with analyzers, keywords and
//! a readable `_source`, and sends only what has changed. Servers ([`Index`]) keep what's small in
//! memory (categories, the glossary, attributes, exports, the change log) and ask the cluster for
//! everything else. `docs/opensearch.md` lists all differences from the embedded engine.

mod bulk;
mod connection;
mod document;
mod error;
mod filter;
mod form;
mod index;
mod operations;
mod query;
mod response;
mod search;
mod update;

use crate::catalogue::{CatalogueBuildError, CatalogueError, CollationError};
use crate::scratch::ScratchError;
use crate::service::{MAX_QUERY_OFFSET, ServiceError};

pub use connection::{Connection, Credentials, Settings};
pub use error::{ClusterError, ErrorKind, SettingsError};
pub use form::{IndexPrefix, IndexPrefixError};
pub use index::{Directory, Index, Status, View};
pub use update::{Update, Updated};

/// Why something couldn't be read from a cluster, or written to it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operation, or the parameter's effect, exists only with the embedded engine.
    #[error("a directory in OpenSearch doesn't offer {0}")]
    NotOffered(&'static str),
    #[error("a list in OpenSearch has offsets up to {MAX_QUERY_OFFSET}")]
    OffsetTooLarge,
    #[error("nothing has been published in the cluster; run --reindex with the same --engine options")]
    NothingPublished,
    #[error("a document in {index} can't be read; run --reindex with this version of the program")]
    Document {
        index: String,
        #[source]
        source: serde_json::Error,
    },
    #[error(
        "the exports would remove {removed} of {of} products, more than {max_percent} per cent; confirm this with --max-removed \
         100, or restore the records"
    )]
    Removes { removed: u64, of: u64, max_percent: u8 },
    #[error("another --reindex has started since and takes over; if it fails, run this one again")]
    Overtaken,
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error(transparent)]
    Build(#[from] CatalogueBuildError),
    #[error(transparent)]
    Collation(#[from] CollationError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Service(error.into())
    }
}
