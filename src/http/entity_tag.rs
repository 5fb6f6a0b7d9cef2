//! Entity tags and conditional requests (RFC 9110, 8.8.3 and 13.1).
//!
//! A tag is a hash of everything that determines a response: the build, the request, and what the
//! route shows, which its [`TagKind`] describes.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hash, Hasher};

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, LINK,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use foldhash::quality::FixedState;
use percent_encoding::percent_decode_str;

use super::content_coding::Coding;
use super::extract::{Served, Snapshot, language_of_texts};
use super::middleware::RequestContext;
use super::pages::evidence::today;
use super::pages::language::PageLanguage;
use super::problem::ApiError;
use crate::service::{self, parameter::definition::LANG};

/// What a route's responses show, which is what their entity tags are computed from. A single
/// record is identified by the id at the end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagKind {
    /// Any part of the generation.
    Generation,
    Software,
    Category,
    Term,
    /// An export's document. It's sent as stored, so each of its codings has a strong tag.
    Export,
    Categories,
    Glossary,
    /// The change log up to the generation.
    Changes,
    /// A page: the generation and its log, in given languages and on a given day, because evidence
    /// ages.
    Page,
}

/// An opaque entity tag. It's weak because a response may be sent in several codings;
/// [`strong`](Self::strong) turns it into the tag of a single coding.
#[derive(Debug, Clone)]
pub(super) struct EntityTag(HeaderValue);

/// Computes entity tags for one build.
#[derive(Debug, Clone)]
pub(super) struct EntityTags {
    /// Not a cryptographic hash, since tags don't protect anything. The algorithm may change with
    /// the crate's version, but then the build, which is part of the tag, changes as well.
    build: FixedState,
}

/// The result of comparing `If-None-Match` with an entity tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// The caller doesn't have the response.
    Changed,
    /// The caller already has this response. Tags are only sent with a 200, so the request would
    /// succeed.
    Unchanged,
    /// `*`: the caller has some version, so 304 is correct if the request would succeed.
    AnyVersion,
}

/// Tags successful responses. Answers 304 if the caller already has the response, before charging
/// its quota or reading a product.
pub(super) async fn conditional<F: Future<Output = Response>>(
    tags: &EntityTags,
    kind: TagKind,
    context: &RequestContext,
    request: Request,
    respond: impl FnOnce(Request) -> F,
) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond(request).await;
    }
    let (mut parts, body) = request.into_parts();
    // Loading a product also loads its hash. If the caller's tag is outdated, the product is read
    // later: reading it here would load megabytes for keys that have no quota left.
    let is_read = kind == TagKind::Software && !parts.headers.contains_key(IF_NONE_MATCH);
    let names = kind.category_names(context, &parts);
    let tag = if is_read { Ok(None) } else { kind.tag(tags, context, &parts, &names) };
    let tag = match tag {
        Ok(tag) => tag,
        Err(error) => return error.into_response(),
    };
    let condition = tag.as_ref().map_or(Condition::Changed, |tag| tag.condition(&parts.headers));
    if let (Some(tag), Condition::Unchanged) = (&tag, condition) {
        let mut response = Response::default();
        not_modified(&mut response);
        response.headers_mut().insert(ETAG, tag.header());
        return response;
    }
    if let Some(tag) = tag.as_ref().filter(|tag| tag.is_strong()) {
        // Downloads compare the tag with `If-Range`.
        parts.extensions.insert(tag.clone());
    }
    // A tag that's only known once the record has been read is compared then.
    let compared_later = (tag.is_none() && parts.headers.contains_key(IF_NONE_MATCH)).then(|| parts.headers.clone());
    let mut response = respond(Request::from_parts(parts, body)).await;
    if matches!(response.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
        let read = || Some(tags.tag(&[&context.detail_hash.get()?.to_be_bytes(), &names[..]].concat(), context));
        let tag = tag.or_else(read);
        let later = tag.as_ref().zip(compared_later).map(|(tag, headers)| tag.condition(&headers));
        if later.unwrap_or(condition) != Condition::Changed {
            not_modified(&mut response);
        }
        response.headers_mut().extend(tag.map(|tag| (ETAG, tag.header())));
    }
    response
}

/// Turns a response into a 304, which has no body and no headers that describe one.
fn not_modified(response: &mut Response) {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.body_mut() = Body::empty();
    let about_the_body =
        [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_DISPOSITION, CONTENT_RANGE, LINK];
    for header in about_the_body {
        response.headers_mut().remove(header);
    }
}

