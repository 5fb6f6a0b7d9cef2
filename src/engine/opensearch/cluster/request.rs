//! Requests to a cluster, and its responses.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::de::DeserializeOwned;

use super::ClusterError;

/// Bytes that must be encoded in a URL's path, except `%`, because the caller may have already
/// encoded a segment.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|');

#[derive(Debug, Clone)]
pub struct ClusterRequest {
    pub(super) method: Method,
    /// The encoded path, with a leading slash.
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
    pub(super) content_type: &'static str,
    /// Whether sending the request twice has the same effect as sending it once.
    pub(super) is_idempotent: bool,
    /// Whether the request reads shards. If so, it prefers copies on nodes that are answering.
    pub(super) reads_shards: bool,
    pub(super) timeout: Option<Duration>,
}

impl ClusterRequest {
    /// A request without a body. The path is `/index/_doc/id`; a segment that contains a slash must
    /// be encoded. All methods but POST are idempotent.
    pub fn new(method: Method, path: &str) -> Self {
        let is_idempotent = method != Method::POST;
        Self {
            method,
            path: format!("/{}", utf8_percent_encode(path.trim_start_matches('/'), ESCAPED)),
            query: Vec::new(),
            body: Bytes::new(),
            content_type: "application/json",
            is_idempotent,
            reads_shards: false,
            timeout: None,
        }
    }

    /// A GET request.
    pub fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    /// A PUT request with a JSON document.
    pub fn put(path: &str, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..Self::new(Method::PUT, path) }
    }

    /// A POST request with a JSON document. It's never retried.
    pub fn post(path: &str, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..Self::new(Method::POST, path) }
    }

    /// A DELETE request.
    pub fn delete(path: &str) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// A read of a document, `/index/_doc/id` or `/index/_source/id`. It prefers copies on nodes
    /// that are answering.
    pub fn document(path: &str) -> Self {
        Self { reads_shards: true, ..Self::get(path) }
    }

    /// A search, such as `/index/_search` or `/_msearch`. It prefers shards on nodes that are
    /// answering, is retried on another node, and treats a missing shard as an error instead of
    /// returning fewer hits.
    pub fn search(path: &str, body: impl Into<Bytes>) -> Self {
        let request = Self { reads_shards: true, is_idempotent: true, ..Self::post(path, body) };
        request.query("allow_partial_search_results", "false")
    }

    /// A bulk request, as lines of JSON. We choose the documents' ids, so it may be retried on
    /// another node.
    pub fn bulk(path: &str, body: impl Into<Bytes>) -> Self {
        Self { content_type: "application/x-ndjson", is_idempotent: true, ..Self::post(path, body) }
    }

    /// Adds a parameter and encodes it.
    #[must_use]
    pub fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// Sets the time limit for the request and its retry; overrides the settings.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Disables the retry. Meant for a compare-and-set, which can't succeed twice.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.is_idempotent = false;
        self
    }

    /// The path and parameters, with the nodes to prefer.
    pub(super) fn target(&self, prefix: &str, preferred: Option<&str>) -> String {
        let mut target = format!("{prefix}{}", self.path);
        if !self.query.is_empty() || preferred.is_some() {
            target.push('?');
            let at = target.len();
            let mut query = form_urlencoded::Serializer::for_suffix(target, at);
            query.extend_pairs(&self.query);
            if let Some(ids) = preferred {
                query.append_pair("preference", &format!("_prefer_nodes:{ids}"));
            }
            target = query.finish();
        }
        target
    }
}

/// A successful response.
#[derive(Debug, Clone)]
pub struct ClusterResponse {
    /// The status, which is always 2xx.
    pub status: StatusCode,
    pub body: Bytes,
    pub node: String,
}

impl ClusterResponse {
    /// Reads the body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ClusterError> {
        serde_json::from_slice(&self.body).map_err(|source| ClusterError::InvalidResponse {
            node: self.node.clone(),
            what: "its JSON doesn't have the expected structure".to_owned(),
            source: Some(Box::new(source)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_consists_of_the_prefix_the_encoded_path_and_all_parameters() {
        let request = ClusterRequest::get("/a b/_doc/x%2Fy?z").query("q", "c&d");
        assert_eq!(request.target("", None), "/a%20b/_doc/x%2Fy%3Fz?q=c%26d");
        let search = ClusterRequest::search("i/_search", "{}");
        assert_eq!(
            search.target("/p", Some("N1,N2")),
            "/p/i/_search?allow_partial_search_results=false&preference=_prefer_nodes%3AN1%2CN2"
        );
        assert_eq!(ClusterRequest::get("").target("", None), "/");
    }

    #[test]
    fn only_requests_that_are_safe_to_repeat_are_idempotent() {
        for request in [ClusterRequest::get("a"), ClusterRequest::put("a", ""), ClusterRequest::bulk("_bulk", "")] {
            assert!(request.is_idempotent && !request.clone().once().is_idempotent, "{request:?}");
        }
        assert!(!ClusterRequest::post("a", "").is_idempotent);
        assert!(ClusterRequest::search("a", "").is_idempotent);
    }
}
