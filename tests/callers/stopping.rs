//! SIGTERM and SIGINT. `takeover.rs` tests that no requests are lost.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;

use crate::callers::client::{Client, request};
use crate::callers::process::Place;
use crate::callers::run;

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