impl TagKind {
    /// A hash of the translated category names, which a product's hash doesn't cover; empty if the
    /// response doesn't contain any.
    fn category_names(self, context: &RequestContext, request: &Parts) -> Vec<u8> {
        let is_translated = self == Self::Software && context.query().first(LANG.name).is_some();
        let served = request.extensions.get::<Served>().filter(|_| is_translated);
        served.map(|served| served.catalogue().categories_hash().to_be_bytes().into()).unwrap_or_default()
    }

    /// The tag for a request's response; `None` if the record doesn't exist.
    fn tag(
        self,
        tags: &EntityTags,
        context: &RequestContext,
        request: &Parts,
        names: &[u8],
    ) -> Result<Option<EntityTag>, ApiError> {
        let Some(served) = request.extensions.get::<Served>() else { return Ok(None) };
        let Some(id) = path_id(&context.uri) else { return Ok(None) };
        let catalogue = served.catalogue();
        let changes = || [served.generation(), served.changed_at()];
        let hash = match self {
            Self::Generation => {
                return Ok(as_snapshot(served).map(|of| tags.tag(of.generation().as_bytes(), context)));
            }
            Self::Software => as_snapshot(served).and_then(|snapshot| service::get_software_hash(snapshot, &id)),
            Self::Category => service::get_category(catalogue, &id, None)?.map(|(object, _)| hash(&*object)),
            Self::Term => service::get_term(catalogue, &id, None)?.map(|(object, _)| hash(&*object)),
            Self::Export => catalogue.export(&id).map(|export| {
                // The prefix may come from the server's options.
                hash((&export.resource.sha256, &export.resource.id_prefix))
            }),
            Self::Categories => Some(catalogue.categories_hash()),
            Self::Glossary => Some(catalogue.glossary_hash()),
            // A republished generation has a different log.
            Self::Changes => Some(hash(changes())),
            Self::Page => {
                let language = request.extensions.get::<PageLanguage>();
                Some(hash((changes(), language, language_of_texts(&request.extensions, catalogue), today())))
            }
        };
        let Some(hash) = hash.map(u64::to_be_bytes) else { return Ok(None) };
        if self != Self::Export {
            return Ok(Some(tags.tag(&[&hash, names].concat(), context)));
        }
        let coding = Coding::preferred(&request.headers, &[Coding::Zstd]);
        let version = [&hash[..], coding.map_or("", Coding::name).as_bytes()].concat();
        Ok(Some(tags.tag(&version, context).strong()))
    }
}

/// The generation that's served; `None` if the directory is in OpenSearch, where only asking for a
/// product reveals its content, and nothing identifies a list's.
const fn as_snapshot(served: &Served) -> Option<&Snapshot> {
    match served {
        Served::Snapshot(snapshot) => Some(snapshot),
        Served::OpenSearch(_) => None,
    }
}

fn hash(content: impl Hash) -> u64 {
    FixedState::default().hash_one(content)
}

/// The last segment of a path, percent-decoded as in the `PathId` extractor; `None` if it isn't
/// UTF-8.
fn path_id(uri: &Uri) -> Option<Cow<'_, str>> {
    let (_, encoded) = uri.path().rsplit_once('/')?;
    percent_decode_str(encoded).decode_utf8().ok()
}

impl EntityTags {
    pub(super) fn new(build: &str) -> Self {
        Self { build: FixedState::with_seed(FixedState::default().hash_one(build)) }
    }

    /// A response's tag, given the version of what it shows. Requests that differ only in
    /// percent-encoding or parameter order share a tag.
    fn tag(&self, version: &[u8], request: &RequestContext) -> EntityTag {
        let mut hasher = self.build.build_hasher();
        update(&mut hasher, version);
        update(&mut hasher, &decoded(request.uri.path()));
        let mut pairs: Vec<_> = request.query().pairs().collect();
        pairs.sort_unstable();
        for (name, value) in pairs {
            update(&mut hasher, name);
            update(&mut hasher, value);
        }
        EntityTag::new(hasher.finish())
    }
}

/// Decodes a path, except for percent signs and for slashes that don't separate segments.
fn decoded(path: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(path.len());
    for (at, segment) in path.split('/').enumerate() {
        if at > 0 {
            decoded.push(b'/');
        }
        for byte in percent_decode_str(segment) {
            match byte {
                b'/' => decoded.extend_from_slice(b"%2F"),
                b'%' => decoded.extend_from_slice(b"%25"),
                byte => decoded.push(byte),
            }
        }
    }
    decoded
}

