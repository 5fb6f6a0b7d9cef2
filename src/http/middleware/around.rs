//! The tower `Layer` and `Service` of this folder's middleware, which looks at a request before the inner service and at the
//! response after it.

use std::convert::Infallible;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::Request;
use axum::response::Response;
use pin_project_lite::pin_project;
use tower::{Layer, Service};

/// A middleware without I/O of its own.
pub(in crate::http) trait Middleware: Clone {
    /// The part of the request that [`Self::on_response`] needs.
    type Context;

    /// Is called before the inner service. `Break` is the response in its place; then [`Self::on_response`] isn't called.
    fn on_request(&self, request: &mut Request) -> ControlFlow<Response, Self::Context>;

    /// Is called with the inner service's response.
    fn on_response(&self, context: Self::Context, response: &mut Response);
}

/// The layer of a middleware.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Around<M>(pub(in crate::http) M);

impl<M: Clone, S> Layer<S> for Around<M> {
    type Service = AroundService<M, S>;

    fn layer(&self, inner: S) -> Self::Service {
        AroundService { middleware: self.0.clone(), inner }
    }
}

/// A service wrapped in a middleware.
#[derive(Debug, Clone)]
pub(in crate::http) struct AroundService<M, S> {
    middleware: M,
    inner: S,
}

impl<M, S> Service<Request> for AroundService<M, S>
where
    M: Middleware,
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture<M, M::Context, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        match self.middleware.on_request(&mut request) {
            ControlFlow::Break(response) => ResponseFuture::Ready { response: Some(response) },
            ControlFlow::Continue(context) => ResponseFuture::Inner {
                future: self.inner.call(request),
                after: Some((self.middleware.clone(), context)),
            },
        }
    }
}

pin_project! {
    /// The response of an [`AroundService`].
    #[project = Projection]
    pub(in crate::http) enum ResponseFuture<M, C, F> {
        Ready { response: Option<Response> },
        Inner {
            #[pin]
            future: F,
            after: Option<(M, C)>,
        },
    }
}

impl<M, F> Future for ResponseFuture<M, M::Context, F>
where
    M: Middleware,
    F: Future<Output = Result<Response, Infallible>>,
{
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projection::Ready { response } => Poll::Ready(Ok(response.take().unwrap_or_default())),
            Projection::Inner { future, after } => {
                let Ok(mut response) = ready!(future.poll(context));
                if let Some((middleware, context)) = after.take() {
                    middleware.on_response(context, &mut response);
                }
                Poll::Ready(Ok(response))
            }
        }
    }
}
