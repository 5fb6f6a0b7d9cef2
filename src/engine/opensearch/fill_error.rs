//! Errors of a fill.

use std::io;

use crate::engine::EngineError;

/// Why indices can't be filled.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The cluster refuses or doesn't respond.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("a scratch file can't be used")]
    Scratch(#[source] io::Error),
}
