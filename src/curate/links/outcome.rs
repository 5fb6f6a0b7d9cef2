//! The possible results of checking a link: a closed list with stable names, and what each means
//! for the record.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::client::CertificateFault;
use crate::export::{Code, LinkAnswer};

/// A link that has been unreachable for this long is dead.
const DEAD_AFTER: SignedDuration = SignedDuration::from_hours(3 * 24);
/// How long until a link is due for another check if it works, its address is wrong, it couldn't be
/// reached, or it wasn't checked.
const DUE_FINE: SignedDuration = SignedDuration::from_hours(30 * 24);
const DUE_MOVED: SignedDuration = SignedDuration::from_hours(7 * 24);
const DUE_FAILED: SignedDuration = SignedDuration::from_hours(20);
const DUE_UNCHECKED: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The longest wait that a server may request.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What an outcome means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fine,
    Dead,
    Unreachable,
    Tls,
    Moved,
    Insecure,
    Unchecked,
}

/// Declares the outcomes, worst first: their names and kinds, and descriptions of the cause in
/// which `{}` stands for the status.
macro_rules! outcomes {
    ($($outcome:ident = $name:literal, $kind:ident, $cause:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) enum Outcome {
            $(#[serde(rename = $name)] $outcome,)+
        }

        impl Outcome {
            pub(super) const fn as_str(self) -> &'static str {
                match self { $(Self::$outcome => $name,)+ }
            }

            pub(super) const fn kind(self) -> Kind {
                match self { $(Self::$outcome => Kind::$kind,)+ }
            }

            const fn cause(self) -> &'static str {
                match self { $(Self::$outcome => $cause,)+ }
            }
        }
    };
}

outcomes! {
    NotFound = "not_found", Dead, "the server responds with {}";
    UnknownHost = "unknown_host", Unreachable, "the host has no address";
    NoConnection = "no_connection", Unreachable, "can't connect to the server";
    NoAnswer = "no_answer", Unreachable, "the server didn't respond in time";
    BrokenAnswer = "broken_answer", Unreachable, "the server's response can't be read";
    ServerError = "server_error", Unreachable, "the server responds with {}";
    TooManyRedirects = "too_many_redirects", Unreachable, "there are too many redirects";
    BrokenRedirect = "broken_redirect", Unreachable, "the redirect has no usable address";
    CertificateExpired = "certificate_expired", Tls, "the certificate has expired";
    CertificateNotYetValid = "certificate_not_yet_valid", Tls, "the certificate isn't valid yet";
    CertificateOfOtherHost = "certificate_of_other_host", Tls, "the certificate is for another host";
    CertificateUnknownIssuer = "certificate_unknown_issuer", Tls,
        "the certificate is from an authority that this machine doesn't trust, or its chain is incomplete";
    CertificateInvalid = "certificate_invalid", Tls, "the certificate isn't valid; it may be self-signed";
    TlsFailed = "tls_failed", Tls, "the TLS connection fails";
    OtherDomain = "other_domain", Moved, "it redirects to another domain";
    Moved = "moved", Moved, "it has moved permanently";
    Insecure = "insecure", Insecure, "the same address works with https:";
    Refused = "refused", Unchecked, "the server responds with {}";
    Later = "later", Unchecked, "the server asked clients to back off";
    Robots = "robots", Unchecked, "robots.txt doesn't allow it";
    RobotsUnavailable = "robots_unavailable", Unchecked, "robots.txt can't be read";
    NotPublic = "not_public", Unchecked, "the address isn't public; use --private to check it anyway";
    NotAsked = "not_asked", Unchecked, "the address has a user name, an invalid port, or a scheme other than HTTP(S)";
    Fine = "fine", Fine, "it works";
}

impl From<Option<CertificateFault>> for Outcome {
    fn from(fault: Option<CertificateFault>) -> Self {
        match fault {
            Some(CertificateFault::Expired) => Self::CertificateExpired,
            Some(CertificateFault::NotYetValid) => Self::CertificateNotYetValid,
            Some(CertificateFault::OtherHost) => Self::CertificateOfOtherHost,
            Some(CertificateFault::UnknownIssuer) => Self::CertificateUnknownIssuer,
            Some(CertificateFault::Invalid) => Self::CertificateInvalid,
            None => Self::TlsFailed,
        }
    }
}

