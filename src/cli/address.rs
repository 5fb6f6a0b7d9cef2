//! Parses addresses and networks the way people write them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};

use ipnet::IpNet;

/// Parses an address to listen on: `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`. A port
/// alone, `8080` or `:8080`, means 127.0.0.1.
///
/// # Errors
/// If it's none of these, or if the name doesn't resolve. The message lists the valid forms.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    let forms =
        "write an address and a port, such as `127.0.0.1:8080`, `[::]:8080` or `localhost:8080`, or a port alone";
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if text.parse::<IpAddr>().is_ok() {
        return Err(format!("the port is missing; {forms}"));
    }
    let has_port = text.rsplit_once(':').is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
    if !has_port {
        return Err(forms.to_owned());
    }
    let addresses: Vec<_> = text.to_socket_addrs().map_err(|error| format!("{error}; {forms}"))?.collect();
    // There's only one listener. IPv4 is preferred, because nearly every client supports it.
    let address = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    address.copied().ok_or_else(|| format!("the name has no address; {forms}"))
}

/// Parses an address to listen on that only this machine can reach.
pub(super) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = listen(text)?;
    if address.ip().to_canonical().is_loopback() {
        return Ok(address);
    }
    Err("other machines could reach it, but a preview is only for this one: write an address such as \
    `127.0.0.1:8081`, or a port \
         alone"
        .to_owned())
}

/// Parses a network. An address without a prefix length is a network of just that address.
///
/// # Errors
/// If it's neither. The message lists the valid forms.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    address.or_else(|_| text.parse()).map_err(|_| {
        "write an address such as `10.0.0.1`, or a network such as `10.0.0.0/8` or `2001:db8::/32`".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_means_this_machine_and_names_are_resolved() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("0", "127.0.0.1:0"),
            ("localhost:8300", "127.0.0.1:8300"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(listen(text).map(|address| address.to_string()), Ok(address.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_invalid_address_is_rejected_with_a_list_of_valid_forms() {
        for wrong in ["", ":", "localhost", "127.0.0.1", "::1", "70000", ":70000", "host:port", "http://localhost:80"] {
            let error = listen(wrong).expect_err(wrong);
            assert!(error.contains("`127.0.0.1:8080`"), "{wrong}: {error}");
        }
    }

    #[test]
    fn preview_listens_only_on_this_machine() {
        for own in ["8081", "localhost:0", "127.8.8.8:80", "[::1]:8081", "[::ffff:127.0.0.1]:80"] {
            assert!(loopback(own).is_ok(), "{own}");
        }
        for other in ["0.0.0.0:8081", "[::]:8081", "10.0.0.1:80", "[::ffff:0.0.0.0]:80"] {
            assert!(loopback(other).is_err_and(|error| error.contains("127.0.0.1:8081")), "{other}");
        }
    }

    #[test]
    fn an_address_without_a_prefix_length_is_a_network_of_one() {
        for (text, net) in
            [("10.0.0.1", "10.0.0.1/32"), ("::1", "::1/128"), ("10.0.0.0/8", "10.0.0.0/8"), ("fd00::/8", "fd00::/8")]
        {
            assert_eq!(network(text).map(|network| network.to_string()), Ok(net.to_owned()), "{text}");
        }
        assert!(network("proxy").is_err() && network("10.0.0.1/33").is_err());
    }
}
