//! Why a generation couldn't be built in a cluster.

use crate::catalogue::CatalogueBuildError;
use crate::engine::opensearch::PublishError;
use crate::engine::opensearch::cluster::ClusterError;
use crate::engine::{self, EngineError};
use crate::generation::BuildError;
use crate::scratch::{Scratch, ScratchError};

/// Why a generation couldn't be built in a cluster, or published.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The parts couldn't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A scratch file couldn't be written or read.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The cluster refused a request or didn't respond.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The cluster refused a request or didn't respond.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("the generation can't be published")]
    Publish(#[from] PublishError),
}

impl FillError {
    pub(super) fn build(error: BuildError, scratch: &Scratch) -> Self {
        match error {
            BuildError::Catalogue(CatalogueBuildError::Scratch(error)) => scratch.error(error).into(),
            error => error.into(),
        }
    }

    pub(super) fn engine(error: engine::FillError, scratch: &Scratch) -> Self {
        match error {
            engine::FillError::Scratch(error) => scratch.error(error).into(),
            engine::FillError::Engine(error) => error.into(),
        }
    }
}
