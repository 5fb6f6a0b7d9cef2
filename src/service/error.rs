//! The failures of operations.

use std::io;

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
    #[error("the search index can't be explained: only the embedded engine explains scores")]
    NotExplained,
    #[error("a product's JSON can't be read or written")]
    Json(#[from] serde_json::Error),
    #[error("an export can't be read")]
    Export(#[source] io::Error),
}

impl From<io::Error> for ServiceError {
    /// The error of reading an export, which may be in an engine's hands.
    fn from(error: io::Error) -> Self {
        match error.downcast::<EngineError>() {
            Ok(error) => Self::Engine(error),
            Err(error) => Self::Export(error),
        }
    }
}

impl ServiceError {
    /// Whether the index can't be read at present.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Unavailable(_)))
    }

    /// Whether there are too many requests at once.
    pub fn is_overload(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Overloaded(_)))
    }
}
