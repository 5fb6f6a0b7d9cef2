//! Files that are replaced atomically, opened without following links, checked for changes, and
//! locked.

mod destination;
mod draft;
mod lock;
mod open;
mod stamp;

pub(crate) use destination::Destination;
pub(crate) use draft::{Access, Draft, HIDDEN, Renamed, folder_of, sweep, sync_folder};
pub(crate) use lock::{lock_beside, lock_path, lock_within};
pub(crate) use open::{link_in, open, open_in};
pub use stamp::FileStamp;
