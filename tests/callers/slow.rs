//! Callers that hold connections open: slow headers, slow bodies, slow readers, silence.

use std::fs;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

use crate::callers::client::{Client, request};
use crate::callers::load::{Outcome, PATHS, at_rate, percentile};
use crate::callers::process::{Place, Server};
use crate::callers::{alone, full, open_files, run};
use crate::common::until::until;

/// Longer than the five seconds a caller is allowed, because a busy machine may add a slight
/// delay.
const AT_MOST: Duration = Duration::from_secs(6);

/// How long attackers take to arrive. After that, all of them are connected.
const ARRIVING: Duration = Duration::from_secs(2);

/// When each caller arrives. The times are spread out, so that callers don't queue up.
fn arrival(number: usize, of: usize) -> Duration {
    ARRIVING * u32::try_from(number).expect("few") / u32::try_from(of).expect("few")
}

/// Sends `first`, then a byte of `trickle` each second, and returns how long it took until the
/// connection was closed.
async fn hold(address: SocketAddr, first: String, trickle: u8) -> Duration {
    let mut client = Client::connect(address).await.expect("a connection");
    let started = Instant::now();
    if client.stream.write_all(first.as_bytes()).await.is_ok() {
        loop {
            tokio::select! {
                () = client.closed() => break,
                () = tokio::time::sleep(Duration::from_secs(1)) => {}
            }
            if trickle != 0 && client.stream.write_u8(trickle).await.is_err() {
                break;
            }
        }
    }
    started.elapsed()
}

/// Opens this many connections of each kind at once. Returns how long each connection stayed open,
/// by kind.
async fn attack(address: SocketAddr, of_each: usize) -> [Vec<Duration>; 3] {
    let kinds = [
        (String::new(), 0),
        ("GET /v1/software HTTP/1.1\r\nHost: x\r\nX: ".to_owned(), b'a'),
        ("POST /v1/software HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n".to_owned(), b'b'),
    ];
    let mut held = [Vec::new(), Vec::new(), Vec::new()];
    let mut attackers = JoinSet::new();
    for (kind, (first, trickle)) in kinds.into_iter().enumerate() {
        for number in 0..of_each {
            let first = first.clone();
            attackers.spawn(async move {
                tokio::time::sleep(arrival(number, of_each)).await;
                (kind, hold(address, first, trickle).await)
            });
        }
    }
    while let Some(done) = attackers.join_next().await {
        let (kind, took) = done.expect("no panic");
        held[kind].push(took);
    }
    held
}

/// Requests far more than fits in the buffers, and never reads any of it.
async fn read_nothing(address: SocketAddr, request: &[u8], times: usize) -> tokio::net::TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut stream = socket.connect(address).await.expect("a connection");
    for _ in 0..times {
        // Once the server has also stopped reading, there's nothing more to send.
        if tokio::time::timeout(Duration::from_secs(2), stream.write_all(request)).await.is_err() {
            break;
        }
    }
    stream
}

#[test]
fn attackers_are_disconnected_in_time_and_other_callers_hardly_notice() {
    let mut turn = Some(alone());
    let of_each = if full() { 500 } else { 50 };
    let (rate, lasting) = (100.0, Duration::from_secs(if full() { 10 } else { 5 }));
    open_files(4 * of_each as u64 + 200);
    let place = Place::new(500, 1_000_000);
    let server = place.serve(&[]);
    let healthy = || at_rate(server.address, &place.key, &PATHS, rate, 8, lasting);
    let list = request("/v1/software?limit=100", &place.key, "");
    run(async {
        healthy().await;
        let ms = |outcomes: &[Outcome]| percentile(outcomes.iter().map(|outcome| outcome.took), 99);
        let mut is_even = false;
        // Other load on the machine also delays callers, so only one round in three has to pass.
        for _ in 0..if full() { 3 } else { 1 } {
            let quiet = healthy().await;
            let readers: JoinSet<_> = (0..of_each)
                .map(|number| {
                    let (list, address) = (list.clone(), server.address);
                    async move {
                        tokio::time::sleep(arrival(number, of_each)).await;
                        read_nothing(address, &list, 40).await
                    }
                })
                .collect();
            let readers = readers.join_all().await;
            let stalled = Instant::now();
            let (during, held) = tokio::join!(healthy(), attack(server.address, of_each));
            let (quiet_p99, during_p99) = (ms(&quiet), ms(&during));
            println!("healthy p99: {quiet_p99:.1} ms, {during_p99:.1} ms with {} attackers", 4 * of_each);
            for (kind, held) in ["silent", "slow headers", "slow bodies"].into_iter().zip(&held) {
                let longest = held.iter().max().expect("some");
                println!("{kind}: closed after {:.2} s at most", longest.as_secs_f64());
                assert_eq!(held.len(), of_each);
                assert!(*longest < AT_MOST, "{kind}: {longest:?}");
            }
            let others: Vec<_> = quiet.iter().chain(&during).filter(|outcome| !outcome.is_fine()).collect();
            assert!(others.is_empty(), "healthy callers' failed requests: {others:?}");
            if !full() {
                // From here on, the test only waits.
                turn = None;
            }
            until("connections that read nothing are closed", || {
                (server.measure("http_connections") < 1.0).then_some(())
            });
            let took = stalled.elapsed();
            println!("slow readers: closed after {:.1} s at most", took.as_secs_f64());
            assert!(took < Duration::from_secs(35), "{took:?}");
            drop(readers);
            is_even = is_even || during_p99 <= 2.0 * quiet_p99;
        }
        assert!(is_even || !full(), "healthy callers notice the attack");
        drop(turn);
    });
}

