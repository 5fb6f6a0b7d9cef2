//! Extractors, which get what handlers need from a request.

mod client_ip;
mod lang;
mod links;
pub(super) mod query;
mod snapshot;

pub(super) use client_ip::client_ip;
pub(super) use lang::{Lang, accepted, language_of_texts};
pub(super) use links::{PageLinks, ascii};
pub(super) use snapshot::{PathId, Served, Snapshot};
