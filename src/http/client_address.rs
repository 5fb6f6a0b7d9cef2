//! Who is calling, as far as that can be known behind proxies: for the log, and for counting failed authentications.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

use super::server::Arrival;

/// The caller's address: the nearest one that isn't a trusted proxy's.
///
/// Each proxy appends the address it was called from to `X-Forwarded-For`, so the list is read from its end, as far as
/// the addresses are of trusted proxies. What an untrusted caller writes there is never believed.
pub(super) fn of(arrival: Option<Arrival>, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let mut caller = arrival?.peer.ip().to_canonical();
    let forwarded: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|v| v.split(','))
        .collect();
    for hop in forwarded.iter().rev() {
        if !trusted.iter().any(|network| network.contains(&caller)) {
            break;
        }
        match address(hop.trim()) {
            Some(address) => caller = address.to_canonical(),
            None => break,
        }
    }
    Some(caller)
}

/// An address, to which some proxies add the port.
fn address(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|hop| hop.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(peer: &str, forwarded: &str) -> String {
        let peer = SocketAddr::new(peer.parse().expect("an address"), 1);
        let arrival = Some(Arrival { peer, is_late: false });
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().expect("a header"));
        let trusted = ["10.0.0.0/8".parse().expect("a network")];
        of(arrival, &headers, &trusted).expect("an address").to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(caller("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(caller("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(caller("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2"), "198.51.100.7", "the first one is made up");
        assert_eq!(caller("10.0.0.1", "unknown"), "10.0.0.1");
        assert_eq!(caller("::ffff:10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(caller("10.0.0.1", "198.51.100.7:4711"), "198.51.100.7");
        assert_eq!(caller("10.0.0.1", "1.1.1.1, [2001:db8::7]:4711"), "2001:db8::7");
        assert_eq!(caller("10.0.0.1", "[2001:db8::7]"), "2001:db8::7");
        assert_eq!(caller("10.0.0.1", ""), "10.0.0.1");
    }
}
