//! TCP connections, direct or through the proxy set in the environment, and TLS certificates.

use std::error::Error;
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, ClientConfig};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tower::util::{BoxCloneSyncService, ServiceExt as _};
use tower::{BoxError, service_fn};

use super::address::{is_public, is_public_host};
use rustls::{Error as TlsError, RootCertStore as Roots};

pub(super) type Connector = BoxCloneSyncService<Uri, TokioIo<TcpStream>, BoxError>;

/// A client's proxies. They're reached over http, and asked to open tunnels with CONNECT.
#[derive(Debug, Clone)]
pub(crate) struct Proxies(Option<Arc<Matcher>>);

impl Proxies {
    pub(crate) const NONE: Self = Self(None);

    /// The proxies from `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, bypassed for hosts in
    /// `NO_PROXY`.
    pub(crate) fn of_environment() -> Self {
        Self(Some(Arc::new(Matcher::from_env())))
    }
}

/// Resolves hosts and connects to addresses.
pub(crate) trait Network: Debug + Send + Sync + 'static {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
    fn connect(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

#[derive(Debug)]
pub(crate) struct MachineNetwork;

impl Network for MachineNetwork {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(lookup_host((host, port)).await?.collect()) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(address))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReachError {
    #[error("the host has no address")]
    UnknownHost,
    #[error("the host isn't public")]
    NotPublic,
    #[error("the connection timed out or was refused")]
    NoConnection,
}

/// Connects to hosts through a network. Unless `reaches_private`, it refuses a host if any of its
/// addresses isn't public. It connects only to the addresses that it checked, so a name that
/// resolves differently a moment later can't get around this.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) network: Arc<dyn Network>,
    pub(super) reaches_private: bool,
}

impl Guard {
    async fn connect(self, server: Uri, time: Duration) -> Result<TcpStream, ReachError> {
        let host = host_of(&server);
        let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 });
        let found = match host.parse::<IpAddr>() {
            Ok(ip) => Ok(Ok(vec![SocketAddr::new(ip, port)])),
            Err(_) => timeout(time, self.network.resolve(host.to_owned(), port)).await,
        };
        let addresses = found.ok().and_then(Result::ok).filter(|addresses| !addresses.is_empty());
        let addresses = addresses.ok_or(ReachError::UnknownHost)?;
        if !self.reaches_private && !addresses.iter().all(|address| is_public(address.ip())) {
            return Err(ReachError::NotPublic);
        }
        for address in addresses {
            if let Ok(Ok(stream)) = timeout(time, self.network.connect(address)).await {
                // If this fails, requests are just slower.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
        }
        Err(ReachError::NoConnection)
    }
}

fn host_of(server: &Uri) -> &str {
    server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

pub(super) fn connector(timeout: Duration, proxies: Proxies, guard: Option<Guard>) -> Connector {
    let mut direct = HttpConnector::new();
    direct.set_nodelay(true);
    direct.set_connect_timeout(Some(timeout));
    let to_proxy = direct.clone();
    direct.enforce_http(false);
    BoxCloneSyncService::new(service_fn(move |server: Uri| {
        let proxy = proxies.0.as_ref().and_then(|proxies| proxies.intercept(&server));
        let (direct, to_proxy, guard) = (direct.clone(), to_proxy.clone(), guard.clone());
        async move {
            let Some(proxy) = proxy else {
                return match guard {
                    Some(guard) => Ok(TokioIo::new(guard.connect(server, timeout).await?)),
                    None => Ok(direct.oneshot(server).await?),
                };
            };
            // The proxy resolves names itself, so their addresses can't be checked here.
            if guard.is_some_and(|guard| !guard.reaches_private && !is_public_host(host_of(&server))) {
                return Err(ReachError::NotPublic.into());
            }
            let mut tunnel = Tunnel::new(proxy.uri().clone(), to_proxy);
            if let Some(authorization) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(authorization.clone());
            }
            Ok(tunnel.oneshot(with_port(server)?).await?)
        }
    }))
}

