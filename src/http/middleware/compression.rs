//! Compresses API responses with zstd or gzip, whichever the caller prefers, or zstd if it has no
//! preference.
//!
//! It runs on the threads that serve connections, so its cost is bounded by limiting the size of
//! what it compresses. Static documents and downloads already have their final coding.

use std::convert::Infallible;
use std::future::Future;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::ACCEPT_ENCODING;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::future::FutureExt as _;
use tower::{Service as _, service_fn};
use tower_http::compression::predicate::Predicate;
use tower_http::compression::{Compression, CompressionLevel};

/// The minimum size of a body to compress, in bytes. Smaller bodies fit in one packet anyway.
pub(in crate::http) const MIN_COMPRESSED_BYTES: u64 = 1024;

/// The maximum size of a body to compress, in bytes. A page of 100 products from the bundled
/// exports is 47 KiB. At this limit gzip takes 1.1 ms, and zstd 0.3 ms. Larger bodies, such as a
/// product with megabytes of text, are sent uncompressed.
const MAX_BYTES: u64 = 128 * 1024;

/// This compression level achieves about four fifths of the best ratio in a fraction of the time.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);

/// Marks a response that already has its final coding: its body is sent unchanged.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct FinalCoding;

/// Selects bodies whose size is known and moderate.
#[derive(Debug, Clone, Copy)]
struct Moderate;

impl Predicate for Moderate {
    fn should_compress<B: HttpBody>(&self, response: &axum::http::Response<B>) -> bool {
        let size = response.body().size_hint().exact();
        size.is_some_and(|size| (MIN_COMPRESSED_BYTES..=MAX_BYTES).contains(&size))
            && response.extensions().get::<FinalCoding>().is_none()
    }
}

/// Compresses the response if the request accepts a coding. Other requests bypass tower-http,
/// because its response body type takes up 6 KB, which get moved even if nothing is compressed (7%
/// of a lookup's instructions).
pub(in crate::http) async fn compress<F: Future<Output = Response>>(
    mut request: Request,
    next: Next,
    respond: impl Fn(Request, Next) -> F,
) -> Response {
    if !request.headers().contains_key(ACCEPT_ENCODING) {
        return respond(request, next).await;
    }
    // Keeps the uncompressed response acceptable to callers that refuse every coding, for example
    // with `*;q=0`; otherwise, tower-http would answer 406.
    request.headers_mut().append(ACCEPT_ENCODING, HeaderValue::from_static("identity;q=0.001"));
    let respond = service_fn(|request| respond(request, next.clone()).map(Ok::<_, Infallible>));
    let mut compression = Compression::new(respond).quality(LEVEL).compress_when(Moderate);
    let compressed = async move {
        let Ok(response) = compression.call(request).await;
        response.map(Body::new)
    };
    // Boxed together with the response, so that requests without compression don't carry it.
    Box::pin(compressed).await
}