#[test]
fn slow_readers_of_pages_give_way_to_other_visitors() {
    let _turn = alone();
    let place = Place::new(3, 1_000_000);
    // The page is as large as it can be, so that the system can't buffer all of it.
    let glossary: Vec<_> = (0..5)
        .map(|number| json!({"term": format!("Term {number}"), "definition": "permit, ".repeat(12_000)}))
        .collect();
    let document =
        json!({"name": "Long", "license": "https://example.org/", "software": [], "glossary": glossary}).to_string();
    fs::write(place.path().join("data/long.json"), document).expect("written");
    let server = place.serve(&["--public-page", "10000/min"]);
    let visit = b"GET /glossary HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n\r\n";
    run(async {
        let mut readers = Vec::new();
        // Each address may use a quarter of the visitors' memory.
        for reader in 0..200 {
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.set_recv_buffer_size(4096).expect("a small buffer");
            socket.bind(([127, 0, 0, 2 + reader % 8], 0).into()).expect("an address of this machine");
            let mut stream = socket.connect(server.address).await.expect("a connection");
            stream.write_all(visit).await.expect("sent");
            let mut status = [0; 12];
            stream.read_exact(&mut status).await.expect("a status");
            readers.push((stream, status));
        }
        let refused = readers.iter().filter(|(_, status)| status.ends_with(b"503")).count();
        println!("{refused} of {} slow readers were refused", readers.len());
        let started = Instant::now();
        let mut refusals = 0;
        loop {
            let mut client = Client::connect(server.address).await.expect("a connection");
            let answer = client.ask(visit).await.expect("a response");
            if answer.status == 200 {
                break;
            }
            refusals += 1;
            assert!(refusals < 3, "{answer:?}");
            let wait = answer.header("retry-after").parse().expect("seconds");
            tokio::time::sleep(Duration::from_secs(wait)).await;
        }
        println!("another visitor was served after {refusals} refusals, {:.2} s", started.elapsed().as_secs_f64());
        // Nobody has to give way until the visitors' memory is used up.
        assert!(server.stderr().contains("dropped the slowest response to make room"), "{}", server.stderr());
        drop(readers);
    });
}

#[test]
fn an_idle_connection_is_evicted_only_if_there_are_too_many() {
    let place = Place::new(3, 1_000_000);
    // 64 files allow 32 connections.
    let server = place.serve_by(Some("ulimit -n 64; exec \"$0\" \"$@\""), Stdio::null(), &[]);
    assert!(server.stderr().contains("at most 32 connections"), "{}", server.stderr());
    let healthz = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    run(async {
        let mut idle = Client::connect(server.address).await.expect("a connection");
        assert_eq!(idle.ask(healthz).await.expect("a response").status, 200);
        tokio::time::sleep(Duration::from_secs(7)).await;
        assert_eq!(idle.ask(healthz).await.expect("the connection is still open").status, 200);
        // More clients than there's room for. Each becomes idle once it has its response.
        let clients: JoinSet<_> = (0..60)
            .map(|_| {
                let address = server.address;
                async move {
                    let mut client = Client::connect(address).await.expect("a place in the backlog");
                    let answer = client.ask(healthz).await.expect("every client gets a turn");
                    assert_eq!(answer.status, 200);
                    client
                }
            })
            .collect();
        // The service itself still needs to open files.
        place.write_export(5);
        let clients = tokio::time::timeout(Duration::from_mins(1), clients.join_all()).await;
        let clients = clients.unwrap_or_else(|_| {
            panic!("no idle connection was closed: {}", Server::ask(server.metrics, "/metrics", ""))
        });
        idle.closed().await;
        drop(clients);
    });
    until("the new export is served", || (server.status("/v1/software/product-4", &place.key) == 200).then_some(()));
    assert!(server.reasons().is_empty());
}
