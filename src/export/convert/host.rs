//! Flags doubtful website hosts: placeholders, hosts on a local network, unknown top-level
//! domains.

use std::borrow::Cow;
use std::fmt::Display;
use std::net::IpAddr;

use fluent_uri::Uri;
use fluent_uri::component::Host;

use crate::export::Code;
use crate::text::domain::is_top_level_domain;

/// Single-label hosts that are placeholders.
const PLACEHOLDERS: [&str; 15] = [
    "changeme",
    "company",
    "domain",
    "fixme",
    "host",
    "hostname",
    "none",
    "null",
    "placeholder",
    "tba",
    "tbd",
    "todo",
    "undefined",
    "unknown",
    "xxx",
];
/// Placeholder labels right before the top-level domain.
const YOURS: [&str; 6] = ["your-company", "your-domain", "your-site", "yourcompany", "yourdomain", "yoursite"];
/// Top-level names used on local networks: from RFC 6762, ICANN's reservation of `internal`, and
/// common practice.
const LOCAL: [&str; 7] = ["corp", "home", "internal", "intranet", "lan", "local", "localdomain"];

const OWN_HELP: &str = "write the address of the product's own website";
const LOCAL_HELP: &str = "use an address that the directory's readers can reach";

/// The code, the message and the fix.
type Doubt = (Code, String, Cow<'static, str>);

/// Returns what's doubtful about an http or https URL, if anything. `.example` is for fictional
/// records and is accepted.
pub(super) fn doubt(uri: Uri<&str>) -> Option<Doubt> {
    let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
        return Some((Code::PlaceholderUrl, format!("the URL `{uri}` has no host"), OWN_HELP.into()));
    };
    if authority.userinfo().is_some_and(|user| user.as_str().contains(':')) {
        let message = "the URL has a user name and a password, which would be published".to_owned();
        return Some((Code::UrlCredentials, message, "write it without them, and change the password".into()));
    }
    if authority.port_to_u16().is_err() {
        let port = authority.port().map_or("", |port| port.as_str());
        let message = format!("the URL's port {port} is out of range; the highest is 65535");
        return Some((Code::InvalidPort, message, "correct the port, or leave it out".into()));
    }
    match authority.host_parsed() {
        Host::Ipv4(address) => {
            let is_local = address.is_private() || address.is_link_local();
            numeric(address.into(), address.is_documentation(), is_local)
        }
        Host::Ipv6(address) => {
            let is_local = address.is_unique_local() || address.is_unicast_link_local();
            numeric(address.into(), address.segments()[..2] == [0x2001, 0xdb8], is_local)
        }
        Host::RegName(name) if matches!(name.as_str(), "http" | "https") => {
            let rest = uri.path().as_str().trim_start_matches('/');
            let help = format!("write \"{name}://{rest}\"");
            Some((Code::UnknownTopLevelDomain, format!("the URL `{uri}` has two schemes"), help.into()))
        }
        Host::RegName(name) => named(name.as_str()),
        Host::IpvFuture { .. } => None,
    }
}

fn numeric(address: IpAddr, is_documentation: bool, is_local: bool) -> Option<Doubt> {
    if address.is_loopback() || address.is_unspecified() {
        return Some(own_computer(&address));
    }
    if is_documentation {
        return Some(reserved(&address));
    }
    is_local.then(|| local(&address))
}

/// Checks a named host; RFC 2606 and RFC 6761 reserve some names.
fn named(host: &str) -> Option<Doubt> {
    let name = host.strip_suffix('.').unwrap_or(host);
    let mut labels = name.rsplit('.');
    let (last, second) = (labels.next().unwrap_or_default(), labels.next());
    let is = |label: &str, names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(label));
    if is(last, &["localhost"]) {
        return Some(own_computer(&host));
    }
    let Some(second) = second else {
        return Some(if is(last, &["example", "test", "invalid"]) {
            reserved(&host)
        } else if is(last, &PLACEHOLDERS) {
            placeholder(host)
        } else {
            unknown(format!("the host `{host}` has no top-level domain"))
        });
    };
    if is(last, &["test", "invalid"]) || (is(last, &["com", "net", "org"]) && is(second, &["example"])) {
        return Some(reserved(&host));
    }
    if is(second, &YOURS) {
        return Some(placeholder(host));
    }
    if is(last, &LOCAL) || (is(last, &["arpa"]) && is(second, &["home"])) {
        return Some(local(&host));
    }
    let is_known = is(last, &["example"]) || is_top_level_domain(last);
    (!is_known).then(|| unknown(format!("the host `{host}` ends in `.{last}`, which isn't a top-level domain")))
}

