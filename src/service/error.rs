//! Errors from operations.

use std::io;

use crate::catalogue::DamagedText;
use crate::engine::EngineError;

/// A failure that isn't the caller's fault.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Text(#[from] DamagedText),
    #[error("scores can't be explained with this search index: only the embedded engine can explain them")]
    NotExplained,
    /// Only commands return this; HTTP and tools reject the parameter instead.
    #[error("the query has {characters} characters; the maximum is {most}")]
    QueryTooLong { characters: usize, most: usize },
    #[error("a product's JSON can't be read or written")]
    Json(#[from] serde_json::Error),
    #[error("an export can't be read")]
    Export(#[source] io::Error),
}

impl From<io::Error> for ServiceError {
    /// If reading an export failed in an engine, unwraps the engine's error.
    fn from(error: io::Error) -> Self {
        match error.downcast::<EngineError>() {
            Ok(error) => Self::Engine(error),
            Err(error) => Self::Export(error),
        }
    }
}

impl ServiceError {
    /// Whether the index is currently unavailable.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Unavailable(_)))
    }

    pub fn is_overload(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Overloaded(_)))
    }
}
