//! Builds response bodies from the generation's JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::identity;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LINK};
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::extract::PageLinks;
use super::problem::ApiError;
use crate::catalogue::ObjectWriter;
use crate::catalogue::resource::{Pagination, SoftwareItem, UnknownValue};
use crate::service::Page;
use crate::service::parameter::value::OneOf;
use crate::service::parameter::{Parameter, Values};

pub(super) fn json(body: impl Into<Body>) -> Response {
    of_type("application/json", body)
}

/// A response with content of this media type.
pub(super) fn of_type(media_type: &'static str, body: impl Into<Body>) -> Response {
    /// The number of headers including those from middleware, so that the map is allocated once.
    const HEADERS: usize = 16;
    let mut response = Response::new(body.into());
    response.headers_mut().reserve(HEADERS);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Keeps a response out of caches.
pub(super) fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A response with one record, `{"data": {…}}`, given its JSON.
pub(super) fn stored_record(object: &[u8]) -> Response {
    json([b"{\"data\":", object, b"}"].concat())
}

/// The field that's always included, selected or not.
const ID: &str = SoftwareItem::FIELDS[0];

/// Selects product fields in lists.
pub(in crate::http) static FIELDS: Parameter<OneOf<&str>> = Parameter::new(
    "fields",
    "Include only these fields of each product, plus its `id`. All fields by default. Several names may be separated by commas.",
    "name",
    OneOf { values: &SoftwareItem::FIELDS, name: identity, default: None },
)
.repeatable();

/// The fields that a request selects; empty means all. Included members are always kept.
#[derive(Debug, Clone)]
pub(in crate::http) struct Fields(Vec<&'static str>);

impl Fields {
    pub(in crate::http) fn read(values: &mut Values<'_>) -> Self {
        Self(values.names(&FIELDS))
    }

    /// A product as a JSON object with only the selected fields.
    pub(in crate::http) fn select<'i>(&self, item: &'i [u8]) -> Result<Cow<'i, [u8]>, ApiError> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(item));
        }
        let values: BTreeMap<&str, &RawValue> = serde_json::from_slice(item).map_err(ApiError::internal)?;
        let mut selected = ObjectWriter::new(Vec::with_capacity(item.len()));
        let fields = SoftwareItem::FIELDS.into_iter().filter(|name| *name == ID || self.0.contains(name));
        let included = values.keys().copied().filter(|name| !SoftwareItem::FIELDS.contains(name));
        for (name, value) in fields.chain(included).filter_map(|name| Some((name, values.get(name)?))) {
            selected.json_member(name, value.get().as_bytes());
        }
        Ok(Cow::Owned(selected.finish()))
    }
}

/// What a list found out about the request's filter.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct FilterReport {
    /// Values that no product has.
    unknown: Vec<UnknownValue>,
}

/// A list page's body: a JSON object, written one member at a time.
#[derive(Debug)]
pub(in crate::http) struct ListBody {
    object: ObjectWriter<Vec<u8>>,
    pagination: Pagination,
}

impl ListBody {
    /// Starts a body with `data` and `pagination`. `write` writes an item, and `bytes` estimates
    /// its size.
    pub(in crate::http) fn new<T>(
        data: &[T],
        pagination: Pagination,
        bytes: impl Fn(&T) -> usize,
        write: impl Fn(&T, &mut Vec<u8>) -> Result<(), ApiError>,
    ) -> Result<Self, ApiError> {
        /// Capacity for everything but the items, so that the buffer is allocated once.
        const FRAME: usize = 256;
        let bytes = FRAME + data.iter().map(|item| bytes(item) + 2).sum::<usize>();
        let mut object = ObjectWriter::new(Vec::with_capacity(bytes));
        let json = object.name("data");
        json.push(b'[');
        for (at, item) in data.iter().enumerate() {
            if at > 0 {
                json.push(b',');
            }
            write(item, json)?;
        }
        json.push(b']');
        Self { object, pagination }.with("pagination", &pagination)
    }

    pub(in crate::http) fn from_page(page: &Page) -> Result<Self, ApiError> {
        let write = |item: &Bytes, json: &mut Vec<u8>| {
            json.extend_from_slice(item);
            Ok(())
        };
        Self::new(&page.data, page.pagination, Bytes::len, write)
    }

    pub(in crate::http) fn with<T: Serialize>(mut self, name: &'static str, value: &T) -> Result<Self, ApiError> {
        self.object.member(name, value).map_err(ApiError::internal)?;
        Ok(self)
    }

    /// Adds `query`, with the values in the request's filter that no product has, if there are any.
    pub(in crate::http) fn with_unknown(self, unknown: Vec<UnknownValue>) -> Result<Self, ApiError> {
        if unknown.is_empty() { Ok(self) } else { self.with("query", &FilterReport { unknown }) }
    }

    /// The response, with links to the list's other pages up to this offset, if there's a limit.
    pub(in crate::http) fn into_response(self, links: &PageLinks, max_offset: Option<u64>) -> Response {
        let links = links.header(self.pagination, max_offset);
        let mut response = json(self.object.finish());
        response.headers_mut().extend(links.map(|links| (LINK, links)));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_fields_keep_their_order_and_text() {
        let item = br#"{"id":"a","name":"A \"b\"","rating":4.50,"categories":[{"id":"c"}]}"#;
        let select = |fields: &[&'static str]| {
            let selected = Fields(fields.to_vec()).select(item).expect("JSON").into_owned();
            String::from_utf8(selected).expect("text")
        };
        assert_eq!(select(&[]).as_bytes(), item);
        assert_eq!(select(&["rating", "name"]), r#"{"id":"a","name":"A \"b\"","rating":4.50}"#);
        assert_eq!(select(&["categories"]), r#"{"id":"a","categories":[{"id":"c"}]}"#);
    }
}
