//! Settings for connecting to a cluster.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

use super::Credentials;
use crate::client::{self, TlsError};

/// Settings for connecting to a cluster.
#[derive(Debug, Clone)]
pub struct ClusterSettings {
    /// The nodes' addresses. List every data node, because searches prefer listed nodes that are
    /// answering. A single address may be a load balancer's.
    pub urls: Vec<Uri>,
    /// A PEM file with certificate authorities to trust instead of the machine's.
    pub ca_file: Option<PathBuf>,
    /// The credentials to send with each request.
    pub credentials: Option<Credentials>,
    /// The time limit for a request, including the retry and the wait for its turn.
    pub request_timeout: Duration,
    /// How many requests may be in progress at once; any others have to wait. At least 1.
    pub max_concurrent_requests: usize,
}

impl ClusterSettings {
    /// The default time limit for a request. Half of it must exceed the second it takes to notice a
    /// silent node.
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
    /// The default limit on requests in progress.
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

    /// Parses a node's address: http or https, a host, and optionally a port and a path.
    pub fn parse_url(text: &str) -> Result<Uri, ClusterSettingsError> {
        client::parse_server(text).ok_or_else(|| ClusterSettingsError::Url(client::without_user(text)))
    }
}

/// Why these settings can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ClusterSettingsError {
    #[error("no cluster address was given; give the URL of at least one node, such as https://search-1.example:9200")]
    NoUrl,
    #[error(
        "{0:?} isn't the address of a node; give an http or https URL without user, query or fragment, such as \
         https://search-1.example:9200, and the user and password as separate options"
    )]
    Url(String),
    #[error("the certificates in {} can't be read; give a PEM file", path.display())]
    CaFile {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{} contains no certificate; give a PEM file with the cluster's CA certificate", .0.display())]
    NoCertificate(PathBuf),
    #[error(
        "this machine has no root certificates for https; give the CA's file with --engine-ca-file, install the \
         ca-certificates package, or set SSL_CERT_FILE"
    )]
    Certificates,
    #[error("TLS can't be set up")]
    Tls(#[source] TlsError),
    #[error("the password or key in {} can't be read", path.display())]
    SecretFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{0:?} isn't a valid user name for a cluster; it must not be empty or contain a colon or control characters"
    )]
    User(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_address_is_shown_without_its_password() {
        let error = ClusterSettings::parse_url("https://me:secret@search.example/").expect_err("a user").to_string();
        assert!(error.contains("search.example") && !error.contains("secret"), "{error}");
    }
}
