//! Followers: a directory served from another server's index files.

mod hostile;
mod pulling;
mod servers;
mod stub;

#[path = "../common/binary.rs"]
mod binary;
#[path = "../common/log.rs"]
mod log;
#[path = "../common/place.rs"]
#[allow(dead_code, reason = "each test binary uses only part of it")]
mod place;
#[path = "../common/process.rs"]
#[allow(dead_code, reason = "each test binary uses only part of it")]
mod process;
#[path = "../common/request.rs"]
mod request;
#[path = "../common/until.rs"]
mod until;
