//! The id that every response carries, so that a caller and the log speak of the same request.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header's name.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id of a client's own that is kept.
const MAX_LENGTH: usize = 64;

/// A request's id: `[A-Za-z0-9_-]{1,64}`.
#[derive(Debug, Clone)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    /// The client's own id where it sends exactly one of the right form, else a new one.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut sent = headers.get_all(X_REQUEST_ID).iter();
        match (sent.next(), sent.next()) {
            (Some(own), None) if well_formed(own.as_bytes()) && !may_be_key(own) => Self(own.clone()),
            _ => Self::generate(),
        }
    }

    /// A process's random number and a counter: unique, and cheaper than a random number each.
    fn generate() -> Self {
        static PROCESS: LazyLock<u64> = LazyLock::new(|| {
            getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        });
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = (u128::from(*PROCESS) << 64) | u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
        let mut text = [0; 32];
        // There is room for as many digits.
        let _ = hex::encode_to_slice(number.to_be_bytes(), &mut text);
        Self(HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("unknown")))
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or("unknown")
    }

    pub(super) fn into_header(self) -> HeaderValue {
        self.0
    }
}

/// A key in the wrong header must not come to be written down everywhere.
fn may_be_key(id: &HeaderValue) -> bool {
    id.to_str().is_ok_and(|id| id.contains("sd_live_") || id.contains("sd_dev_"))
}

fn well_formed(id: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&id.len()) && id.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(sent: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for id in sent {
            headers.append(X_REQUEST_ID, id.parse().expect("a header value"));
        }
        RequestId::of(&headers).as_str().to_owned()
    }

    #[test]
    fn a_well_formed_id_is_kept() {
        for id in ["a", "Req_1-x", &"z".repeat(64)] {
            assert_eq!(id_for(&[id]), id);
        }
    }

    #[test]
    fn any_other_is_replaced() {
        for id in ["sd_live_abcdefgh_x", "x-sd_dev_abcdefgh_x", "", "a b", "a/b", "é", "a\tb", &"z".repeat(65)] {
            assert_ne!(id_for(&[id]), id);
        }
        assert!(!["one", "two"].contains(&id_for(&["one", "two"]).as_str()), "of two none is right");
    }

    #[test]
    fn generated_ids_are_well_formed_and_differ() {
        let (one, two) = (id_for(&[]), id_for(&[]));
        assert!(well_formed(one.as_bytes()));
        assert_ne!(one, two);
    }
}
