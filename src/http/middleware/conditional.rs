//! Conditional requests: `ETag`, `If-None-Match` and 304.

use std::ops::ControlFlow;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LINK,
};
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;

use super::around::Middleware;
use super::content_hash::ContentHash;
use super::route::{FEED, is_software, matched_route, path_id};
use crate::http::content_coding::Coding;
use crate::http::entity_tag::{Condition, EntityTag, EntityTags};
use crate::http::extract::Snapshot;
use crate::http::extract::query::RawQuery;
use crate::service::{Resource, content_hash};

/// Tags successful responses by build, content and request, and answers 304 for a tag that the caller has. The content is that of
/// the record, or of the whole generation for lists and searches of products.
#[derive(Debug, Clone)]
pub(in crate::http) struct Conditional(pub(in crate::http) EntityTags);

/// How a response is tagged.
pub(in crate::http) enum Tagging {
    Tag(EntityTag),
    /// By the [`ContentHash`] that comes with it; this is the request's URI.
    ContentHash(Uri),
}

impl Middleware for Conditional {
    /// `None` for a request that isn't conditional: another method.
    type Context = Option<(Tagging, Condition)>;

    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Self::Context> {
        let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
        let snapshot = request.extensions().get::<Snapshot>().filter(|_| is_get);
        let Some(snapshot) = snapshot else { return ControlFlow::Continue(None) };
        let tag = if is_software(request) {
            request.extensions().get().map(|hash| self.by_content_hash(*hash, request.uri()))
        } else {
            Some(self.tag(request, snapshot))
        };
        let Some(tag) = tag else {
            return ControlFlow::Continue(Some((Tagging::ContentHash(request.uri().clone()), Condition::Changed)));
        };
        if tag.is_strong() {
            // A download compares it with `If-Range`.
            request.extensions_mut().insert(tag.clone());
        }
        match tag.condition(request.headers()) {
            Condition::Unchanged => {
                let mut response = Response::default();
                not_modified(&mut response);
                response.headers_mut().insert(ETAG, tag.header());
                ControlFlow::Break(response)
            }
            condition => ControlFlow::Continue(Some((Tagging::Tag(tag), condition))),
        }
    }

    fn on_response(&self, context: Self::Context, response: &mut Response) {
        let is_tagged = matches!(response.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT);
        let Some((tagging, condition)) = context.filter(|_| is_tagged) else { return };
        let tag = match tagging {
            Tagging::Tag(tag) => Some(tag),
            Tagging::ContentHash(uri) => response.extensions().get().map(|hash| self.by_content_hash(*hash, &uri)),
        };
        if condition == Condition::AnyVersion {
            not_modified(response);
        }
        response.headers_mut().extend(tag.map(|tag| (ETAG, tag.header())));
    }
}

impl Conditional {
    fn by_content_hash(&self, ContentHash(hash): ContentHash, uri: &Uri) -> EntityTag {
        self.0.tag(&hash.to_be_bytes(), uri.path(), &RawQuery::parse(uri.query().unwrap_or_default()))
    }

    fn tag(&self, request: &Request, snapshot: &Snapshot) -> EntityTag {
        let (path, query) = (request.uri().path(), RawQuery::parse(request.uri().query().unwrap_or_default()));
        let resource = resource(request);
        let content = resource.as_ref().and_then(|resource| content_hash(snapshot, resource));
        let (Some(resource), Some(content)) = (resource, content) else {
            return self.0.tag(snapshot.generation().as_bytes(), path, &query);
        };
        let content = content.to_be_bytes();
        if !matches!(resource, Resource::Export(_)) {
            return self.0.tag(&content, path, &query);
        }
        // An export is sent as it is stored, so each of its codings has a tag of its own.
        let coding = Coding::preferred(request.headers(), &[Coding::Zstd]);
        let version = [&content[..], coding.map_or("", Coding::name).as_bytes()].concat();
        self.0.tag(&version, path, &query).strong()
    }
}

/// The resource that a request is for, if its content has a hash of its own.
fn resource(request: &Request) -> Option<Resource<'_>> {
    Some(match matched_route(request)?.as_str() {
        "/v1/categories" => Resource::Categories,
        "/v1/categories/{id}" => Resource::Category(path_id(request)?),
        "/v1/glossary" => Resource::Glossary,
        "/v1/glossary/{id}" => Resource::Term(path_id(request)?),
        "/v1/exports/{id}" => Resource::Export(path_id(request)?),
        "/v1/changes" | FEED => Resource::Changes,
        _ => return None,
    })
}

/// Makes a response a 304, which has no body and describes none.
fn not_modified(response: &mut Response) {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.body_mut() = Body::empty();
    for header in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_DISPOSITION, CONTENT_RANGE, LINK] {
        response.headers_mut().remove(header);
    }
}
