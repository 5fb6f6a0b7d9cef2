//! Compressed answers: zstd, br or gzip, as the caller likes.

use std::convert::Infallible;
use std::future::ready;

use axum::body::{Body, HttpBody as _};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use axum::http::{HeaderMap, HeaderValue, Request};
use axum::response::Response;
use tower::{Service as _, service_fn};
use tower_http::compression::{Compression, CompressionLevel};

/// Below this many bytes an answer fits in a packet anyway.
const MINIMUM_BYTES: u64 = 1024;

/// The encoders' level: about four fifths of what is to be gained for a fraction of the time of the best.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);

/// What is offered, best first where the caller likes several equally.
const OFFERED: [&str; 3] = ["zstd", "br", "gzip"];

/// The encoding the caller prefers, if it is worth it.
pub(super) fn worthwhile(preferred: Option<&'static str>, response: &Response) -> Option<&'static str> {
    let is_worth_it = || {
        let small = response.body().size_hint().exact().is_some_and(|bytes| bytes < MINIMUM_BYTES);
        !small && !response.headers().contains_key(CONTENT_ENCODING)
    };
    preferred.filter(|_| is_worth_it())
}

/// Compresses an answer.
pub(super) async fn compress(encoding: &'static str, response: Response) -> Response {
    // The layer decides by a request's headers; it gets one with the decision made, and the answer that is there.
    let mut request = Request::new(());
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
    let mut answer = Some(response);
    let answer = service_fn(move |_: Request<()>| ready(Ok::<_, Infallible>(answer.take().unwrap_or_default())));
    match Compression::new(answer).quality(LEVEL).call(request).await {
        Ok(compressed) => compressed.map(Body::new),
        Err(impossible) => match impossible {},
    }
}

/// The encoding to use (RFC 9110, 12.5.3): the highest weight counts, of equal ones our order. `None`: as it is.
pub(super) fn preferred(headers: &HeaderMap) -> Option<&'static str> {
    headers.get(ACCEPT_ENCODING)?;
    let mut weights = [None; OFFERED.len()];
    let (mut wildcard, mut identity) = (None, None);
    for value in headers.get_all(ACCEPT_ENCODING) {
        for element in value.to_str().unwrap_or_default().split(',') {
            let (coding, parameters) = element.split_once(';').unwrap_or((element, ""));
            let (coding, weight) = (coding.trim(), weight(parameters));
            if coding == "*" {
                wildcard = Some(weight);
            } else if coding.eq_ignore_ascii_case("identity") {
                identity = Some(weight);
            } else if let Some(at) = OFFERED.iter().position(|offered| coding.eq_ignore_ascii_case(offered)) {
                weights[at] = Some(weight);
            }
        }
    }
    // Without a word about it, identity is acceptable but less liked than whatever is named.
    let identity = identity.unwrap_or(0);
    let weigh = |at: usize| weights[at].or(wildcard).unwrap_or(0);
    let best = (0..OFFERED.len()).rev().max_by_key(|at| weigh(*at))?;
    (weigh(best) > 0 && weigh(best) >= identity).then_some(OFFERED[best])
}

/// A weight such as `;q=0.5`, in thousandths; 1000 where none is given, 0 where it can't be read.
fn weight(parameters: &str) -> u16 {
    let parameters = parameters.trim();
    if parameters.is_empty() {
        return 1000;
    }
    let Some((name, number)) = parameters.split_once('=') else { return 0 };
    match (name.trim(), number.trim().parse::<f32>()) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        ("q" | "Q", Ok(weight)) if (0.0..=1.0).contains(&weight) => (weight * 1000.0) as u16,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accepted: &str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, accepted.parse().expect("a header value"));
        preferred(&headers)
    }

    #[test]
    fn the_callers_weights_count_before_our_order() {
        assert_eq!(chosen("gzip, deflate, br, zstd"), Some("zstd"));
        assert_eq!(chosen("gzip, deflate, br"), Some("br"));
        assert_eq!(chosen("GZIP"), Some("gzip"));
        assert_eq!(chosen("br;q=0.5, gzip;q=0.9"), Some("gzip"));
        assert_eq!(chosen("*"), Some("zstd"));
        assert_eq!(chosen("*;q=0.1, gzip"), Some("gzip"));
    }

    #[test]
    fn what_is_refused_is_not_used() {
        for refused in
            ["", "identity", "deflate", "gzip;q=0", "*;q=0", "gzip;q=nonsense", "identity;q=0", "gzip;q=0.5, identity"]
        {
            assert_eq!(chosen(refused), None, "{refused}");
        }
    }
}
