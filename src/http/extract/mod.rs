//! Extractors, which get what handlers need from a request.

mod client_ip;
mod links;
pub(super) mod query;
mod snapshot;

pub(super) use client_ip::client_ip;
pub(super) use links::{MaxOffset, PageLinks};
pub(super) use query::{Lang, PathId, Preferred, accepted};
pub(super) use snapshot::{DownloadRequest, Served, Snapshot};
