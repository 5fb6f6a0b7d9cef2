//! Determines the caller's IP address behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
use ipnet::IpNet;

/// Returns the nearest address that isn't a trusted proxy's; `None` if the request came over no
/// connection.
///
/// Each proxy appends its peer's address to `X-Forwarded-For`. So the list is read from its end for
/// as long as the addresses belong to trusted proxies. Headers from an untrusted peer are ignored.
pub(in crate::http) fn client_ip(extensions: &Extensions, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
    let mut client = peer.ip().to_canonical();
    let hops = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = hops.flat_map(|value| value.split(',')).collect();
    for hop in hops.iter().rev() {
        if !trusted.iter().any(|network| network.contains(&client)) {
            break;
        }
        match parse(hop.trim()) {
            Some(address) => client = address.to_canonical(),
            None => break,
        }
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
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().expect("an address"), 1)));
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().expect("a header"));
        let trusted = ["10.0.0.0/8".parse().expect("a network")];
        client_ip(&extensions, &headers, &trusted).expect("an address").to_string()
    }

    #[test]
    fn forwarded_addresses_count_from_trusted_proxies_only() {
        assert_eq!(client("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(client("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2"), "198.51.100.7", "the first one is made up");
        assert_eq!(client("10.0.0.1", "unknown"), "10.0.0.1");
        assert_eq!(client("::ffff:10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "198.51.100.7:4711"), "198.51.100.7");
        assert_eq!(client("10.0.0.1", "1.1.1.1, [2001:db8::7]:4711"), "2001:db8::7");
        assert_eq!(client("10.0.0.1", "[2001:db8::7]"), "2001:db8::7");
        assert_eq!(client("10.0.0.1", ""), "10.0.0.1");
    }
}