/// The result of following a link to its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) outcome: Outcome,
    pub(super) status: Option<u16>,
    /// The new address, or where the redirects ended.
    pub(super) to: Option<Box<str>>,
    /// How long the server wants clients to wait.
    pub(super) pause: Option<SignedDuration>,
}

impl From<Outcome> for Visit {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, status: None, to: None, pause: None }
    }
}

impl Visit {
    pub(super) fn answered(outcome: Outcome, status: u16) -> Self {
        Self { status: Some(status), ..Self::from(outcome) }
    }
}

/// What is known about a link, as stored in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    pub(super) url: Box<str>,
    pub(super) checked_at: Timestamp,
    pub(super) due_at: Timestamp,
    pub(super) outcome: Outcome,
    pub(super) status: Option<u16>,
    pub(super) to: Option<Box<str>>,
    /// When the current run of failures began.
    pub(super) failing_since: Option<Timestamp>,
}

impl Known {
    /// Combines a visit's result with what was known `before`.
    pub(super) fn after(url: &str, visit: Visit, now: Timestamp, before: Option<&Self>) -> Self {
        let failing_since = match visit.outcome.kind() {
            Kind::Dead | Kind::Unreachable | Kind::Tls => {
                Some(before.and_then(|before| before.failing_since).unwrap_or(now))
            }
            // The visit revealed nothing new.
            Kind::Unchecked => before.and_then(|before| before.failing_since),
            Kind::Fine | Kind::Moved | Kind::Insecure => None,
        };
        let wait = visit.pause.map(|pause| pause.min(LONGEST_PAUSE));
        let wait = wait.unwrap_or_else(|| match visit.outcome.kind() {
            Kind::Fine => DUE_FINE,
            Kind::Moved | Kind::Insecure => DUE_MOVED,
            Kind::Dead | Kind::Unreachable | Kind::Tls => DUE_FAILED,
            Kind::Unchecked => DUE_UNCHECKED,
        });
        Self {
            url: url.into(),
            checked_at: now,
            due_at: now.checked_add(wait).unwrap_or(now),
            outcome: visit.outcome,
            status: visit.status,
            to: visit.to,
            failing_since,
        }
    }

    fn is_dead(&self) -> bool {
        let is_long = |since: Timestamp| self.checked_at.duration_since(since) >= DEAD_AFTER;
        match self.outcome.kind() {
            Kind::Dead => true,
            Kind::Unreachable => self.failing_since.is_some_and(is_long),
            _ => false,
        }
    }

    /// The link's result for the report; `None` if the link works.
    pub(super) fn answer(&self) -> Option<LinkAnswer> {
        let (code, help) = match self.outcome.kind() {
            Kind::Fine => return None,
            Kind::Dead | Kind::Unreachable if self.is_dead() => {
                (Some(Code::DeadLink), "enter the page's current address, or remove the link")
            }
            Kind::Dead | Kind::Unreachable => (
                Some(Code::UnreachableLink),
                "check again in a few days: after three days without a response, the link counts as dead",
            ),
            Kind::Tls => (
                Some(Code::TlsProblem),
                "browsers warn their users about this: tell the vendor, or use a different address",
            ),
            Kind::Moved if self.outcome == Outcome::OtherDomain => (
                Some(Code::MovedLink),
                "check whether it's still the same page, because domains get sold; if it is, use the new address",
            ),
            Kind::Moved => (Some(Code::MovedLink), "use the new address"),
            Kind::Insecure => (Some(Code::InsecureLink), "write https: instead of http:"),
            Kind::Unchecked => (None, ""),
        };
        let status = self.status.and_then(|status| http::StatusCode::from_u16(status).ok());
        let status = status.map(|status| status.to_string()).unwrap_or_default();
        // Dead links come first, whatever their outcome.
        let order = (self.outcome as usize) + if self.is_dead() { 0 } else { 100 };
        Some(LinkAnswer {
            order,
            outcome: self.outcome.as_str(),
            code,
            cause: self.outcome.cause().replace("{}", status.trim_end_matches(" <unknown status code>")),
            help,
            to: self.to.clone(),
            checked_on: day(self.checked_at),
            failing_since: self.failing_since.map(day),
        })
    }
}

fn day(time: Timestamp) -> String {
    jiff::tz::Offset::UTC.to_datetime(time).date().to_string()
}
