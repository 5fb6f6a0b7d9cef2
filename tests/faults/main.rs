//! Faults around a generation: kills, damage, failing disks, exports in every state, reloads under
//! load.
//!
//! `make test` runs a few repetitions of each, and `make faults` runs all of them (`FAULTS=full`).
//! `FAULTS_EXPORT` names a large export; without it, the large case is generated. The tests drive
//! the updater and the store directly if possible. They run the binary if a process has to die, be
//! measured, or receive requests over the network.

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

#[path = "../common/binary.rs"]
mod binary;
#[path = "../common/index_copy.rs"]
mod index_copy;
#[path = "../common/log.rs"]
mod log;
#[allow(dead_code, reason = "shared with tests/generations")]
#[path = "../common/place.rs"]
mod place;
#[allow(dead_code, reason = "shared with tests/serve")]
#[path = "../common/process.rs"]
mod process;
#[path = "../common/request.rs"]
mod request;
#[path = "../common/until.rs"]
mod until;
