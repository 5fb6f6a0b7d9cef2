//! How a cluster is reached.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

use super::Credentials;

/// How a cluster is reached.
#[derive(Debug, Clone)]
pub struct ClusterSettings {
    /// The nodes' addresses. Name each data node: searches prefer the nodes that are named and answer. A single address may be a
    /// balancer's.
    pub urls: Vec<Uri>,
    /// The PEM file of the certification authorities to trust, in place of the machine's.
    pub ca_file: Option<PathBuf>,
    /// Sent with each request.
    pub credentials: Option<Credentials>,
    /// The time for a request with its retry and the wait for its turn.
    pub request_timeout: Duration,
    /// The most requests in progress; more wait. At least 1.
    pub max_concurrent_requests: usize,
}

impl ClusterSettings {
    /// The default time for a request. Half of it has to exceed the second in which a silent node is noticed.
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
    /// The default limit of requests in progress.
    pub const MAX_CONCURRENT_REQUESTS: usize = 64;

    /// The default settings for these addresses.
    pub fn new(urls: Vec<Uri>) -> Self {
        Self {
            urls,
            ca_file: None,
            credentials: None,
            request_timeout: Self::REQUEST_TIMEOUT,
            max_concurrent_requests: Self::MAX_CONCURRENT_REQUESTS,
        }
    }

    /// Parses a node's address: http or https, a host, perhaps a port and a path.
    pub fn parse_url(text: &str) -> Result<Uri, ClusterSettingsError> {
        let wrong = || ClusterSettingsError::Url(without_user(text));
        // `Uri` drops a fragment silently.
        let url: Uri = if text.contains('#') { return Err(wrong()) } else { text.parse().map_err(|_| wrong())? };
        check_url(&url)?;
        Ok(url)
    }
}

/// Why a cluster can't be used as the settings say.
#[derive(Debug, thiserror::Error)]
pub enum ClusterSettingsError {
    #[error(
        "no address of the cluster is given: give the URL of at least one node, such as https://search-1.example:9200"
    )]
    NoUrl,
    #[error(
        "{0:?} isn't the address of a node: give an http or https URL without user, query or fragment, such as \
         https://search-1.example:9200; user and password are given apart"
    )]
    Url(String),
    #[error("the certificates in {} can't be read: it must be a PEM file", path.display())]
    CaFile {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{} holds no certificate: it must be a PEM file with the certificate of the cluster's CA", .0.display())]
    NoCertificate(PathBuf),
    #[error(
        "this machine has no root certificates for https: give the CA's file with --engine-ca-file, install the package \
         ca-certificates, or set SSL_CERT_FILE"
    )]
    Certificates,
    #[error("TLS can't be set up")]
    Tls(#[source] rustls::Error),
    #[error("the password or key in {} can't be read", path.display())]
    SecretFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{0:?} isn't a user of a cluster: it must have characters, and neither a colon nor control characters")]
    User(String),
}

/// Checks the form of a node's address.
pub(super) fn check_url(url: &Uri) -> Result<(), ClusterSettingsError> {
    let has_host = url.host().is_some_and(|host| !host.is_empty())
        && url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    if !matches!(url.scheme_str(), Some("http" | "https")) || !has_host || url.query().is_some() {
        return Err(ClusterSettingsError::Url(without_user(&url.to_string())));
    }
    Ok(())
}

/// An address without its user and password, for messages.
fn without_user(url: &str) -> String {
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
    fn addresses_are_urls_of_nodes_and_passwords_are_not_shown() {
        for right in ["http://127.0.0.1:9200", "https://[::1]:9200/", "https://search.example/behind/a/path"] {
            assert!(ClusterSettings::parse_url(right).is_ok(), "{right}");
        }
        for wrong in ["", "search.example:9200", "ftp://search.example", "https://", "http://a/?x=1", "http://a/#b"] {
            assert!(ClusterSettings::parse_url(wrong).is_err(), "{wrong}");
        }
        for with_password in ["https://me:secret@search.example/", "me:secret@search.example", "https://me:se cret@a/"]
        {
            let error = ClusterSettings::parse_url(with_password).expect_err("a user").to_string();
            assert!(!error.contains("cret"), "{error}");
        }
    }
}
