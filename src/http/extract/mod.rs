//! Extractors, which get what handlers need from a request.

mod client_ip;
mod download;
mod lang;
mod links;
mod path_id;
pub(super) mod query;
mod snapshot;

pub(super) use client_ip::client_ip;
pub(super) use download::DownloadRequest;
pub(super) use lang::{Lang, Preferred, accepted, language_of_texts};
pub(super) use links::{MaxOffset, PageLinks, ascii};
pub(super) use path_id::PathId;
pub(super) use snapshot::{Served, Snapshot};
