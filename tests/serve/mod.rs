//! The binary as its users run it: what it prints, how it responds, how it follows changes, and how
//! it exits.

mod commands;
mod diff;
mod following;
mod logging;
mod matching;
mod options;
mod pages;
mod preview;
mod publish;
mod queries;
mod replica;
mod signed;
mod starting;
