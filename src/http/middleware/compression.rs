//! Compression of the API's responses: zstd or gzip, by the caller's preference, then in this order.
//!
//! It runs on the threads that serve connections, so its cost is bounded by the size of what is compressed. Static documents and
//! downloads come with their final coding.

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

/// The smallest body that is compressed, in bytes: a shorter one fits in a packet anyway.
pub(in crate::http) const MIN_COMPRESSED_BYTES: u64 = 1024;

/// The largest body that is compressed, in bytes. A page of 100 products of the bundled exports is 47 KiB. gzip takes 1.1 ms for a
/// body of this size, zstd 0.3 ms. A larger one, such as a product with megabytes of text, is sent as it is.
const MAX_BYTES: u64 = 128 * 1024;

/// The encoders' level: about four fifths of the best ratio for a fraction of its time.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);

/// The extension of a response with its final coding: its body is sent unchanged.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct FinalCoding;

/// Compresses bodies of a known and moderate size.
#[derive(Debug, Clone, Copy)]
struct Moderate;

impl Predicate for Moderate {
    fn should_compress<B: HttpBody>(&self, response: &axum::http::Response<B>) -> bool {
        let size = response.body().size_hint().exact();
        size.is_some_and(|size| (MIN_COMPRESSED_BYTES..=MAX_BYTES).contains(&size))
            && response.extensions().get::<FinalCoding>().is_none()
    }
}

/// Compresses the response to a request that accepts an encoding. Others bypass tower-http: its response body has 6 KB, which are
/// moved even if nothing is compressed (7 % of a lookup's instructions).
pub(in crate::http) async fn compress<F: Future<Output = Response>>(
    mut request: Request,
    next: Next,
    respond: impl Fn(Request, Next) -> F,
) -> Response {
    if !request.headers().contains_key(ACCEPT_ENCODING) {
        return respond(request, next).await;
    }
    // Keeps the uncompressed response acceptable to a caller that refuses every encoding, such as with `*;q=0`, which
    // tower-http answers with 406.
    request.headers_mut().append(ACCEPT_ENCODING, HeaderValue::from_static("identity;q=0.001"));
    let respond = service_fn(|request| respond(request, next.clone()).map(Ok::<_, Infallible>));
    let mut compression = Compression::new(respond).quality(LEVEL).compress_when(Moderate);
    let compressed = async move {
        let Ok(response) = compression.call(request).await;
        response.map(Body::new)
    };
    // Boxed with the response, so that a request without compression doesn't carry that either.
    Box::pin(compressed).await
}
