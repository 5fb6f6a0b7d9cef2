//! Errors while filling indices.

use std::io;

use crate::engine::EngineError;

#[derive(Debug, thiserror::Error)]
pub enum FillError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("a scratch file can't be used")]
    Scratch(#[source] io::Error),
}
