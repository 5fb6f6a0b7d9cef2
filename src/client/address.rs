//! Configured server addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use ipnet::{Ipv4Net, Ipv6Net};

use crate::text::domain::is_top_level_domain;

/// Networks in IANA's special-purpose registry that don't contain public servers:
/// <https://www.iana.org/assignments/iana-ipv4-special-registry>.
const NOT_PUBLIC_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    // Not in the registry: Azure's service for its machines.
    v4(168, 63, 129, 16, 32),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

/// The public IPv6 range, and the reserved networks within it.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);
const NOT_PUBLIC_V6: [Ipv6Net; 3] = [v6(0x2001, 0, 23), v6(0x2001, 0xdb8, 32), v6(0x3fff, 0, 20)];
/// IPv6 networks that embed IPv4 addresses, each with the offset of the IPv4 address in bytes:
/// NAT64 and 6to4.
const HOLDS_V4: [(Ipv6Net, usize); 2] = [(v6(0x64, 0xff9b, 96), 12), (v6(0x2002, 0, 16), 2)];

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(first: u16, second: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), length)
}

/// Whether an address is on the public Internet: not on this machine, not on a local network, and
/// not reserved, for example for documentation.
pub(crate) fn is_public(address: IpAddr) -> bool {
    let is_public_v4 = |address: Ipv4Addr| !NOT_PUBLIC_V4.iter().any(|network| network.contains(&address));
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => {
            if let Some(mapped) = address.to_ipv4_mapped() {
                return is_public_v4(mapped);
            }
            let bytes = address.octets();
            if let Some((_, at)) = HOLDS_V4.iter().find(|(network, _)| network.contains(&address)) {
                return is_public_v4(Ipv4Addr::new(bytes[*at], bytes[at + 1], bytes[at + 2], bytes[at + 3]));
            }
            GLOBAL_V6.contains(&address) && !NOT_PUBLIC_V6.iter().any(|network| network.contains(&address))
        }
    }
}

/// Names of cloud metadata services that have a public suffix.
const METADATA_SERVICES: [&str; 3] = ["api.metadata.cloud.ibm.com", "metadata.goog", "metadata.tencentyun.com"];

/// Whether a host is a public address or a name with a public suffix, and so could be on the public
/// Internet. `127.1`, `0x7f.1`, `2130706433`, `localhost` and `metadata.google.internal` aren't.
pub(crate) fn is_public_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches([']', '.']).to_ascii_lowercase();
    if let Ok(address) = host.parse() {
        return is_public(address);
    }
    host.rsplit_once('.').is_some_and(|(_, last)| last != "arpa" && is_top_level_domain(last))
        && !METADATA_SERVICES.contains(&&*host)
}

/// Parses a server address: http or https, a host, and optionally a port and a path.
pub(crate) fn parse_server(text: &str) -> Option<Uri> {
    // `Uri` silently drops fragments.
    let url: Uri = if text.contains('#') { return None } else { text.parse().ok()? };
    is_server(&url).then_some(url)
}

/// Whether a URL has a host, and neither a user nor a query.
pub(crate) fn is_server(url: &Uri) -> bool {
    let has_host = url.host().is_some_and(|host| !host.is_empty())
        && url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    matches!(url.scheme_str(), Some("http" | "https")) && has_host && url.query().is_none()
}

/// Whether requests to a URL stay on this machine.
pub(crate) fn is_loopback(url: &Uri) -> bool {
    url.host().is_some_and(|host| host == "localhost" || host.starts_with("127.") || host == "[::1]")
}

/// An address without its user name and password, for messages.
pub(crate) fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_addresses_have_a_host_but_no_user_query_or_fragment() {
        for right in ["http://127.0.0.1:9200", "https://[::1]:9200/", "https://search.example/behind/a/path"] {
            assert!(parse_server(right).is_some(), "{right}");
        }
        for wrong in [
            "",
            "search.example:9200",
            "ftp://search.example",
            "https://",
            "http://:80/",
            "http://a/?x=1",
            "http://a/#b",
            "https://me:secret@search.example/",
        ] {
            assert!(parse_server(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for with_password in ["https://me:secret@search.example/", "me:secret@search.example", "https://me:se cret@a/"]
        {
            assert!(!without_user(with_password).contains("cret"), "{with_password}");
        }
    }

    #[test]
    fn only_internet_addresses_are_public() {
        let public = |text: &str| is_public(text.parse().expect("an address"));
        for right in ["93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(public(right), "{right}");
        }
        for wrong in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.31.255.255",
            "192.168.1.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "2001:db8::1",
            "64:ff9b::7f00:1",
            "2002:a00:1::1",
        ] {
            assert!(!public(wrong), "{wrong}");
        }
        assert!(public("64:ff9b::808:808") && public("2002:808:808::1"));
    }

    #[test]
    fn only_internet_addresses_and_names_with_a_public_suffix_are_public_hosts() {
        for right in "acme.com WWW.Acme.CO.UK. gov.uk xn--mller-kva.de acme.xn--p1ai a.github.io localhost.acme.com \
                      8.8.8.8 [2606:4700::1111]"
            .split_whitespace()
        {
            assert!(is_public_host(right), "{right}");
        }
        for wrong in "127.0.0.1 127.0.0.1. 127.1 127.1. 127.0.1 0x7f.1 0x7F.0.0.1 0x7f000001 0177.0.0.1 017700000001 \
                      2130706433 0 0.0.0.0 256.256.256.256 168.63.129.16 [::1] [::] [::ffff:127.0.0.1] \
                      [::FFFF:7f00:1] [0:0:0:0:0:0:0:1] [fe80::1%25eth0] [fd00:ec2::254] . com localhost LOCALHOST. \
                      localhost.. a.localhost localhost.localdomain router.lan printer.local router.home.arpa \
                      1.0.0.127.in-addr.arpa intranet metadata instance-data instance-data.ec2.internal \
                      metadata.google.internal Metadata.Google.Internal. metadata.goog Metadata.Goog. \
                      metadata.tencentyun.com host.docker.internal kubernetes.default.svc.cluster.local"
            .split_whitespace()
        {
            assert!(!is_public_host(wrong), "{wrong}");
        }
    }
}
