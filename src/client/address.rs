//! Configured addresses of servers.

use http::Uri;

/// Parses the address of a server: http or https, a host, perhaps a port and a path.
pub(crate) fn parse_server(text: &str) -> Option<Uri> {
    // `Uri` drops a fragment silently.
    let url: Uri = if text.contains('#') { return None } else { text.parse().ok()? };
    is_server(&url).then_some(url)
}

/// Whether a URL has no user and no query.
pub(crate) fn is_server(url: &Uri) -> bool {
    let has_host = url.host().is_some_and(|host| !host.is_empty())
        && url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    matches!(url.scheme_str(), Some("http" | "https")) && has_host && url.query().is_none()
}

/// Whether requests to a URL stay on this machine.
pub(crate) fn is_loopback(url: &Uri) -> bool {
    url.host().is_some_and(|host| host == "localhost" || host.starts_with("127.") || host == "[::1]")
}

/// An address without its user and password, for messages.
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
    fn addresses_of_servers_have_a_host_and_no_user_query_or_fragment() {
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
}
