//! The binary as its users run it: what it prints, how it responds, how it follows changes, and how
//! it exits.

#[path = "../common/binary.rs"]
mod binary;
mod commands;
mod diff;
mod following;
#[path = "../common/index_copy.rs"]
mod index_copy;
#[path = "../common/log.rs"]
mod log;
mod logging;
mod options;
mod pages;
mod preview;
#[path = "../common/process.rs"]
mod process;
mod publish;
mod queries;
mod replica;
mod signed;
mod starting;

#[path = "../common/request.rs"]
mod request;
#[path = "../common/until.rs"]
mod until;