/// A tunnel would use port 443 for an address without a port, even for http.
fn with_port(server: Uri) -> Result<Uri, http::Error> {
    match (server.scheme_str(), server.host(), server.port()) {
        (Some("http"), Some(host), None) => {
            Uri::builder().scheme("http").authority(format!("{host}:80")).path_and_query("/").build()
        }
        _ => Ok(server),
    }
}

/// TLS settings. Without any roots, no server is trusted.
pub(super) fn config(roots: Roots) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates in a PEM file, if any. All of them must be valid.
pub(crate) fn roots_of(path: &Path) -> Result<Roots, Box<dyn Error + Send + Sync>> {
    let mut roots = Roots::empty();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    Ok(roots)
}

/// The certificates that this machine trusts, if it has any.
pub(crate) fn machine_roots() -> Option<Roots> {
    let mut roots = Roots::empty();
    // Some machines have certificates that can't be parsed; use the others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (!roots.is_empty()).then_some(roots)
}

/// Says what's wrong with a server's certificate; `None` if TLS failed for another reason.
pub(crate) fn certificate_fault(error: &TlsError) -> Option<CertificateFault> {
    let TlsError::InvalidCertificate(error) = error else { return None };
    Some(match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => CertificateFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => CertificateFault::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateFault::OtherHost
        }
        CertificateError::UnknownIssuer => CertificateFault::UnknownIssuer,
        _ => CertificateFault::Invalid,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CertificateFault {
    Expired,
    NotYetValid,
    OtherHost,
    /// The chain is incomplete, or it ends at an authority that this machine doesn't trust.
    UnknownIssuer,
    Invalid,
}

/// Finds an error of this type among an error's causes.
pub(super) fn error_in<E: Error + Clone + 'static>(error: &(dyn Error + 'static)) -> Option<E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found.clone());
        }
        // An I/O error's sources don't include the error that it wraps.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::super::Client;
    use super::*;

    fn proxies(listener: &TcpListener) -> Proxies {
        let proxy = format!("http://me:secret@{}", listener.local_addr().expect("an address"));
        Proxies(Some(Arc::new(Matcher::builder().http(proxy).build())))
    }

    async fn head(stream: &mut TcpStream) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("headers"));
        }
        String::from_utf8(head).expect("text")
    }

    #[tokio::test]
    async fn the_proxy_tunnels_to_the_server_and_only_the_proxy_gets_its_credentials() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let proxies = proxies(&listener);
        let heads = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let connect = head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 x\r\n\r\n").await.expect("sent");
            let get = head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 204 x\r\n\r\n").await.expect("sent");
            (connect, get)
        });
        let client = Client::new(Roots::empty(), Duration::from_mins(1), proxies).expect("a client");
        let request = Request::get("http://far.example/CURRENT").body(Bytes::new()).expect("a request");
        assert_eq!(client.send(request).await.expect("a response").status(), 204);
        let (connect, get) = heads.await.expect("no panic");
        assert!(connect.starts_with("CONNECT far.example:80 HTTP/1.1\r\n"), "{connect}");
        assert!(connect.contains("Proxy-Authorization: Basic "), "{connect}");
        assert!(get.starts_with("GET /CURRENT HTTP/1.1\r\n") && !get.contains("Basic"), "{get}");
    }

    #[tokio::test]
    async fn a_guarded_client_asks_its_proxy_only_for_public_hosts() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let client = |reaches_private| {
            let (time, network) = (Duration::from_mins(1), Arc::new(MachineNetwork));
            Client::guarded(Roots::empty(), time, proxies(&listener), network, reaches_private).expect("a client")
        };
        let request = |host| Request::get(format!("http://{host}/")).body(Bytes::new()).expect("a request");
        for host in ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "localhost.", "metadata.google.internal", "[::1]"] {
            let error = client(false).send(request(host)).await.expect_err(host);
            assert_eq!(error.reach_error(), Some(ReachError::NotPublic), "{host}");
        }
        for (host, reaches_private) in [("acme.com", false), ("127.1", true)] {
            let client = client(reaches_private);
            let (sent, connect) = tokio::join!(client.send(request(host)), async {
                head(&mut listener.accept().await.expect("a connection").0).await
            });
            assert!(sent.is_err() && connect.starts_with(&format!("CONNECT {host}:80 ")), "{connect}");
        }
    }
}
