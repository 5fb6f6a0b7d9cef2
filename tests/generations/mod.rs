//! Generations throughout their life: built, persisted, loaded again, updated, withheld, damaged
//! and repaired.
//!
//! The updater and the store are driven directly, so nothing here waits for time to pass.

mod catalogue;
mod changes;
mod copied;
mod damage;
mod feeds;
mod history;
mod listing;
mod log;
mod memory;
mod name;
mod reloads;
mod restart;
mod skipping;
mod store;
mod takeover;
mod withheld;
