//! The binary as its users run it: what it prints, answers, follows and exits with.

mod commands;
mod following;
mod logging;
mod process;
mod starting;

#[path = "../until/mod.rs"]
mod until;
