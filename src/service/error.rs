//! The failures of operations.

use crate::catalogue::DamagedText;
use crate::engine::EngineError;

/// A failure of an operation that isn't the caller's.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The engine could not carry out the query.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A product's stored text is damaged.
    #[error(transparent)]
    Text(#[from] DamagedText),
    /// A product's JSON could not be read or written.
    #[error("a product's JSON can't be read or written")]
    Json(#[from] serde_json::Error),
}
