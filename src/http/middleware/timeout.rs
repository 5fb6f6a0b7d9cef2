//! The request timeout.
//!
//! tower-http's layer polls its timer first, so that every request registers one. Most handlers never wait; with that layer
//! lookups fall from 0.84 to 0.73 of bare axum's rate (`make bench-http BENCH_HTTP='--only lookup'`). This one makes a timer
//! for a request that has to wait.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tower::{Layer, Service};

use crate::http::problem::ApiError;

/// Answers 408 for a request that takes longer than this after it first had to wait.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct TimeoutLayer(pub(in crate::http) Duration);

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Timeout { inner, timeout: self.0 }
    }
}

/// A service with a timeout.
#[derive(Debug, Clone)]
pub(in crate::http) struct Timeout<S> {
    inner: S,
    timeout: Duration,
}

impl<S: Service<Request, Response = Response, Error = Infallible>> Service<Request> for Timeout<S> {
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        ResponseFuture { inner: self.inner.call(request), timeout: self.timeout, timer: None }
    }
}

pin_project! {
    /// The response of a [`Timeout`].
    #[derive(Debug)]
    pub(in crate::http) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        timeout: Duration,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for ResponseFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(response) = this.inner.poll(context) {
            return Poll::Ready(response);
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(*this.timeout)));
        timer.as_mut().poll(context).map(|()| Ok(ApiError::RequestTimeout.into_response()))
    }
}
