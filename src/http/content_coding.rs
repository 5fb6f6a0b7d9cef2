//! Content codings and their negotiation (RFC 9110, 8.4.1 and 12.5.3), and media types of requests.

use axum::http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The content codings for responses, in ascending order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
    pub(super) const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// Returns the available coding that the request prefers. `None` means no coding, which is
    /// always acceptable.
    pub(super) fn preferred(headers: &HeaderMap, available: &[Self]) -> Option<Self> {
        let identity = quality(headers, &ACCEPT_ENCODING, "identity").unwrap_or(0.0);
        let wildcard = quality(headers, &ACCEPT_ENCODING, "*").unwrap_or(0.0);
        let qualities = available
            .iter()
            .map(|coding| (quality(headers, &ACCEPT_ENCODING, coding.name()).unwrap_or(wildcard), *coding));
        let best = qualities.filter(|(quality, _)| *quality > 0.0 && *quality >= identity);
        best.max_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b))).map(|(_, coding)| coding)
    }

    pub(super) fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Whether a request's content has a media type, with any parameters.
pub(super) fn has_media_type(headers: &HeaderMap, name: &str) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(name))
}

/// The quality of an item, such as a coding or `*`, in `Accept-Encoding` or `Accept`; `None` if it
/// isn't listed.
pub(super) fn quality(headers: &HeaderMap, list: &HeaderName, name: &str) -> Option<f32> {
    let values = headers.get_all(list).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).find_map(|item| {
        let mut parts = item.split(';');
        if !parts.next()?.trim().eq_ignore_ascii_case(name) {
            return None;
        }
        let mut quality = 1.0;
        for (parameter, value) in parts.map(|part| part.split_once('=').unwrap_or((part, ""))) {
            if parameter.trim().eq_ignore_ascii_case("q") {
                quality = value.trim().parse().ok().filter(|quality| (0.0..=1.0).contains(quality))?;
            } else if *list == ACCEPT_ENCODING {
                // Only media types can have parameters other than `q`.
                return None;
            }
        }
        Some(quality)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(accepted: &[&str]) -> Option<Coding> {
        let mut headers = HeaderMap::new();
        for value in accepted {
            headers.append(ACCEPT_ENCODING, value.parse().expect("a header value"));
        }
        Coding::preferred(&headers, &Coding::ALL)
    }

    #[test]
    fn quality_takes_precedence_over_our_preference() {
        for (accepted, coding) in [
            ("gzip", Some(Coding::Gzip)),
            ("gzip, br", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("GZIP;q=1.0, br ; q=0.5, zstd;q=0.9", Some(Coding::Gzip)),
            ("*", Some(Coding::Zstd)),
            ("zstd;q=0, *", Some(Coding::Gzip)),
            ("gzip, identity;q=0.5", Some(Coding::Gzip)),
            ("", None),
            ("identity", None),
            ("deflate", None),
            ("gzip;q=0", None),
            ("*;q=0", None),
            ("identity, gzip;q=0.5", None),
            ("gzip;q=NaN", None),
            ("br", None),
            ("gzip;q=2", None),
            ("zstd;x=1", None),
        ] {
            assert_eq!(preferred(&[accepted]), coding, "{accepted}");
        }
        assert_eq!(preferred(&["gzip", "zstd"]), Some(Coding::Zstd), "several header lines form one list");
        assert_eq!(preferred(&[]), None);
    }

    #[test]
    fn only_available_codings_are_chosen() {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("br, gzip, zstd;q=0.1"));
        assert_eq!(Coding::preferred(&headers, &[Coding::Zstd]), Some(Coding::Zstd));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("br, gzip"));
        assert_eq!(Coding::preferred(&headers, &[Coding::Zstd]), None);
    }
}
