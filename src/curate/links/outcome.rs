//! The possible results of checking a link: a closed list with stable names, and what each means
//! for the record. They are stored in a file, so that a later run requests only links that are due.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::source::{Body, Content};
use crate::client::CertificateFault;
use crate::export::{Code, LinkAnswer, SourceClaim};

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
pub(super) enum OutcomeKind {
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

            pub(super) const fn kind(self) -> OutcomeKind {
                match self { $(Self::$outcome => OutcomeKind::$kind,)+ }
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
    /// The page, if it was wanted and reached.
    pub(super) body: Option<Body>,
}

impl From<Outcome> for Visit {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, status: None, to: None, pause: None, body: None }
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
    /// What the source said when it was last fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Content>,
}

impl Known {
    /// Combines a visit's result with what was known `before`.
    pub(super) fn after(
        url: &str,
        visit: Visit,
        content: Option<Content>,
        now: Timestamp,
        before: Option<&Self>,
    ) -> Self {
        let known = before.and_then(|before| before.content.as_ref());
        let content = content.map(|content| content.after(known, now)).or_else(|| known.cloned());
        let failing = before.and_then(|before| before.failing_since);
        let (failing_since, wait) = match visit.outcome.kind() {
            OutcomeKind::Dead | OutcomeKind::Unreachable | OutcomeKind::Tls => (failing.or(Some(now)), DUE_FAILED),
            // The visit revealed nothing new.
            OutcomeKind::Unchecked => (failing, DUE_UNCHECKED),
            OutcomeKind::Moved | OutcomeKind::Insecure => (None, DUE_MOVED),
            OutcomeKind::Fine => (None, DUE_FINE),
        };
        let wait = visit.pause.map_or(wait, |pause| pause.min(LONGEST_PAUSE));
        Self {
            url: url.into(),
            checked_at: now,
            due_at: now.checked_add(wait).unwrap_or(now),
            outcome: visit.outcome,
            status: visit.status,
            to: visit.to,
            failing_since,
            content,
        }
    }

    /// The results about the claims that rest on a source.
    pub(super) fn claim_answers(&self, claims: &[SourceClaim]) -> Vec<LinkAnswer> {
        let Some(content) = &self.content else { return Vec::new() };
        let changed_on = content.changed_at.map(day);
        let is_changed = |claim: &SourceClaim| {
            changed_on.as_ref().is_some_and(|day| claim.checked_on.is_none_or(|checked| checked.to_string() < *day))
        };
        let quoted = |claim: &SourceClaim| content.has(claim.quote.as_deref()?);
        let of =
            |order, outcome, code, cause: &str, help, since: Option<&String>, is_of: &dyn Fn(&SourceClaim) -> bool| {
                let claims: Vec<_> = (0..claims.len()).filter(|at| is_of(&claims[*at])).collect();
                (!claims.is_empty()).then(|| LinkAnswer {
                    order,
                    outcome,
                    code: Some(code),
                    cause: cause.to_owned(),
                    help,
                    to: self.to.clone(),
                    checked_on: day(self.checked_at),
                    failing_since: since.cloned(),
                    claims: Some(claims),
                })
            };
        let changed = if content.has_text { "the main text is different" } else { "the bytes are different" };
        let read_again = "read it again, correct what has changed, and enter the date of this check";
        let answers = [
            of(
                50,
                "quote_missing",
                Code::ChangedSource,
                "the text doesn't contain the quote",
                "read it again, and correct the claim and its quote",
                None,
                &|claim| quoted(claim) == Some(false),
            ),
            of(51, "changed", Code::ChangedSource, changed, read_again, changed_on.as_ref(), &|claim| {
                quoted(claim).is_none() && is_changed(claim)
            }),
            of(
                300,
                "without_text",
                Code::SourceWithoutText,
                "it has no text that can be read, so only its bytes are compared",
                "if there's a page with the same content, name that page",
                None,
                &|_| !content.has_text,
            ),
        ];
        answers.into_iter().flatten().collect()
    }

    fn is_dead(&self) -> bool {
        let is_long = |since: Timestamp| self.checked_at.duration_since(since) >= DEAD_AFTER;
        match self.outcome.kind() {
            OutcomeKind::Dead => true,
            OutcomeKind::Unreachable => self.failing_since.is_some_and(is_long),
            _ => false,
        }
    }

