//! Compression of the API's responses: zstd or gzip, by the caller's preference, then in this order.
//!
//! It runs on the threads that serve connections, so its cost is bounded by the size of what is compressed. Static documents and
//! downloads come with their final coding.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::ACCEPT_ENCODING;
use axum::response::Response;
use futures_util::future::{Either, TryFutureExt as _};
use tower::{Layer, Service};
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

/// tower-http's compression for requests that accept an encoding. The others pass it by: its response body has 6 KB, which are
/// moved even where nothing is compressed (7 % of a lookup's instructions).
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct CompressionLayer;

impl<S> Layer<S> for CompressionLayer {
    type Service = OnDemand<S>;

    fn layer(&self, inner: S) -> OnDemand<S> {
        OnDemand { inner }
    }
}

/// A service that compresses responses on demand.
#[derive(Debug, Clone)]
pub(in crate::http) struct OnDemand<S> {
    inner: S,
}

impl<S> Service<Request> for OnDemand<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static> + Clone,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        if !request.headers().contains_key(ACCEPT_ENCODING) {
            return Either::Left(self.inner.call(request));
        }
        // Keeps the uncompressed response acceptable to a caller that refuses every encoding, such as with `*;q=0`, which
        // tower-http answers with 406.
        request.headers_mut().append(ACCEPT_ENCODING, HeaderValue::from_static("identity;q=0.001"));
        let ready = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, ready);
        let mut compression = Compression::new(ready).quality(LEVEL).compress_when(Moderate);
        Either::Right(Box::pin(compression.call(request).map_ok(|response| response.map(Body::new))))
    }
}
