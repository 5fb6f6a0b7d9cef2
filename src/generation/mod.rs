//! A generation is one complete version of the directory: it's built as a whole, checked, persisted
//! and opened.

pub mod artifact;
mod build;
pub mod builder;
mod change;
pub mod failpoint;
mod failure;
mod log;
mod losses;
mod meaning;
mod merged;
mod name;
mod news;
mod observer;
pub mod process;
mod settings;
mod snapshot;
pub mod source;
pub mod stamp;
pub mod store;
mod versions;

pub use artifact::Artifact;
pub use build::{BuildError, Processors, build};
pub use change::Change;
pub use failure::{BuildFailure, FailureCode};
pub use log::{ChangeLog, ProductChange, Step};
pub use meaning::MeaningOption;
pub use merged::{ChangesSince, MergedChanges};
pub use name::{Generation, INDEX_FORMAT};
pub use news::{MAX_NEWS, NewsIndex, NewsKind};
pub use observer::{Observer, Phase, RenderedReport, Unobserved};
pub use settings::Settings;
pub use snapshot::{OpenError, Snapshot, open_catalogue};
