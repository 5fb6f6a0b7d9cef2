//! Web origins that may use a key.

use std::fmt;
use std::str::FromStr;

use fluent_uri::Uri;
use fluent_uri::component::Host;

/// A web origin as browsers send it in `Origin`: scheme, host and port, in lower case, without the
/// scheme's default port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(Box<str>);

/// An invalid origin; the message says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{origin}` is not a web origin: {reason}; write one such as `https://example.org` or `http://localhost:3000`")]
pub struct OriginError {
    origin: String,
    reason: &'static str,
}

impl Origin {
    pub fn matches(&self, header: &str) -> bool {
        // Browsers send the normal form, but other spellings are equivalent.
        *self.0 == *header || header.parse::<Self>().is_ok_and(|origin| origin == *self)
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        normalise(text)
            .map(|origin| Self(origin.into()))
            .map_err(|reason| OriginError { origin: text.to_owned(), reason })
    }
}

fn normalise(text: &str) -> Result<String, &'static str> {
    if text == "*" {
        return Err("a key without origins may be used from any origin");
    }
    if !text.is_ascii() {
        return Err("a host with letters other than a to z must be written in its `xn--` form");
    }
    let uri = Uri::parse(text).map_err(|_| "it is not a URL")?;
    let scheme = uri.scheme().as_str().to_ascii_lowercase();
    let own_port = match scheme.as_str() {
        "http" => "80",
        "https" => "443",
        _ => return Err("its scheme must be http or https"),
    };
    let authority = uri.authority().ok_or("the `//` before the host is missing")?;
    if authority.has_userinfo() {
        return Err("it must not contain a user name");
    }
    if !uri.path().as_str().is_empty() || uri.has_query() || uri.has_fragment() {
        return Err("it must end after the host or port, without a path or `/`");
    }
    if matches!(authority.host_parsed(), Host::RegName(name) if !is_host_name(name.as_str())) {
        return Err("its host must be a host name or an IP address");
    }
    let host = authority.host().to_ascii_lowercase();
    match authority.port().map(fluent_uri::pct_enc::EStr::as_str).filter(|port| !port.is_empty()) {
        Some(port) => match port.parse::<u16>() {
            Ok(port) if port.to_string() == own_port => Ok(format!("{scheme}://{host}")),
            Ok(port) if port > 0 => Ok(format!("{scheme}://{host}:{port}")),
            _ => Err("its port must be 1 to 65535"),
        },
        None => Ok(format!("{scheme}://{host}")),
    }
}

fn is_host_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn an_origin_takes_the_form_that_browsers_send() {
        for (written, normal) in [
            ("https://Example.ORG", "https://example.org"),
            ("HTTPS://example.org:443", "https://example.org"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("https://example.org:80", "https://example.org:80"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            let origin: Origin = written.parse().expect(written);
            assert_eq!(origin.as_str(), normal);
            assert!(origin.matches(normal) && origin.matches(written), "{written}");
        }
    }

    #[test]
    fn a_different_host_scheme_or_port_is_a_different_origin() {
        let origin: Origin = "https://example.org".parse().expect("an origin");
        for other in [
            "http://example.org",
            "https://www.example.org",
            "https://example.org:8443",
            "https://example.org.evil",
            "null",
            "",
        ] {
            assert!(!origin.matches(other), "{other}");
        }
    }

    #[test]
    fn an_invalid_origin_is_rejected_with_the_reason() {
        for (wrong, reason) in [
            ("*", "any"),
            ("example.org", "not a URL"),
            ("https:example.org", "`//`"),
            ("ftp://example.org", "http or https"),
            ("https://example.org/", "path"),
            ("https://example.org/app", "path"),
            ("https://example.org?x", "path"),
            ("https://me@example.org", "user name"),
            ("https://", "host"),
            ("https://*.example.org", "host"),
            ("https://example.org:0", "port"),
            ("https://example.org:65536", "port"),
            ("https://exämple.org", "xn--"),
        ] {
            let error = wrong.parse::<Origin>().expect_err(wrong).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