fn placeholder(host: &str) -> Doubt {
    (Code::PlaceholderUrl, format!("the host `{host}` is a placeholder"), OWN_HELP.into())
}

fn own_computer(host: &dyn Display) -> Doubt {
    (Code::PlaceholderUrl, format!("the host `{host}` is the reader's own computer"), OWN_HELP.into())
}

fn reserved(host: &dyn Display) -> Doubt {
    let help = format!("{OWN_HELP}; for a fictional product use the top-level domain `.example`");
    (Code::PlaceholderUrl, format!("the host `{host}` is reserved for examples and tests"), help.into())
}

fn local(host: &dyn Display) -> Doubt {
    (Code::PrivateHost, format!("the host `{host}` is on a local network"), LOCAL_HELP.into())
}

fn unknown(message: String) -> Doubt {
    let help = "correct the host; for a fictional product use the top-level domain `.example`";
    (Code::UnknownTopLevelDomain, message, help.into())
}

#[cfg(test)]
mod tests {
    use fluent_uri::Uri;

    use super::doubt;

    #[test]
    fn hosts_that_cannot_be_a_public_website_are_reported() {
        for (url, code) in [
            ("https://example.com", "placeholder_url"),
            ("https://www.Example.ORG/product", "placeholder_url"),
            ("https://example.net.:443/", "placeholder_url"),
            ("https://example/", "placeholder_url"),
            ("http://localhost:8080/", "placeholder_url"),
            ("http://app.localhost", "placeholder_url"),
            ("http://127.0.0.1/", "placeholder_url"),
            ("http://[::1]:80/", "placeholder_url"),
            ("http://192.0.2.7/", "placeholder_url"),
            ("http://[2001:db8::1]/", "placeholder_url"),
            ("http://TODO", "placeholder_url"),
            ("https://todo/path", "placeholder_url"),
            ("https://www.your-domain.com/", "placeholder_url"),
            ("https://acme.test/", "placeholder_url"),
            ("https://acme.invalid/", "placeholder_url"),
            ("https://", "placeholder_url"),
            ("http://#", "placeholder_url"),
            ("https:acme.example", "placeholder_url"),
            ("http://192.168.1.4/", "private_host"),
            ("http://[fd00::1]/", "private_host"),
            ("http://wiki.local/", "private_host"),
            ("http://router.home.arpa/", "private_host"),
            ("http://wiki.corp.internal/", "private_host"),
            ("https://acme.cmo/", "unknown_top_level_domain"),
            ("https://wiki/", "unknown_top_level_domain"),
            ("https://1.2.3/", "unknown_top_level_domain"),
            ("http://http://acme.example/", "unknown_top_level_domain"),
            ("https://user:secret@acme.dev/", "url_credentials"),
            ("https://:secret@acme.dev:99999/", "url_credentials"),
            ("https://acme.dev:99999/", "invalid_port"),
            ("https://acme.dev:65536", "invalid_port"),
        ] {
            let found = doubt(Uri::parse(url).expect("a URI")).map(|(code, ..)| code.as_str());
            assert_eq!(found, Some(code), "{url}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_not_repeated() {
        let (_, message, help) = doubt(Uri::parse("https://user:secret@acme.dev/").expect("a URI")).expect("a doubt");
        assert!(!format!("{message} {help}").contains("secret"));
    }

    #[test]
    fn hosts_of_real_and_fictional_websites_are_accepted() {
        for url in [
            "https://acme.example/",
            "https://www.acme.EXAMPLE.",
            "https://acme.COM:443/",
            "https://xn--mller-kva.de/",
            "https://acme.xn--p1ai/",
            "https://myexample.com/",
            "https://example.de/",
            "https://example.com.au/",
            "https://todo.com/",
            "https://domain.com/",
            "https://test.acme.org/",
            "https://localhost.acme.org/",
            "https://local.acme.org/",
            "https://user@acme.dev/?u=http://localhost",
            "https://acme.dev:65535/@a:b",
            "https://acme.dev:/",
            "http://203.1.114.1/",
            "http://[2606:4700::1111]/",
            "http://abcdefghij234567.onion/",
        ] {
            assert!(doubt(Uri::parse(url).expect("a URI")).is_none(), "{url}");
        }
    }

    #[test]
    fn the_fix_for_two_schemes_drops_the_first() {
        let doubt = doubt(Uri::parse("http://http://acme.example/x").expect("a URI"));
        assert_eq!(doubt.map(|(.., help)| help).as_deref(), Some("write \"http://acme.example/x\""));
    }
}
