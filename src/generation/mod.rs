//! A generation is one complete version of the directory: it's built as a whole, checked, persisted
//! and opened.

pub mod artifact;
mod build;
pub mod builder;
mod change;
pub mod failpoint;
mod failure;
mod history;
mod log;
mod merged;
mod name;
mod observer;
mod past;
pub mod process;
mod snapshot;
pub mod source;
pub mod store;

pub use artifact::Artifact;
pub use build::{BuildError, Processors, build};
pub use change::Change;
pub use failure::{BuildFailure, FailureCode};
pub use history::{ChangeDetails, PropertyChange};
pub use log::{ChangeLog, LogStep, ProductChange};
pub use merged::{ChangesSince, MergedChanges};
pub use name::{Generation, INDEX_FORMAT, MeaningOption};
pub use observer::{Observer, Phase, RenderedReport, Unobserved};
pub use process::Settings;
pub use snapshot::{OpenError, Past, Snapshot, Transition, open_catalogue};
