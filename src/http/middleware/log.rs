//! The access log: one line per request, at `debug`, once its response has been sent.

use std::borrow::Cow;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use percent_encoding::percent_decode_str;

use super::request_context::RequestContext;
use crate::http::config::HttpConfig;
use crate::http::extract::client_ip;
use crate::key;

/// The access log's target, for filters.
pub const ACCESS_LOG: &str = "software_directory::http::access";

/// What a request's log line needs besides the response.
#[derive(Debug)]
pub(in crate::http) struct AccessLine {
    request: Arc<RequestContext>,
    caller: Option<IpAddr>,
    shows_query: bool,
}

impl AccessLine {
    /// `None` if requests aren't logged.
    pub(in crate::http) fn new(context: &Arc<RequestContext>, request: &Request, config: &HttpConfig) -> Option<Self> {
        tracing::enabled!(target: ACCESS_LOG, tracing::Level::INFO).then(|| Self {
            request: Arc::clone(context),
            caller: client_ip(request.extensions(), request.headers(), &config.trusted_proxies),
            shows_query: config.log_queries,
        })
    }

    /// Logs the request once its response body has been sent or the caller has gone away.
    pub(in crate::http) fn log(self, response: Response) -> Response {
        let status = response.status();
        response.map(|body| Body::new(Logged { body, access: self, status, bytes: 0 }))
    }
}

/// A body that is logged when it's dropped.
struct Logged {
    body: Body,
    access: AccessLine,
    status: StatusCode,
    /// How many bytes have been read from the body, in its final coding.
    bytes: u64,
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        self.bytes += data.map_or(0, |data| data.len() as u64);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    /// Never logs a key, no matter where in the request it appears.
    fn drop(&mut self) {
        let AccessLine { request, caller, shows_query } = &self.access;
        tracing::info!(
            target: ACCESS_LOG,
            request_id = request.id(),
            method = &*redacted(request.method.as_str()),
            path = &*redacted(request.sent_uri.path()),
            query = request.uri.query().filter(|_| *shows_query).map(redacted).as_deref(),
            status = self.status.as_u16(),
            bytes = self.bytes,
            elapsed_us = u64::try_from(request.started.elapsed().as_micros()).unwrap_or(u64::MAX),
            key = request.key_id(),
            caller = caller.map(tracing::field::display),
        );
    }
}

/// Removes the secrets of all keys from a method, path or query, no matter how many times its
/// characters are percent-encoded. Returns the decoded text if there was a key, otherwise the text
/// unchanged.
pub(super) fn redacted(text: &str) -> Cow<'_, str> {
    /// The maximum number of decoding rounds. A caller could send text that needs any number of
    /// rounds, each of which reads the whole text.
    const MAX_ROUNDS: usize = 8;
    let mut decoded = Cow::Borrowed(text);
    for _ in 0..MAX_ROUNDS {
        match percent_decode_str(&decoded).decode_utf8_lossy() {
            Cow::Owned(next) => decoded = next.into(),
            Cow::Borrowed(_) if decoded.contains("sd_") => {
                let clean = key::without_keys(&decoded);
                return if clean == decoded { text.into() } else { clean.into() };
            }
            Cow::Borrowed(_) => return text.into(),
        }
    }
    // No program would encode the text this many times.
    "…".into()
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    use super::*;

    const KEY: &str = "sd_live_abcdefgh_0123456789ABCDEFGHIJKLMNOP12";

    #[test]
    fn keys_are_redacted_no_matter_how_they_are_encoded() {
        assert_eq!(redacted(&format!("/v1/software/{KEY}")), "/v1/software/sd_…");
        let every_byte = hex::encode(KEY)
            .as_bytes()
            .chunks(2)
            .fold(String::new(), |text, byte| text + "%" + &String::from_utf8_lossy(byte));
        let mut path = format!("/v1/software/{every_byte}");
        for round in 0..20 {
            let text = redacted(&path);
            assert!(text == "/v1/software/sd_…" || text == "…", "round {round}: {text}");
            path = path.replace('%', "%25");
        }
        let twice = format!("{KEY}/{}", KEY.replace('_', "%5F"));
        assert_eq!(redacted(&twice), "sd_…/sd_…");
        assert_eq!(redacted(&KEY.replace('4', "%34")), "sd_…", "the secret is encoded");
        for encoded in [KEY.replacen('_', "%5F", 1), KEY.replace('_', "%5f"), KEY.replace('s', "%73")] {
            let text = redacted(&encoded).into_owned();
            assert_eq!(text, "sd_…", "{encoded}");
        }
    }

    #[test]
    fn text_without_a_key_is_left_unchanged() {
        for text in ["/v1/software/a%2Fb", "/v1/search", "q=100%25", "%", "%FF", "caf%C3%A9", "%25252F", "sd_%2F"] {
            assert_eq!(redacted(text), text);
        }
        let often = utf8_percent_encode("a/b", NON_ALPHANUMERIC).to_string();
        assert_eq!(redacted(&often), often);
    }
}
