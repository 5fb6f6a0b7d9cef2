//! Errors from operations.

use std::io;

use crate::catalogue::DamagedText;
use crate::index::IndexError;

/// A failure that isn't the caller's fault.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Text(#[from] DamagedText),
    /// Only commands return this; HTTP and tools reject the parameter instead.
    #[error("the query has {characters} characters; the maximum is {most}")]
    QueryTooLong { characters: usize, most: usize },
    #[error("a product's JSON can't be read or written")]
    Json(#[from] serde_json::Error),
    #[error("an export can't be read")]
    Export(#[from] io::Error),
}
