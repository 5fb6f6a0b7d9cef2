//! Normalises URLs, to recognise records for the same website.

use std::borrow::Cow;

use fluent_uri::Uri;
use fluent_uri::pct_enc::EStr;

/// Query parameters that say where a visitor came from, in addition to those starting with `utm_`.
const TRACKING: [&str; 8] = ["dclid", "fbclid", "gclid", "mc_cid", "mc_eid", "msclkid", "ref", "yclid"];

/// Normalises a website's URL: drops the scheme `http` or `https`, `www.`, the default port, the
/// path's trailing slashes, tracking parameters and the fragment, and converts the host to lower
/// case. Equal results most likely mean the same page. The result isn't a URL itself. Any other
/// text is returned unchanged, including URLs with other schemes.
pub fn normalised_url(url: &str) -> Cow<'_, str> {
    let Ok(uri) = Uri::parse(url) else { return url.into() };
    let scheme = uri.scheme().as_str();
    let default_port = match scheme {
        _ if scheme.eq_ignore_ascii_case("https") => "443",
        _ if scheme.eq_ignore_ascii_case("http") => "80",
        _ => return url.into(),
    };
    let Some(authority) = uri.authority() else { return url.into() };
    let host = authority.host().to_ascii_lowercase();
    // A trailing dot denotes the root of the domain name system.
    let host = host.strip_suffix('.').unwrap_or(&host);
    let mut normalised = String::with_capacity(url.len());
    if let Some(user) = authority.userinfo() {
        normalised.push_str(user.as_str());
        normalised.push('@');
    }
    normalised.push_str(host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host));
    if let Some(port) = authority.port().map(EStr::as_str).filter(|port| !["", default_port].contains(port)) {
        normalised.push(':');
        normalised.push_str(port);
    }
    normalised.push_str(uri.path().as_str().trim_end_matches('/'));
    let parameters = uri.query().map_or("", |query| query.as_str()).split('&');
    for (at, parameter) in parameters.filter(|parameter| !is_tracking(parameter)).enumerate() {
        normalised.push(if at == 0 { '?' } else { '&' });
        normalised.push_str(parameter);
    }
    normalised.into()
}

/// Whether a query parameter, `name` or `name=value`, is empty or only for tracking.
fn is_tracking(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    name.is_empty() || name.starts_with("utm_") || TRACKING.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::normalised_url;

    #[test]
    fn urls_of_the_same_page_are_normalised_to_the_same_form() {
        for url in [
            "https://example.org/App",
            "http://example.org/App",
            "HTTPS://WWW.Example.ORG/App/",
            "https://example.org:443/App",
            "http://www.example.org:80/App//",
            "https://example.org./App#top",
            "https://example.org/App?utm_source=x&UTM_medium=y&gclid=1&fbclid=2&ref=list",
            "https://example.org/App/?&#",
        ] {
            assert_eq!(normalised_url(url), "example.org/App", "{url}");
        }
        assert_eq!(normalised_url("https://example.org"), normalised_url("https://example.org/"));
        assert_eq!(normalised_url("https://xn--mnchen-3ya.example/"), "xn--mnchen-3ya.example");
        assert_eq!(
            normalised_url("https://e.org/?b=2&utm_id=1&a=1"),
            "e.org?b=2&a=1",
            "other parameters stay in order"
        );
    }

    #[test]
    fn urls_of_different_pages_stay_different() {
        for (one, other) in [
            ("https://example.org/App", "https://example.org/app"),
            ("https://example.org/?id=1", "https://example.org/?id=2"),
            ("https://example.org/?reference=1", "https://example.org/"),
            ("https://example.org:8443/", "https://example.org/"),
            ("http://example.org:443/", "http://example.org/"),
            ("https://wwwx.example.org/", "https://x.example.org/"),
            ("https://www.example/", "https://example/"),
            ("https://a@example.org/", "https://example.org/"),
            ("ftp://example.org/", "https://example.org/"),
        ] {
            assert_ne!(normalised_url(one), normalised_url(other), "{one} {other}");
        }
        for text in ["urn:isbn:0451450523", "mailto:a@example.org", "no URL", "", "https:example.org"] {
            assert_eq!(normalised_url(text), text);
        }
    }
}
