//! Parsers for options' values: addresses, networks, prefixes, texts and paths that may be empty.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, StringValueParser, TypedValueParser};
use ipnet::IpNet;

use crate::export::{is_id_prefix, is_public_key};
use crate::key::Rate;
use crate::text::printable::marked_hidden;

/// The value of an option whose default is empty. An empty value counts as unset, because a
/// container can't unset a variable that its image sets. The type isn't called `Option`, because
/// clap treats a type with that name specially.
pub type Given<T> = Option<T>;

/// Parses a path.
pub(super) fn path() -> impl TypedValueParser<Value = Given<PathBuf>> {
    OsStringValueParser::new().map(|path| (!path.is_empty()).then(|| path.into()))
}

/// Parses text.
pub(super) fn text() -> impl TypedValueParser<Value = Given<String>> {
    StringValueParser::new().map(non_empty)
}

/// Parses text that `check` accepts.
pub(super) fn checked<E>(
    check: impl Fn(&str) -> Result<String, E> + Clone,
) -> impl Fn(&str) -> Result<Given<String>, E> + Clone {
    move |text| check(text).map(non_empty)
}

fn non_empty(text: String) -> Given<String> {
    Some(text).filter(|text| !text.is_empty())
}

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

/// An export's id, and the prefix for the ids in it.
pub type ExportPrefix = (Box<str>, Box<str>);

/// Parses `export=prefix`. An empty prefix means none. An empty string yields an empty pair,
/// because a container can't unset a variable that its image sets.
pub(super) fn id_prefix(text: &str) -> Result<ExportPrefix, String> {
    if text.is_empty() {
        return Ok(ExportPrefix::default());
    }
    let example = "write an export's id and the prefix for the ids in it, such as dpg=dpg:";
    let (export, prefix) = text.rsplit_once('=').ok_or(example)?;
    if export.is_empty() {
        return Err(example.to_owned());
    }
    if !prefix.is_empty() && !is_id_prefix(prefix) {
        return Err("a prefix is 1 to 32 ASCII letters, digits and . _ : ~ -, such as dpg:".to_owned());
    }
    Ok((export.into(), prefix.into()))
}

/// Parses a minisign public key. An empty string counts as none, because a container can't unset a
/// variable that its image sets.
pub(super) fn trusted_key(text: &str) -> Result<String, String> {
    if text.is_empty() || is_public_key(text) {
        return Ok(text.to_owned());
    }
    Err("write a minisign public key: the second line of minisign.pub, which begins with RW".to_owned())
}

/// The maximum length of a title, in characters: what fits in a tab or on a line.
const MAX_TITLE_LENGTH: usize = 80;

/// The maximum length of an introduction, in characters: a paragraph.
const MAX_INTRODUCTION_LENGTH: usize = 600;

/// Parses how many requests per minute a visitor may send.
pub(super) fn rate(text: &str) -> Result<Rate, String> {
    let forms = format!("write the requests per minute, from 1 to {}, such as `300` or `300/min`", Rate::MAX);
    text.parse().ok().filter(|rate| *rate != Rate::UNLIMITED).ok_or(forms)
}

/// Checks a title. An empty one means the default title.
pub(super) fn title(text: &str) -> Result<String, String> {
    plain(text, MAX_TITLE_LENGTH)
}

/// Checks an introduction. An empty one means that there is none.
pub(super) fn introduction(text: &str) -> Result<String, String> {
    plain(text, MAX_INTRODUCTION_LENGTH)
}

fn plain(text: &str, max_length: usize) -> Result<String, String> {
    let text = text.trim();
    let length = text.chars().count();
    if length > max_length {
        return Err(format!("it has {length} characters; the maximum is {max_length}"));
    }
    match marked_hidden(text).find(|(c, is_hidden)| *is_hidden || *c == '\t') {
        Some((c, _)) => {
            Err(format!("it contains the hidden character {}; use a single line of plain text", c.escape_debug()))
        }
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{id_prefix, *};
    use crate::cli::Cli;

    #[test]
    fn an_empty_option_counts_as_unset() {
        const OPTIONS: [&str; 8] = [
            "--data",
            "--empty-queries",
            "--engine-ca-file",
            "--engine-key-file",
            "--engine-password-file",
            "--engine-user",
            "--public-url",
            "--site-title",
        ];
        let parsed = |value: Option<&str>| {
            let options = OPTIONS.iter().filter_map(|option| value.map(|value| [option, value]));
            let serve = Cli::parse_from(["software-directory"].into_iter().chain(options.flatten())).serve;
            let engine = serve.engine;
            [
                serve.data.data,
                serve.empty_queries,
                engine.engine_ca_file,
                engine.engine_key_file,
                engine.engine_password_file,
                engine.engine_user.map(Into::into),
                serve.public_url.map(Into::into),
                serve.site.site_title.map(Into::into),
            ]
        };
        assert_eq!(parsed(Some("")), [const { None }; 8]);
        assert_eq!(parsed(Some("x")), [const { Some("x") }; 8].map(|value| value.map(Into::into)));
    }

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

    #[test]
    fn the_prefix_follows_the_last_equals_sign() {
        let pair = |export: &str, prefix: &str| Ok((export.into(), prefix.into()));
        assert_eq!(id_prefix("dpg=dpg:"), pair("dpg", "dpg:"));
        assert_eq!(id_prefix("a=b=x."), pair("a=b", "x."));
        assert_eq!(id_prefix("dpg="), pair("dpg", ""));
        assert_eq!(id_prefix(""), pair("", ""));
        for wrong in ["dpg", "=x", "dpg=a/b", "dpg=a b", "dpg.json"] {
            assert!(id_prefix(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_title_and_the_introduction_are_short_lines_of_plain_text() {
        assert_eq!(title("  Ünïcode & <b> “Tools” \u{1F6E0} "), Ok("Ünïcode & <b> “Tools” \u{1F6E0}".to_owned()));
        assert!(title(&"é".repeat(80)).is_ok() && introduction(&"é".repeat(600)).is_ok());
        assert!(introduction("a\tb").is_err_and(|error| error.contains("hidden character \\t")));
    }
}
