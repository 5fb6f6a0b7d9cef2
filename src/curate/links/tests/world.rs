//! A miniature Internet on loopback: names with public addresses, and the servers they lead to.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::net::TcpStream;

use super::super::ask::Clock;
use crate::client::{Client, Network, Proxies, Roots};

#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) head: String,
}

pub(super) enum Reply {
    /// Responds with a status and header lines.
    Head(u16, String),
    /// Sends these bytes, then closes the connection.
    Bytes(Vec<u8>),
    /// Sends the first chunk once, then the second one over and over.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends these bytes, then nothing more.
    Silence(Vec<u8>),
}

pub(super) fn status(status: u16) -> Reply {
    Reply::Head(status, String::new())
}

pub(super) fn to(code: u16, location: &str) -> Reply {
    Reply::Head(code, format!("location: {location}\r\n"))
}

pub(super) fn text(text: &str) -> Reply {
    Reply::Bytes(format!("HTTP/1.1 200 x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}", text.len()).into())
}

/// A clock that only advances when it's asked to sleep.
#[derive(Debug)]
pub(super) struct TestClock {
    now: Mutex<Timestamp>,
    pub(super) slept: Mutex<Vec<Duration>>,
}

impl TestClock {
    fn new() -> Self {
        Self { now: Mutex::new("2026-03-01T12:00:00Z".parse().expect("a time")), slept: Mutex::default() }
    }

    pub(super) fn pass(&self, time: SignedDuration) {
        let mut now = self.now.lock().expect("no panic");
        *now = now.checked_add(time).expect("a time");
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().expect("no panic")
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.slept.lock().expect("no panic").push(time);
        self.pass(time.try_into().expect("short"));
        Box::pin(std::future::ready(()))
    }
}

/// Names, their addresses, and the listeners at those addresses.
#[derive(Debug, Default)]
pub(super) struct Town {
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    listeners: Mutex<HashMap<IpAddr, SocketAddr>>,
    pub(super) connected: Mutex<Vec<SocketAddr>>,
}

impl Town {
    pub(super) fn listener(&self, ip: &str) -> SocketAddr {
        self.listeners.lock().expect("no panic")[&ip.parse().expect("an address")]
    }
}

impl Network for Town {
    fn resolve(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let mut names = self.names.lock().expect("no panic");
        let found = names.get_mut(&host.to_ascii_lowercase()).map(|answers| {
            // The last answer is used for all further lookups.
            let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
            answer.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()
        });
        Box::pin(std::future::ready(found.ok_or_else(|| io::ErrorKind::NotFound.into())))
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        self.connected.lock().expect("no panic").push(address);
        let listener = self.listeners.lock().expect("no panic").get(&address.ip()).copied();
        Box::pin(async move { TcpStream::connect(listener.ok_or(io::ErrorKind::ConnectionRefused)?).await })
    }
}

pub(super) struct World {
    pub(super) town: Arc<Town>,
    pub(super) clock: TestClock,
    /// The requests received: method, host and path.
    pub(super) log: Arc<Mutex<Vec<String>>>,
    pub(super) roots: Roots,
    pub(super) reaches_private: bool,
    pub(super) timeout: Duration,
}

type Handler = dyn Fn(&Asked) -> Reply + Send + Sync;

impl World {
    /// Starts servers for these hosts, each at its own address, that reply with `handler`.
    pub(super) fn new(hosts: &[&str], handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let world = Self {
            town: Arc::default(),
            clock: TestClock::new(),
            log: Arc::default(),
            roots: Roots::empty(),
            reaches_private: false,
            timeout: Duration::from_secs(30),
        };
        let handler: Arc<Handler> = Arc::new(handler);
        let listener = world.serve(None, handler);
        for (index, host) in (1..).zip(hosts) {
            world.name(host, &[&format!("93.184.215.{index}")]);
            world.listen(&format!("93.184.215.{index}"), listener);
        }
        world
    }

    /// Sets the addresses that each successive lookup of a host returns. The last list is repeated.
    pub(super) fn name(&self, host: &str, answers: &[&str]) {
        let parse = |answer: &&str| answer.split(' ').map(|ip| ip.parse().expect("an address")).collect();
        let answers = answers.iter().map(parse).collect();
        self.town.names.lock().expect("no panic").insert(host.to_owned(), answers);
    }

    pub(super) fn listen(&self, ip: &str, listener: SocketAddr) {
        self.town.listeners.lock().expect("no panic").insert(ip.parse().expect("an address"), listener);
    }

    /// Starts a server with a certificate, at its own address and host.
    pub(super) fn serve_tls(&self, host: &str, ip: &str, certificate: &rcgen::Certificate, key: &rcgen::KeyPair) {
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("TLS");
        let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key);
        let listener = self.serve(Some(Arc::new(config.expect("a certificate"))), Arc::new(|_| status(200)));
        self.name(host, &[ip]);
        self.listen(ip, listener);
    }

    fn serve(&self, tls: Option<Arc<ServerConfig>>, handler: Arc<Handler>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let log = Arc::clone(&self.log);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (handler, log, tls) = (Arc::clone(&handler), Arc::clone(&log), tls.clone());
                thread::spawn(move || {
                    // Clients may give up at any time.
                    let Ok(stream) = stream else { return };
                    let _ = match tls {
                        None => answer(stream, &*handler, &log),
                        Some(config) => {
                            let connection = ServerConnection::new(config).expect("a connection");
                            answer(StreamOwned::new(connection, stream), &*handler, &log)
                        }
                    };
                });
            }
        });
        address
    }

    pub(super) fn client(&self) -> Client {
        let (network, time) = (Arc::clone(&self.town), Duration::from_secs(30));
        Client::guarded(self.roots.clone(), time, Proxies::NONE, network, self.reaches_private).expect("a client")
    }

    pub(super) fn user_agent() -> HeaderValue {
        HeaderValue::from_static("software-directory/1 (link check; +x@example.org)")
    }

    pub(super) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().expect("no panic"))
    }

    /// The requests except those for robots.txt.
    pub(super) fn take_pages(&self) -> Vec<String> {
        self.take_log().into_iter().filter(|line| !line.ends_with("/robots.txt")).collect()
    }

    pub(super) fn connected_ips(&self) -> Vec<String> {
        self.town.connected.lock().expect("no panic").iter().map(|address| address.ip().to_string()).collect()
    }
}

fn answer<S: io::Read + io::Write>(stream: S, handler: &Handler, log: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        match stream.read_line(&mut head) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            // The bytes aren't text; they may be a TLS handshake.
            Err(_) => return stream.get_mut().write_all(b"HTTP/1.1 400 x\r\n\r\n"),
        }
    }
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let lower = head.to_ascii_lowercase();
    let host = lower.split("\r\nhost: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default().to_owned();
    log.lock().expect("no panic").push(format!("{method} {host}{path}"));
    let reply = handler(&Asked { method, host, path, head });
    let stream = stream.get_mut();
    match reply {
        Reply::Head(status, lines) => {
            write!(stream, "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: 0\r\n{lines}\r\n")?;
        }
        Reply::Bytes(bytes) => stream.write_all(&bytes)?,
        Reply::Endless(first, again) => {
            stream.write_all(&first)?;
            loop {
                stream.write_all(&again)?;
            }
        }
        Reply::Silence(bytes) => {
            stream.write_all(&bytes)?;
            stream.flush()?;
            while stream.read(&mut [0; 64])? > 0 {}
        }
    }
    stream.flush()
}
