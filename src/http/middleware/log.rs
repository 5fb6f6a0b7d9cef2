//! The access log: one line a request, at `debug`.

use std::borrow::Cow;
use std::net::IpAddr;

use axum::extract::Request;
use axum::http::StatusCode;
use percent_encoding::percent_decode_str;

use super::request_context::RequestContext;
use crate::http::config::HttpConfig;
use crate::http::extract::client_ip;
use crate::key;

/// The target of the access log, for filters.
const TARGET: &str = "software_directory::http::access";

/// The caller's address for the log; `None` if requests aren't logged.
pub(in crate::http) fn caller_to_log(request: &Request, config: &HttpConfig) -> Option<IpAddr> {
    let is_logged = tracing::enabled!(target: TARGET, tracing::Level::DEBUG);
    is_logged.then(|| client_ip(request.extensions(), request.headers(), &config.trusted_proxies))?
}

/// Logs a request; never a key, wherever in the request it stands.
pub(in crate::http) fn log_request(
    request: &RequestContext,
    caller: Option<IpAddr>,
    status: StatusCode,
    config: &HttpConfig,
) {
    tracing::debug!(
        target: TARGET,
        request_id = request.id(),
        method = &*redacted(request.method.as_str()),
        path = &*redacted(request.uri.path()),
        query = request.uri.query().filter(|_| config.log_queries).map(redacted).as_deref(),
        status = status.as_u16(),
        elapsed_us = u64::try_from(request.started.elapsed().as_micros()).unwrap_or(u64::MAX),
        key = request.key_id(),
        caller = caller.map(tracing::field::display),
    );
}

/// A method, path or query with the secrets of all keys removed, however often its characters are
/// percent-encoded. If there was a key, the decoded text is returned, otherwise the text as it is.
pub(super) fn redacted(text: &str) -> Cow<'_, str> {
    /// How often it's decoded at most. The caller decides how often a text needs it, and each round
    /// reads all of it.
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
    // Encoded more often than any program does.
    "…".into()
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    use super::*;

    const KEY: &str = "sd_live_abcdefgh_0123456789ABCDEFGHIJKLMNOP12";

    #[test]
    fn keys_are_redacted_however_they_are_encoded() {
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
    fn text_without_a_key_is_left_as_it_is() {
        for text in ["/v1/software/a%2Fb", "/v1/search", "q=100%25", "%", "%FF", "caf%C3%A9", "%25252F", "sd_%2F"] {
            assert_eq!(redacted(text), text);
        }
        let often = utf8_percent_encode("a/b", NON_ALPHANUMERIC).to_string();
        assert_eq!(redacted(&often), often);
    }
}
