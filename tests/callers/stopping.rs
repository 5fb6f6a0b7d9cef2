//! SIGTERM and SIGINT under load.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;

use crate::callers::client::{Client, request};
use crate::callers::load::{Outcome, PATHS, at_rate};
use crate::callers::process::Place;
use crate::callers::{alone, full, run};
use crate::common::until::until;

#[test]
fn stopping_under_load_loses_no_requests() {
    let _alone = alone();
    for round in 0..if full() { 10 } else { 2 } {
        let place = Place::new(200, 1_000_000);
        let mut server = place.serve(&[]);
        let is_asked = Arc::new(AtomicBool::new(false));
        let passage = run(async {
            let mut callers = JoinSet::new();
            for number in 0..40 {
                callers.spawn(caller(number, server.address, place.key.clone(), Arc::clone(&is_asked)));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            is_asked.store(true, Ordering::Relaxed);
            server.signal("-TERM");
            callers.join_all().await.into_iter().fold(Passage::default(), Passage::and)
        });
        let started = Instant::now();
        assert_eq!(server.ended(), Some(0));
        println!("round {round}: {} requests answered, {} lost", passage.answered, passage.lost.len());
        assert!(passage.answered > 40 && started.elapsed() < Duration::from_secs(10));
        // While the listener closes, the system may reset a connection in its backlog.
        assert!(passage.lost.len() <= 1, "{passage:?}");
    }
}

/// Sends requests back to back until one is refused. Every other caller reuses its connection.
async fn caller(number: usize, address: SocketAddr, key: String, is_asked: Arc<AtomicBool>) -> Passage {
    let mut passage = Passage::default();
    let headers = if number.is_multiple_of(2) { "" } else { "Connection: close\r\n" };
    let request = request(PATHS[number % PATHS.len()], &key, headers);
    loop {
        let mut client = match Client::connect(address).await {
            Ok(client) => client,
            Err(_) if is_asked.load(Ordering::Relaxed) => return passage,
            Err(error) => panic!("refused before the server was asked to stop: {error}"),
        };
        for turn in 0.. {
            match client.ask(&request).await {
                Ok(answer) => {
                    // Overload also counts as a response.
                    assert!(matches!(answer.status, 200 | 503), "{answer:?}");
                    passage.answered += 1;
                    if answer.closes() {
                        break;
                    }
                }
                Err(error) => {
                    assert!(turn == 0, "a connection that had already worked lost a request: {error}");
                    passage.lost.push(error);
                    break;
                }
            }
        }
    }
}

#[test]
fn one_signal_stops_the_server_within_ten_seconds_and_a_second_one_immediately() {
    let place = Place::new(500, 1_000_000);
    for signals in [1, 2] {
        let mut server = place.serve(&[]);
        run(async {
            // A client that reads none of its response.
            let mut greedy = Client::connect(server.address).await.expect("a connection");
            let download = request("/v1/exports/tools", &place.key, "").repeat(50);
            drop(tokio::time::timeout(Duration::from_secs(1), greedy.stream.write_all(&download)).await);
            tokio::time::sleep(Duration::from_secs(1)).await;
            let asked = Instant::now();
            server.signal("-TERM");
            if signals == 2 {
                tokio::time::sleep(Duration::from_millis(1500)).await;
                assert!(server.is_running(), "the server should wait until the response has been read");
                server.signal("-TERM");
            }
            assert_eq!(server.ended(), Some(0));
            let took = asked.elapsed();
            println!("{signals} signals: ended after {:.2} s", took.as_secs_f64());
            assert!(took < Duration::from_secs(if signals == 2 { 3 } else { 10 }), "{took:?}");
        });
    }
}

#[test]
fn an_idle_service_stops_at_once() {
    let place = Place::new(3, 600);
    let mut server = place.serve(&[]);
    let asked = Instant::now();
    server.signal("-INT");
    assert_eq!(server.ended(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(5), "an idle server should stop at once");
}

#[test]
fn sighup_reloads_exports_and_keys_while_requests_are_answered() {
    let _alone = alone();
    let place = Place::new(50, 1_000_000);
    let server = place.serve(&[]);
    let key = place.key.clone();
    let address = server.address;
    let load = std::thread::spawn(move || run(at_rate(address, &key, &PATHS, 50.0, 4, Duration::from_secs(4))));
    let readings = server.measure("reloads_total{outcome=\"unchanged\"}");
    server.signal("-HUP");
    until("the exports are read again", || {
        (server.measure("reloads_total{outcome=\"unchanged\"}") > readings).then_some(())
    });
    place.write_export(60);
    server.signal("-HUP");
    until("the new export is served", || (server.status("/v1/software/product-55", &place.key) == 200).then_some(()));
    let outcomes = load.join().expect("no panic");
    assert!(!outcomes.is_empty() && outcomes.iter().all(Outcome::is_fine));
    assert!((server.measure("last_reload_success") - 1.0).abs() < 0.1);
}

/// The outcomes of a caller's requests during a takeover.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    pub(crate) answered: u64,
    pub(crate) refused: Vec<io::Error>,
    pub(crate) lost: Vec<io::Error>,
}

impl Passage {
    /// The outcomes of both callers' requests.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.answered += other.answered;
        self.refused.extend(other.refused);
        self.lost.extend(other.lost);
        self
    }
}
