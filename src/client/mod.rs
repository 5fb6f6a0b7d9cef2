//! The HTTP client used by cluster connections, `healthcheck` and `check --links`: HTTP/1.1, TLS for
//! https, and a connection pool. It doesn't follow redirects, so credentials only reach the
//! configured address. A guarded client, for addresses that come from records, connects
//! only to public addresses.

mod address;
mod connect;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use connect::{Connector, Guard};
use http::header::{HeaderValue, USER_AGENT};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

pub(crate) use address::{is_loopback, is_server, parse_server, without_user};
pub(crate) use connect::{
    CertificateFault, MachineNetwork, Network, Proxies, ReachError, certificate_fault, machine_roots, roots_of,
};
pub(crate) use rustls::{Error as TlsError, RootCertStore as Roots};

/// How long an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest response headers that a guarded client accepts.
const MAX_HEAD_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Client(legacy::Client<HttpsConnector<Connector>, Full<Bytes>>);

/// Why a request got no response. Displays only the cause; the caller adds the address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error(transparent)]
    Connect(legacy::Error),
    #[error(transparent)]
    Tls(TlsError),
    #[error(transparent)]
    Broken(legacy::Error),
}

impl RequestError {
    /// Why a guarded client couldn't reach a host.
    pub(crate) fn reach_error(&self) -> Option<ReachError> {
        if let Self::Connect(error) = self { connect::error_in(error) } else { None }
    }
}

impl Client {
    /// Creates a client without connecting. Roots are only needed for https. The timeout is for
    /// opening a TCP connection.
    pub(crate) fn new(roots: Roots, connect_timeout: Duration, proxies: Proxies) -> Result<Self, TlsError> {
        Ok(Self(Self::builder().build(connector(roots, connect_timeout, proxies, None)?)))
    }

    /// A client for addresses that come from records. It connects only to public addresses, unless
    /// `reaches_private`.
    pub(crate) fn guarded(
        roots: Roots,
        connect_timeout: Duration,
        proxies: Proxies,
        network: Arc<dyn Network>,
        reaches_private: bool,
    ) -> Result<Self, TlsError> {
        let connector = connector(roots, connect_timeout, proxies, Some(Guard { network, reaches_private }))?;
        Ok(Self(Self::builder().http1_max_buf_size(MAX_HEAD_BYTES).build(connector)))
    }

    fn builder() -> legacy::Builder {
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT);
        builder
    }

    /// Sends a request and waits for the response headers. Dropping the future or the body cancels
    /// the request.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Incoming>, RequestError> {
        let mut request = request.map(Full::new);
        let user_agent = HeaderValue::from_static(concat!("software-directory/", env!("CARGO_PKG_VERSION")));
        request.headers_mut().entry(USER_AGENT).or_insert(user_agent);
        self.0.request(request).await.map_err(|error| match connect::error_in(&error) {
            Some(error) => RequestError::Tls(error),
            None if error.is_connect() => RequestError::Connect(error),
            None => RequestError::Broken(error),
        })
    }
}

fn connector(
    roots: Roots,
    timeout: Duration,
    proxies: Proxies,
    guard: Option<Guard>,
) -> Result<HttpsConnector<Connector>, TlsError> {
    let builder = HttpsConnectorBuilder::new().with_tls_config(connect::config(roots)?).https_or_http().enable_http1();
    Ok(builder.wrap_connector(connect::connector(timeout, proxies, guard)))
}
