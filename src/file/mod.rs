//! Files that are written as a whole or not at all, recognised when they change, and locked.

mod destination;
mod draft;
mod lock;
mod stamp;

pub(crate) use destination::Destination;
pub(crate) use draft::{Access, Draft, HIDDEN, Renamed, folder_of, sweep, sync_folder};
pub(crate) use lock::lock_within;
pub use stamp::FileStamp;
