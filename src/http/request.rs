//! A request under `/v1` as operations see it: the one snapshot it is answered from, and what was asked.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::http::Uri;
use percent_encoding::percent_decode_str;

use super::app::App;
use super::metrics::Metrics;
use super::params::{FromParameters, Params, RawQuery};
use super::problem::ApiError;
use super::repeated::Found;
use crate::service::Searches;
use crate::snapshot::Snapshot;

/// A request to answer. Borrowed, all of it: counters of references that two processors share cost more than a lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiRequest<'r> {
    pub(super) app: &'r App,
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) query: &'r RawQuery,
    pub(super) uri: &'r Uri,
}

/// The same, owned, for another thread.
pub(super) struct Asked {
    pub(super) app: App,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) query: RawQuery,
    pub(super) uri: Uri,
}

impl Asked {
    pub(super) fn request(&self) -> ApiRequest<'_> {
        ApiRequest { app: &self.app, snapshot: &self.snapshot, query: &self.query, uri: &self.uri }
    }
}

impl ApiRequest<'_> {
    /// The operation's parameters, read and checked.
    ///
    /// # Errors
    /// [`ApiError::Parameters`] with everything that is wrong with them.
    pub(crate) fn params<T: FromParameters>(&self) -> Result<T, ApiError> {
        Params::read(self.query)
    }

    /// The id at the end of the path, percent-decoded once and from then on only compared.
    ///
    /// # Errors
    /// Where it isn't UTF-8.
    pub(crate) fn id(&self) -> Result<String, ApiError> {
        let path = canonical_path(self.uri.path());
        let id = path.rsplit_once('/').map_or(path, |(_, id)| id);
        let decoded = percent_decode_str(id).decode_utf8().map_err(|_| {
            ApiError::BadRequest("The id in the path isn't valid UTF-8 once decoded. Percent-encode ids as UTF-8.")
        })?;
        Ok(decoded.into_owned())
    }

    /// Where what happens is counted.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.app.state().metrics
    }

    /// What was searched before.
    pub(crate) fn searches(&self) -> &Searches {
        self.app.searches()
    }

    /// The answer to this very address, if it was asked for again and again.
    pub(crate) fn repeated(&self) -> Option<Arc<Found>> {
        self.app.repeated().get(self.snapshot.generation(), self.address())
    }

    /// Remembers the answer to this address once it is asked for again.
    pub(crate) fn repeat(&self, found: &Arc<Found>) {
        self.app.repeated().keep(self.snapshot.generation(), self.address(), found);
    }

    fn address(&self) -> &str {
        self.uri.path_and_query().map_or("", |address| address.as_str())
    }

    /// The request's path as a link to itself: as the caller sees it, in ASCII, without a slash at its end.
    pub(crate) fn link_path(&self) -> String {
        let mut path = self.app.config().path_prefix().to_owned();
        for byte in canonical_path(self.uri.path()).bytes() {
            match byte {
                b'!' | b'#'..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'~' => {
                    path.push(char::from(byte));
                }
                // Writing to a string can't fail.
                _ => drop(write!(path, "%{byte:02X}")),
            }
        }
        path
    }
}

/// A path without the slash at its end: with or without it, it is the same resource.
pub(super) fn canonical_path(path: &str) -> &str {
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => path,
    }
}
