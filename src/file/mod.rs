//! Files that are written as a whole or not at all, recognised when they change, and locked.

mod draft;
mod lock;
mod stamp;

pub(crate) use draft::{Access, Draft, HIDDEN, RANDOM_LENGTH, Renamed, SUFFIX, folder_of, sync_folder};
pub(crate) use lock::lock_within;
pub use stamp::FileStamp;
