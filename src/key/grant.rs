//! The rights of a caller, who either has a key or is a page visitor, and the web origins that may use
//! a key.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use fluent_uri::Uri;
use fluent_uri::component::Host;
use serde::Serialize;

use super::quota::Debt;
use super::{AddressQuotas, Decision, Network, Quota, Rate};

/// The permissions of an authenticated caller. Contains no secrets.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The key's id, which may be logged; `page` or `api` for a visitor, which are too short to be a key's id.
    pub id: Arc<str>,
    pub rate: Rate,
    /// Web origins that may use the key; empty means any.
    pub origins: Vec<Origin>,
    pub allowance: Allowance,
    /// The number of requests authenticated with the key. It survives a reload of the key file.
    pub requests: Arc<AtomicU64>,
}

/// The quota from which a grant's requests are spent.
#[derive(Debug, Clone)]
pub enum Allowance {
    /// The key's own quota; survives a reload of the key file.
    Key(Arc<Quota>),
    /// The quota for the client's address.
    Address(Arc<AddressQuotas>, Network),
}

/// Who holds a grant, for limits other than the quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    Key(Arc<str>),
    Address(Network),
}

impl Holder {
    /// The holder that stands for all callers without a grant.
    pub fn none() -> Self {
        Self::Key("".into())
    }
}

impl Grant {
    pub fn for_visitor(id: &'static str, network: Network, rate: Rate, quotas: Arc<AddressQuotas>) -> Self {
        Self {
            id: id.into(),
            rate,
            origins: Vec::new(),
            allowance: Allowance::Address(quotas, network),
            requests: Arc::default(),
        }
    }

    pub fn is_visitor(&self) -> bool {
        matches!(self.allowance, Allowance::Address(..))
    }

    pub fn holder(&self) -> Holder {
        match self.allowance {
            Allowance::Key(_) => Holder::Key(Arc::clone(&self.id)),
            Allowance::Address(_, network) => Holder::Address(network),
        }
    }

    /// Spends one request; `None` if there's no limit.
    pub fn spend(&self, now: Instant) -> Option<Decision> {
        self.with_debt(now, Debt::spend)
    }

    /// Charges extra requests for one that was allowed, which may put the quota in debt; `None` if
    /// there's no limit.
    pub fn charge(&self, requests: u64, now: Instant) -> Option<Decision> {
        self.with_debt(now, |debt, limit| debt.charge(limit, requests))
    }

    /// Refunds a request that was spent at `spent` but not carried out.
    pub fn give_back(&self, spent: Instant) {
        self.with_debt(spent, Debt::give_back);
    }

    /// Looks at the quota without spending any of it; `None` if there's no limit.
    pub fn peek(&self, now: Instant) -> Option<Decision> {
        self.with_debt(now, |debt, limit| debt.peek(limit))
    }

    fn with_debt<T>(&self, now: Instant, change: impl FnOnce(&mut Debt, u32) -> T) -> Option<T> {
        let limit = self.rate.per_minute()?;
        let change = |debt: &mut Debt| change(debt, limit);
        Some(match &self.allowance {
            Allowance::Key(quota) => quota.with_debt(now, change),
            Allowance::Address(quotas, network) => quotas.with_debt(*network, now, change),
        })
    }

    /// Whether the key may be used to sign in to the pages, which don't check origins.
    pub fn may_sign_in(&self) -> bool {
        self.origins.is_empty()
    }

    /// Whether a request with this `Origin` header may use the key. Only browsers send the header;
    /// requests without it aren't restricted.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.origins.is_empty() || self.origins.iter().any(|allowed| allowed.matches(origin))
    }
}

/// A web origin as browsers send it in `Origin`: scheme, host and port, in lower case, without the
/// scheme's default port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
