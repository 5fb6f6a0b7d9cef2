//! Why a catalogue couldn't be built.

use std::io;

use super::MAX_ORDINAL;
use super::collate::CollationError;

#[derive(Debug, thiserror::Error)]
pub enum CatalogueBuildError {
    /// Names couldn't be sorted.
    #[error(transparent)]
    Collation(#[from] CollationError),
    #[error("a record can't be written as JSON")]
    Json(#[from] serde_json::Error),
    #[error("a scratch file in the index folder can't be used")]
    Scratch(#[source] io::Error),
    #[error("a product can't be compressed")]
    Product(#[source] io::Error),
    #[error("an export can't be compressed")]
    Compress(#[source] io::Error),
    #[error("the catalogue's tables can't be encoded")]
    Encode(#[from] postcard::Error),
    #[error("a directory can have at most {} products", MAX_ORDINAL)]
    TooMany,
}
