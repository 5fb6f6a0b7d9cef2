//! Faults around a generation: kills, damage, failing disks, exports in every state, reloads under
//! load.
//!
//! `make test` runs a few repetitions of each, and `make faults` runs all of them (`FAULTS=full`).
//! `FAULTS_EXPORT` names a large export; without it, the large case is generated. The tests drive
//! the updater and the store directly if possible. They run the binary if a process has to die, be
//! measured, or receive requests over the network.

#[path = "../common/mod.rs"]
mod common;

mod building;
mod checker;
mod client;
mod corpus;
mod damage;
mod exports;
mod kill;
mod load;
mod onslaught;
mod panics;
mod refused;
mod replica;
mod scale;
mod soak;
mod storm;
mod system;
mod watched;
