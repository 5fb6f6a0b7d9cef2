//! Generations through their whole life: built, persisted, loaded again, followed, held back, damaged and mended.
//!
//! Keeper and store are driven directly, so nothing here waits for time to pass.

mod changes;
mod place;
mod restart;