/// Feeds a hasher in a way that preserves the boundaries between parts.
fn update(hasher: &mut impl Hasher, part: &[u8]) {
    hasher.write_u64(part.len() as u64);
    hasher.write(part);
}

impl EntityTag {
    /// The tag of a static document.
    pub(super) fn from_content(content: &[u8]) -> Self {
        let mut start = [0; 8];
        start.copy_from_slice(&blake3::hash(content).as_bytes()[..8]);
        Self::new(u64::from_be_bytes(start))
    }

    fn new(hash: u64) -> Self {
        // Hexadecimal digits are always a valid header value.
        Self(HeaderValue::try_from(format!("W/\"{hash:016x}\"")).unwrap_or(HeaderValue::from_static("W/\"\"")))
    }

    /// The tag of a response that is only ever sent in one coding, so its bytes are always the
    /// same.
    fn strong(self) -> Self {
        let strong = opaque(self.0.as_bytes());
        Self(HeaderValue::from_bytes(strong).unwrap_or(self.0))
    }

    /// Whether equal tags mean equal bytes.
    fn is_strong(&self) -> bool {
        !self.0.as_bytes().starts_with(b"W/")
    }

    /// Whether a tag in `If-Range` matches this one: both strong and identical (RFC 9110, 13.1.5).
    pub(super) fn is_strongly(&self, tag: &HeaderValue) -> bool {
        self.is_strong() && self.0 == tag
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Compares the tag with `If-None-Match`, weakly: `W/` is ignored.
    pub(super) fn condition(&self, headers: &HeaderMap) -> Condition {
        let ours = opaque(self.0.as_bytes());
        let mut condition = Condition::Changed;
        for value in headers.get_all(IF_NONE_MATCH) {
            // A comma inside someone else's tag splits it into pieces, none of which can equal
            // ours.
            for tag in value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                if tag == b"*" {
                    condition = Condition::AnyVersion;
                } else if opaque(tag) == ours {
                    return Condition::Unchanged;
                }
            }
        }
        condition
    }
}

fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn request(path: &str, query: &str) -> Arc<RequestContext> {
        RequestContext::new(&Request::get(format!("{path}?{query}")).body(Body::empty()).expect("a request"))
    }

    fn tag(path: &str, query: &str) -> EntityTag {
        EntityTags::new("1").tag(b"g1", &request(path, query))
    }

    fn condition(tag: &EntityTag, sent: &[&str]) -> Condition {
        let mut headers = HeaderMap::new();
        for value in sent {
            headers.append(IF_NONE_MATCH, value.parse().expect("a header value"));
        }
        tag.condition(&headers)
    }

    #[test]
    fn equivalent_requests_share_a_tag() {
        let written = tag("/v1/software", "q=a+b&limit=5");
        assert_eq!(written.0, tag("/v1/software", "limit=5&q=a%20b").0);
        assert_eq!(written.0, tag("/v1/%73oftware", "limit=%35&q=a%20b").0);
    }

    #[test]
    fn the_tag_changes_with_path_query_build_and_generation() {
        let one = tag("/v1/software", "q=ab").0;
        for other in [
            tag("/v1/search", "q=ab"),
            tag("/v1/software", "q=a&b="),
            tag("/v1/software", "qa=b"),
            tag("/v1/software", ""),
            EntityTags::new("2").tag(b"g1", &request("/v1/software", "q=ab")),
            EntityTags::new("1").tag(b"g2", &request("/v1/software", "q=ab")),
        ] {
            assert_ne!(one, other.0);
        }
        assert_ne!(tag("/v1/software/a%2Fb", "").0, tag("/v1/software/a/b", "").0);
        assert_ne!(tag("/v1/software/a%252Fb", "").0, tag("/v1/software/a%2Fb", "").0);
    }

    #[test]
    fn tags_in_a_list_are_compared_weakly() {
        let tag = tag("/v1/software", "");
        let weak = tag.0.to_str().expect("ASCII").to_owned();
        let strong = weak.trim_start_matches("W/").to_owned();
        assert_eq!(condition(&tag, &[]), Condition::Changed);
        assert_eq!(condition(&tag, &["\"other\""]), Condition::Changed);
        assert_eq!(condition(&tag, &[&weak]), Condition::Unchanged);
        assert_eq!(condition(&tag, &[&strong]), Condition::Unchanged);
        assert_eq!(condition(&tag, &[&format!("\"a,b\" , {weak},W/\"c\"")]), Condition::Unchanged);
        assert_eq!(condition(&tag, &["\"a\"", &weak]), Condition::Unchanged);
        assert_eq!(condition(&tag, &["*"]), Condition::AnyVersion);
    }
}
