//! Content hashes of products, for their entity tags.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::Method;
use axum::http::header::IF_NONE_MATCH;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::{BoxFuture, Either};
use tower::{Layer, Service};

use super::route::{is_software, path_id};
use crate::http::extract::Snapshot;
use crate::http::problem::ApiError;
use crate::service::get_software_hash;

/// The hash of a product's content: an extension of a response with the product, and of a conditional request for it.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct ContentHash(pub(in crate::http) u64);

/// Adds the [`ContentHash`] to a request for a product that has `If-None-Match`: a 304 needs no more of the product. For a request
/// without a condition the hash comes with the product.
///
/// With an old tag the product is then read too, so a cluster gets two requests. Reading it here would save one of them, but a
/// 304 costs no quota: the record, which may have megabytes, would be read for keys without quota left.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct ContentHashLayer;

impl<S> Layer<S> for ContentHashLayer {
    type Service = ContentHashService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ContentHashService(inner)
    }
}

/// The service of a [`ContentHashLayer`].
#[derive(Debug, Clone)]
pub(in crate::http) struct ContentHashService<S>(S);

impl<S> Service<Request> for ContentHashService<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, BoxFuture<'static, Result<Response, Infallible>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let Some((snapshot, id)) = conditional(&request) else { return Either::Left(self.0.call(request)) };
        // The clone wasn't polled; the one that is ready is called.
        let clone = self.0.clone();
        let mut inner = std::mem::replace(&mut self.0, clone);
        Either::Right(Box::pin(async move {
            match get_software_hash(&snapshot, &id).await {
                Ok(hash) => hash.map(|hash| request.extensions_mut().insert(ContentHash(hash))),
                Err(error) => return Ok(ApiError::from(error).into_response()),
            };
            inner.call(request).await
        }))
    }
}

/// The snapshot and the id of a conditional request for a product.
fn conditional(request: &Request) -> Option<(Snapshot, String)> {
    if !request.headers().contains_key(IF_NONE_MATCH) || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let id = is_software(request).then(|| path_id(request))??;
    Some((request.extensions().get::<Snapshot>()?.clone(), id.into_owned()))
}
