//! Keys through the public interface: the key file, the store that follows it, and the command
//! line.

mod cli;
mod file;
mod healthcheck;
mod sessions;
mod store;

use std::path::PathBuf;

use jiff::Timestamp;
use software_directory::key::Rate;
use software_directory::key::file::NewKey;
use tempfile::TempDir;

/// A temporary folder, and the path of a key file in it that doesn't exist yet.
fn key_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    (folder, path)
}

fn named(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), expires: None, rate: Rate::DEFAULT, origins: Vec::new() }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn now() -> Timestamp {
    at("2026-06-15T12:00:00Z")
}
