//! Who is asking: the key of a request and the web origin it comes from.

use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use jiff::Timestamp;

use super::problem::ApiError;
use crate::key::{AuthError, Grant, KeyStore};

/// Finds out what the key of a request grants.
///
/// # Errors
/// Where there is no key, or none that is valid now.
pub(super) fn authenticate(keys: &KeyStore, headers: &HeaderMap) -> Result<Arc<Grant>, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let presented = match (sent.next(), sent.next()) {
        (None, _) => return Err(ApiError::MissingApiKey),
        (Some(value), None) => bearer(value)?,
        // Which of two would count is a matter of taste between proxies; neither does.
        (Some(_), Some(_)) => return Err(ApiError::InvalidApiKey),
    };
    keys.authenticate(presented, Timestamp::now).map_err(|error| match error {
        AuthError::Missing => ApiError::MissingApiKey,
        AuthError::Invalid => ApiError::InvalidApiKey,
        AuthError::Expired => ApiError::ExpiredApiKey,
    })
}

/// The text after `Bearer`, whose case doesn't matter (RFC 9110, 11.1). Another scheme carries no API key.
fn bearer(value: &HeaderValue) -> Result<&str, ApiError> {
    let text = value.to_str().map_err(|_| ApiError::InvalidApiKey)?;
    let (scheme, token) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim_start()) } else { Err(ApiError::MissingApiKey) }
}

/// Checks the web origin of a request against those that its key is for. Only browsers send one.
///
/// # Errors
/// Where the key is for other origins.
pub(super) fn check_origin(grant: &Grant, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = String::from_utf8_lossy(origin.as_bytes());
    if grant.allows_origin(&origin) { Ok(()) } else { Err(ApiError::OriginNotAllowed(origin.into_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_bearer_in_any_case() {
        for value in ["Bearer k", "bearer k", "BEARER   k", " Bearer k "] {
            assert!(matches!(bearer(&HeaderValue::from_str(value).expect("a header")), Ok("k")), "{value:?}");
        }
        for value in ["Basic k", "k", "", "Bearerk"] {
            let header = HeaderValue::from_str(value).expect("a header");
            assert!(matches!(bearer(&header), Err(ApiError::MissingApiKey)), "{value:?}");
        }
        assert!(matches!(
            bearer(&HeaderValue::from_bytes(b"Bearer \xff").expect("a header")),
            Err(ApiError::InvalidApiKey)
        ));
    }
}
