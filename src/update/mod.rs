//! Keeps a directory current: from export files, from a leader, or from a cluster.

pub mod cluster;
mod directory;
pub mod files;
pub mod leader;
mod reload;

pub use directory::{Degraded, Directory, RECORDS_SKIPPED};
pub use reload::{Reload, ReloadOutcome, ReloadStatus};
