//! Determines the caller's IP address behind trusted proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, HeaderValue};
use ipnet::IpNet;

/// Stands in for all callers whose address a proxy reports in an unreadable form, so they share one
/// quota.
const UNKNOWN: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// The caller's address: the nearest one that isn't a trusted proxy's; `None` for a request that
/// didn't come over a connection.
///
/// Each proxy appends its peer's address to `X-Forwarded-For`, so the list is read from the end for
/// as long as the addresses belong to trusted proxies. The header is ignored if the peer isn't
/// trusted. An entry that isn't an address never counts as the proxy's own: it becomes [`UNKNOWN`].
pub(in crate::http) fn client_ip(extensions: &Extensions, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
    let mut client = peer.ip().to_canonical();
    let values: Vec<_> = headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect();
    let hops = values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    for hop in hops.map(<[u8]>::trim_ascii).filter(|hop| !hop.is_empty()) {
        if !trusted.iter().any(|network| network.contains(&client)) {
            break;
        }
        client = str::from_utf8(hop).ok().and_then(parse).map_or(UNKNOWN, |address| address.to_canonical());
    }
    Some(client)
}

/// Parses an address. Some proxies append the port.
fn parse(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|hop| hop.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &str) -> String {
        client_of(peer, &[forwarded.as_bytes()])
    }

    fn client_of(peer: &str, forwarded: &[&[u8]]) -> String {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().expect("an address"), 1)));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(value).expect("a header"));
        }
        let trusted = ["10.0.0.0/8".parse().expect("a network")];
        client_ip(&extensions, &headers, &trusted).expect("an address").to_string()
    }

    #[test]
    fn only_trusted_proxies_can_forward_addresses() {
        assert_eq!(client("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(client("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2"), "198.51.100.7", "the first one is made up");
        assert_eq!(client("::ffff:10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "198.51.100.7:4711"), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "1.1.1.1, [2001:db8::7]:4711"), "2001:db8::7");
        assert_eq!(client("10.0.0.1", "[2001:db8::7]"), "2001:db8::7");
        assert_eq!(client("10.0.0.1", ""), "10.0.0.1");
    }

    #[test]
    fn unreadable_caller_address_is_never_mistaken_for_the_proxys_own() {
        assert_eq!(client("10.0.0.1", "unknown"), "::");
        assert_eq!(client_of("10.0.0.1", &[b"\xff"]), "::");
        assert_eq!(client_of("10.0.0.1", &[b"198.51.100.7, \xff"]), "::");
        assert_eq!(client_of("10.0.0.1", &[b"\xff, 198.51.100.7"]), "198.51.100.7", "the proxy's own entry comes last");
        assert_eq!(client_of("10.0.0.1", &[b"\xff", b"198.51.100.7"]), "198.51.100.7", "proxies may add a line");
        assert_eq!(client_of("10.0.0.1", &[b"198.51.100.7", b"10.0.0.2,"]), "198.51.100.7");
    }
}