    /// The link's result for the report; `None` if the link works.
    pub(super) fn answer(&self) -> Option<LinkAnswer> {
        let (code, help) = match self.outcome.kind() {
            OutcomeKind::Fine => return None,
            OutcomeKind::Dead | OutcomeKind::Unreachable if self.is_dead() => {
                (Some(Code::DeadLink), "enter the page's current address, or remove the link")
            }
            OutcomeKind::Dead | OutcomeKind::Unreachable => (
                Some(Code::UnreachableLink),
                "check again in a few days: after three days without a response, the link counts as dead",
            ),
            OutcomeKind::Tls => (
                Some(Code::TlsProblem),
                "browsers warn their users about this: tell the vendor, or use a different address",
            ),
            OutcomeKind::Moved if self.outcome == Outcome::OtherDomain => (
                Some(Code::MovedLink),
                "check whether it's still the same page, because domains get sold; if it is, use the new address",
            ),
            OutcomeKind::Moved => (Some(Code::MovedLink), "use the new address"),
            OutcomeKind::Insecure => (Some(Code::InsecureLink), "write https: instead of http:"),
            OutcomeKind::Unchecked => (None, ""),
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
            claims: None,
        })
    }
}

fn day(time: Timestamp) -> String {
    jiff::tz::Offset::UTC.to_datetime(time).date().to_string()
}

/// Maximum size of the file in bytes, enough for a million links.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
const FORMAT: u32 = 1;
/// A link that hasn't been checked for this long is forgotten.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(180 * 24);

/// What is known about links, by address.
#[derive(Debug, Default)]
pub struct LinkCache(BTreeMap<Box<str>, Known>);

#[derive(Deserialize)]
struct CacheFile {
    format: u32,
    links: Vec<Known>,
}

/// Why a file isn't a link cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("it can't be read")]
    Read(#[from] io::Error),
    #[error("it isn't a link cache, or it's damaged")]
    Damaged(#[from] serde_json::Error),
    #[error("it has format {0}, but this version only reads format {FORMAT}")]
    Format(u32),
    #[error("it is larger than {MAX_BYTES} bytes")]
    TooLarge,
}

impl LinkCache {
    pub fn read(file: impl Read) -> Result<Self, CacheError> {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(CacheError::TooLarge);
        }
        let document: CacheFile = serde_json::from_slice(&bytes)?;
        if document.format != FORMAT {
            return Err(CacheError::Format(document.format));
        }
        Ok(Self(document.links.into_iter().map(|known| (known.url.clone(), known)).collect()))
    }

    /// Writes the file, one link per line.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"format\":{FORMAT},\"links\":[")?;
        for (index, known) in self.0.values().enumerate() {
            out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, known)?;
        }
        out.write_all(b"\n]}\n")
    }

    pub(super) fn get(&self, url: &str) -> Option<&Known> {
        self.0.get(url)
    }

    pub(super) fn is_due(&self, url: &str, now: Timestamp) -> bool {
        self.0.get(url).is_none_or(|known| {
            // The next run may be allowed to reach private addresses, and a wrong clock may have
            // left a time in the future.
            known.due_at <= now || known.outcome == Outcome::NotPublic || known.checked_at > now
        })
    }

    /// Whether a source must be fetched to say something about these claims.
    pub(super) fn lacks(&self, url: &str, claims: &[SourceClaim]) -> bool {
        let Some(Known { outcome, content, .. }) = self.0.get(url) else { return !claims.is_empty() };
        let is_reachable = matches!(outcome.kind(), OutcomeKind::Fine | OutcomeKind::Moved | OutcomeKind::Insecure);
        let is_known = |quote: &str| content.as_ref().is_some_and(|of| !of.has_text || of.has(quote).is_some());
        let are_known = content.is_some() && claims.iter().filter_map(|of| of.quote.as_deref()).all(is_known);
        is_reachable && !claims.is_empty() && !are_known
    }

    pub(super) fn learn(&mut self, url: &str, visit: Visit, content: Option<Content>, now: Timestamp) {
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let known = Known::after(url, visit, content, now, self.0.get(url));
        self.0.insert(url.into(), known);
    }

    pub(super) fn forget_old(&mut self, now: Timestamp) {
        self.0.retain(|_, known| now.duration_since(known.checked_at) < FORGOTTEN_AFTER);
    }
}
