//! Pages: their bodies, put together from bytes that are ready to send, and the links from one to the next.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;

use super::params::MAX_QUERY_OFFSET;
use super::problem::ApiError;
use super::request::ApiRequest;
use crate::catalogue::OpenObject;
use crate::resource::Pagination;
use crate::service::Page;

/// How deep a list may be paged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// To its end.
    Whole,
    /// As far as the answer to a query goes.
    Queried,
}

impl Depth {
    pub(super) fn of(q: Option<&str>) -> Self {
        if q.is_some() { Self::Queried } else { Self::Whole }
    }

    fn reaches(self, offset: u64) -> bool {
        self == Self::Whole || offset <= MAX_QUERY_OFFSET
    }
}

/// The body of a list: an object that is written member by member.
#[derive(Debug)]
pub(super) struct ListBody {
    json: Vec<u8>,
    pagination: Pagination,
}

impl ListBody {
    /// Begins with `data` and `pagination`; `write` writes one item.
    pub(super) fn new<T>(
        data: &[T],
        pagination: Pagination,
        bytes: impl Fn(&T) -> usize,
        write: impl Fn(&T, &mut Vec<u8>) -> Result<(), ApiError>,
    ) -> Result<Self, ApiError> {
        /// Room for all that isn't items, so that the buffer is made once.
        const FRAME: usize = 256;
        let mut json = Vec::with_capacity(FRAME + data.iter().map(|item| bytes(item) + 2).sum::<usize>());
        json.extend_from_slice(b"{\"data\":[");
        for (at, item) in data.iter().enumerate() {
            if at > 0 {
                json.push(b',');
            }
            write(item, &mut json)?;
        }
        json.push(b']');
        Self { json, pagination }.with("pagination", &pagination)
    }

    /// A list of resources as they are.
    pub(super) fn of_page(page: &Page<'_>) -> Result<Self, ApiError> {
        let write = |item: &OpenObject<'_>, json: &mut Vec<u8>| {
            item.write(json);
            Ok(())
        };
        Self::new(&page.data, page.pagination, OpenObject::len, write)
    }

    /// Adds a member.
    pub(super) fn with<T: Serialize>(mut self, name: &'static str, value: &T) -> Result<Self, ApiError> {
        append_member(&mut self.json, name, value)?;
        Ok(self)
    }

    /// Ends the object and makes it the answer, with links to other pages.
    pub(super) fn into_response(self, request: &ApiRequest<'_>, depth: Depth) -> Response {
        self.into_ready(request, depth).into_response()
    }

    /// The same, to be sent more than once.
    pub(super) fn into_ready(mut self, request: &ApiRequest<'_>, depth: Depth) -> Ready {
        self.json.push(b'}');
        let reference = format!("{}?{}", request.link_path(), request.query.for_pages(self.pagination.limit));
        let links = links(self.pagination, depth, &reference);
        // Paths and queries were encoded to ASCII.
        Ready { body: self.json.into(), links: HeaderValue::try_from(links).ok() }
    }
}

/// A page as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) body: Bytes,
    /// The `Link` header.
    pub(super) links: Option<HeaderValue>,
}

impl Ready {
    /// The memory it takes beside itself, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.body.len() + self.links.as_ref().map_or(0, HeaderValue::len)
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = json(Body::from(self.body));
        response.headers_mut().extend(self.links.map(|links| (LINK, links)));
        response
    }
}

/// A JSON answer.
pub(super) fn json(body: Body) -> Response {
    /// So many headers come together with those of the application. Growing for one after another costs more than writing them.
    const HEADERS: usize = 16;
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Appends a member to an object that has members already and isn't closed yet.
pub(super) fn append_member<T: Serialize + ?Sized>(json: &mut Vec<u8>, name: &str, value: &T) -> Result<(), ApiError> {
    json.extend_from_slice(b",\"");
    json.extend_from_slice(name.as_bytes());
    json.extend_from_slice(b"\":");
    serde_json::to_writer(json, value).map_err(|error| ApiError::Internal(Arc::new(error)))
}

/// The `Link` header (RFC 8288): first, prev, next and last page, each only if it exists and would be answered.
///
/// Pages tile the list at the distance of `limit` from where the caller began, so that `next` ends on `last`. A page's
/// reference is the one given and its offset.
fn links(at: Pagination, depth: Depth, reference: &str) -> String {
    let limit = u64::from(at.limit.max(1));
    let last = match at.total.checked_sub(1) {
        Some(end) if end >= at.offset => at.offset + (end - at.offset) / limit * limit,
        Some(end) => end / limit * limit,
        None => 0,
    };
    let prev = (at.offset > 0).then(|| at.offset.saturating_sub(limit).min(last));
    let next = at.offset.checked_add(limit).filter(|next| *next < at.total);
    let mut links = String::with_capacity(4 * (reference.len() + 40));
    let mut digits = itoa::Buffer::new();
    for (relation, offset) in [("first", Some(0)), ("prev", prev), ("next", next), ("last", Some(last))] {
        if let Some(offset) = offset.filter(|offset| depth.reaches(*offset)) {
            let separator = if links.is_empty() { "" } else { ", " };
            for part in [separator, "<", reference, digits.format(offset), ">; rel=\"", relation, "\""] {
                links.push_str(part);
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(limit: u32, offset: u64, total: u64, depth: Depth) -> String {
        links(Pagination { limit, offset, total }, depth, "").replace("; rel=", " ")
    }

    #[test]
    fn links_lead_to_the_pages_around() {
        assert_eq!(linked(20, 20, 90, Depth::Whole), r#"<0> "first", <0> "prev", <40> "next", <80> "last""#);
        assert_eq!(linked(20, 0, 90, Depth::Whole), r#"<0> "first", <20> "next", <80> "last""#);
        assert_eq!(linked(20, 80, 90, Depth::Whole), r#"<0> "first", <60> "prev", <80> "last""#);
        assert_eq!(linked(20, 0, 20, Depth::Whole), r#"<0> "first", <0> "last""#);
        assert_eq!(linked(20, 0, 0, Depth::Whole), r#"<0> "first", <0> "last""#);
    }

    #[test]
    fn from_beyond_the_end_the_way_back_leads_to_the_last_page() {
        assert_eq!(linked(20, 1000, 90, Depth::Whole), r#"<0> "first", <80> "prev", <80> "last""#);
        assert_eq!(linked(20, u64::MAX, 90, Depth::Whole), r#"<0> "first", <80> "prev", <80> "last""#);
    }

    #[test]
    fn an_uneven_beginning_still_ends_on_the_last_page() {
        assert_eq!(linked(20, 5, 90, Depth::Whole), r#"<0> "first", <0> "prev", <25> "next", <85> "last""#);
    }

    #[test]
    fn no_link_leads_to_a_page_that_would_be_refused() {
        assert_eq!(linked(100, 9_950, 20_000, Depth::Queried), r#"<0> "first", <9850> "prev""#);
        assert_eq!(
            linked(100, 9_900, 10_001, Depth::Queried),
            r#"<0> "first", <9800> "prev", <10000> "next", <10000> "last""#
        );
        assert_eq!(
            linked(100, 9_950, 20_000, Depth::Whole),
            r#"<0> "first", <9850> "prev", <10050> "next", <19950> "last""#
        );
    }
}
