//! The `PageLinks` extractor: links from one page of a list to its other pages.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::request::Parts;

use super::query::RawQuery;
use crate::catalogue::resource::Pagination;
use crate::http::middleware::RequestContext;
use crate::http::problem::ApiError;
use crate::http::state::AppState;
use crate::text::append;

/// Links from one page of a list to its other pages, built from the request's URL.
#[derive(Debug)]
pub(in crate::http) struct PageLinks {
    /// The URL without its query, as the caller sees it, encoded as ASCII: absolute if the public URL is
    /// known, otherwise only the path.
    path: String,
    query: Arc<RawQuery>,
}

impl PageLinks {
    /// The `Link` header. A list without a `max_offset` can be paged through to its end.
    pub(in crate::http) fn header(&self, page: Pagination, max_offset: Option<u64>) -> Option<HeaderValue> {
        let reference = format!("{}?{}", self.path, self.query.for_pages(page.limit));
        // The path and query are already encoded as ASCII.
        HeaderValue::try_from(links(page, max_offset, &reference)).ok()
    }
}

impl FromRequestParts<Arc<AppState>> for PageLinks {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, ApiError> {
        let path = ascii(state.config.base(), parts.uri.path());
        Ok(Self { path, query: Arc::clone(RequestContext::of(&parts.extensions)?.query()) })
    }
}

/// Prepends a prefix to a path, with or without a query, and escapes every byte that isn't allowed in a URI (RFC 3986, 3.3).
/// Existing escapes are kept.
pub(in crate::http) fn ascii(prefix: &str, path: &str) -> String {
    let mut text = prefix.to_owned();
    for byte in path.bytes() {
        match byte {
            b'!' | b'#'..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'~' => text.push(char::from(byte)),
            _ => append(&mut text, format_args!("%{byte:02X}")),
        }
    }
    text
}

/// The `Link` header (RFC 8288): the first, prev, next and last pages that exist and whose offset
/// is allowed.
///
/// Pages tile the list in steps of `limit` from the requested offset, so that `next` eventually
/// reaches `last`. A page's URL is `reference` plus its offset.
fn links(at: Pagination, max_offset: Option<u64>, reference: &str) -> String {
    let limit = u64::from(at.limit.max(1));
    let last = match at.total.checked_sub(1) {
        Some(end) if end >= at.offset => at.offset + (end - at.offset) / limit * limit,
        Some(end) => end / limit * limit,
        None => 0,
    };
    let prev = (at.offset > 0).then(|| at.offset.saturating_sub(limit).min(last));
    let next = at.offset.checked_add(limit).filter(|next| *next < at.total);
    let pages = [("first", Some(0)), ("prev", prev), ("next", next), ("last", Some(last))];
    let mut links = String::new();
    for (relation, offset) in pages {
        if let Some(offset) = offset.filter(|offset| max_offset.is_none_or(|max| *offset <= max)) {
            let separator = if links.is_empty() { "" } else { ", " };
            append(&mut links, format_args!("{separator}<{reference}{offset}>; rel=\"{relation}\""));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_that_exist_and_are_allowed() {
        for ((limit, offset, total), max_offset, expected) in [
            ((20, 20, 90), None, r#"<0> "first", <0> "prev", <40> "next", <80> "last""#),
            ((20, 0, 90), None, r#"<0> "first", <20> "next", <80> "last""#),
            ((20, 80, 90), None, r#"<0> "first", <60> "prev", <80> "last""#),
            ((20, 0, 20), None, r#"<0> "first", <0> "last""#),
            ((20, 0, 0), None, r#"<0> "first", <0> "last""#),
            // From beyond the end, the previous page is the last one.
            ((20, 1000, 90), None, r#"<0> "first", <80> "prev", <80> "last""#),
            ((20, u64::MAX, 90), None, r#"<0> "first", <80> "prev", <80> "last""#),
            // From an unaligned offset, the next pages end on the last one.
            ((20, 5, 90), None, r#"<0> "first", <0> "prev", <25> "next", <85> "last""#),
            ((100, 9_950, 20_000), None, r#"<0> "first", <9850> "prev", <10050> "next", <19950> "last""#),
            ((100, 9_950, 20_000), Some(10_000), r#"<0> "first", <9850> "prev""#),
            ((100, 9_900, 10_001), Some(10_000), r#"<0> "first", <9800> "prev", <10000> "next", <10000> "last""#),
        ] {
            let links = links(Pagination { limit, offset, total }, max_offset, "").replace("; rel=", " ");
            assert_eq!(links, expected, "{limit} {offset} {total} {max_offset:?}");
        }
    }
}
