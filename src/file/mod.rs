//! Files and folders that are replaced atomically, opened without following links, checked for changes, and
//! locked.

mod draft;
mod folder;
mod open;

pub(crate) use draft::{Access, Destination, Draft, HIDDEN, Renamed, folder_of, sweep, sync_folder};
pub(crate) use folder::FolderDraft;
pub use open::FileStamp;
pub(crate) use open::{link_in, lock_beside, lock_path, lock_within, open, open_in};
