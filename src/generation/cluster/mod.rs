//! Generations in a cluster. `--reindex` builds and publishes them, and servers follow them.

mod error;
mod fill;
mod merge;
mod open;

pub use error::FillError;
pub use fill::{Filler, published_already};
pub use merge::MergedSet;
pub use open::{OpenRemoteError, open};

/// The format of the parts that servers read. Incremented whenever older programs wouldn't be able
/// to read them.
pub const PARTS_FORMAT: u32 = 5;
