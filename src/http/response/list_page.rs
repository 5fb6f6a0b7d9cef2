//! Builds one page of a list.

use axum::http::HeaderValue;
use axum::http::header::LINK;
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;

use super::json;
use crate::catalogue::ObjectWriter;
use crate::catalogue::resource::Pagination;
use crate::http::problem::ApiError;
use crate::service::Page;

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

    pub(in crate::http) fn finish(self) -> ListPage {
        ListPage { body: self.object.finish().into(), pagination: self.pagination }
    }
}

#[derive(Debug)]
pub(in crate::http) struct ListPage {
    body: Bytes,
    pagination: Pagination,
}

impl ListPage {
    pub(in crate::http) fn pagination(&self) -> Pagination {
        self.pagination
    }

    /// Adds the `Link` header.
    pub(in crate::http) fn into_response(self, links: Option<HeaderValue>) -> Response {
        let mut response = json(self.body);
        response.headers_mut().extend(links.map(|links| (LINK, links)));
        response
    }
}
