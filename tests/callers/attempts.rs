//! Quotas, failed authentications, and keys that are added and removed.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;

use crate::callers::client::{Client, request};
use crate::callers::process::Place;
use crate::callers::{alone, full, run};
use crate::common::until::until;

#[test]
fn a_key_gets_its_full_quota_and_retry_after_is_never_too_short() {
    const RATE: u32 = 2000;
    let _alone = alone();
    let place = Place::new(10, RATE);
    let server = place.serve(&[]);
    let ask = request("/v1/software/product-1", &place.key, "");
    let started = Instant::now();
    let (allowed, wait) = run(async {
        let mut callers = JoinSet::new();
        for _ in 0..4 {
            let (ask, address) = (ask.clone(), server.address);
            callers.spawn(async move {
                let mut client = Client::connect(address).await.expect("a connection");
                let (mut allowed, mut wait) = (0_u32, 0_u64);
                for _ in 0..RATE {
                    let answer = client.ask(&ask).await.expect("a response");
                    match answer.status {
                        200 => allowed += 1,
                        429 => {
                            wait = answer.header("retry-after").parse().expect("seconds");
                            assert!((1..=60).contains(&wait), "{wait}");
                        }
                        other => panic!("{other}"),
                    }
                }
                (allowed, wait)
            });
        }
        let outcomes = callers.join_all().await;
        (outcomes.iter().map(|(allowed, _)| allowed).sum::<u32>(), outcomes[0].1)
    });
    let took = started.elapsed();
    println!("{allowed} requests of a quota of {RATE} in {:.1} s, then Retry-After {wait} s", took.as_secs_f64());
    assert!(took < Duration::from_mins(1), "too slow to be meaningful: {took:?}");
    // Meanwhile, the quota refills.
    let most = f64::from(RATE) * (1.0 + took.as_secs_f64() / 60.0);
    assert!(allowed >= RATE && f64::from(allowed) <= most, "{allowed} of {most}");
    assert!(server.measure("http_requests_limited_total{scope=\"key\"}") > 0.0);
    if full() {
        let answer = run(async {
            let mut client = Client::connect(server.address).await.expect("a connection");
            let refused = client.ask(&ask).await.expect("a response");
            let wait = refused.header("retry-after").parse().expect("seconds");
            tokio::time::sleep(Duration::from_secs(wait)).await;
            client.ask(&ask).await.expect("a response")
        });
        assert_eq!(answer.status, 200, "a request after the wait should be answered");
    }
}

#[test]
fn a_flood_of_bad_keys_uses_no_memory_and_locks_nobody_out() {
    let _alone = alone();
    let count = if full() { 1_000_000 } else { 20_000_u32 };
    let place = Place::new(10, 1_000_000);
    let server = place.serve(&["--trusted-proxy", "127.0.0.1/32"]);
    let flood = |from: u32, to: u32| {
        let address = server.address;
        async move {
            const BATCH: usize = 50;
            let mut client = Client::connect(address).await.expect("a connection");
            let numbers: Vec<u32> = (from..to).collect();
            for batch in numbers.chunks(BATCH) {
                let mut text = String::new();
                for n in batch {
                    let [_, a, b, c] = n.to_be_bytes();
                    let forwarded = if n % 2 == 0 {
                        format!("11.{a}.{b}.{c}")
                    } else {
                        format!("2001:db8:{a:x}:{:x}::1", n & 0xffff)
                    };
                    let head = "GET /v1/software HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sd_live_";
                    write!(text, "{head}{n:08}_bad\r\nX-Forwarded-For: {forwarded}\r\n\r\n").expect("a string");
                }
                client.stream.write_all(text.as_bytes()).await.expect("sent");
                for _ in batch {
                    assert_eq!(client.answer().await.expect("a response").status, 401, "once from each address");
                }
            }
        }
    };
    run(flood(16_000_000, 16_002_000));
    let before = server.memory_mib();
    let started = Instant::now();
    run(async {
        let mut callers = JoinSet::new();
        for part in 0..4 {
            callers.spawn(flood(count / 4 * part, count / 4 * (part + 1)));
        }
        callers.join_all().await;
    });
    let (took, after) = (started.elapsed().as_secs_f64(), server.memory_mib());
    println!("{count} bad keys from as many addresses in {took:.0} s: {before:.1} MiB before, {after:.1} MiB after");
    assert!(after < before + 16.0, "{before} MiB before, {after} MiB after");
    let statuses = run(async {
        let mut client = Client::connect(server.address).await.expect("a connection");
        let bad = request("/v1/software", "nonsense", "X-Forwarded-For: 198.51.100.7\r\n");
        let mut statuses = Vec::new();
        for _ in 0..70 {
            statuses.push(client.ask(&bad).await.expect("a response").status);
        }
        let good = request("/v1/software", &place.key, "X-Forwarded-For: 198.51.100.7\r\n");
        assert_eq!(client.ask(&good).await.expect("a response").status, 200, "a valid key should still work");
        statuses
    });
    assert_eq!(statuses[..60], [401; 60]);
    assert!(statuses.contains(&429));
    assert!(server.measure("http_requests_limited_total{scope=\"address\"}") > 0.0);
}

#[test]
fn key_changes_take_effect_within_two_seconds_unless_the_file_is_broken() {
    let place = Place::new(3, 1_000_000);
    let server = place.serve(&[]);
    assert_eq!(server.status("/v1/software", &place.key), 200);
    let new = place.create_key("rotated", 1_000_000);
    let made = Instant::now();
    until("the new key is accepted", || (server.status("/v1/software", &new) == 200).then_some(()));
    let taken = made.elapsed();
    let id = place.key.split('_').nth(2).expect("an id");
    assert!(place.run(&["keys", "revoke", id]).status.success());
    let revoked = Instant::now();
    until("the old key is rejected", || (server.status("/v1/software", &place.key) == 401).then_some(()));
    let refused = revoked.elapsed();
    println!(
        "a new key was accepted after {:.2} s, and a revoked key was rejected after {:.2} s",
        taken.as_secs_f64(),
        refused.as_secs_f64()
    );
    assert!(taken < Duration::from_secs(2) && refused < Duration::from_secs(2), "{taken:?}, {refused:?}");

    let whole = std::fs::read(place.path().join("keys.json")).expect("a key file");
    std::fs::write(place.path().join("keys.json"), &whole[..whole.len() / 2]).expect("written");
    until("/readyz reports it", || (server.reasons() == ["key_file_invalid"]).then_some(()));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(server.status("/v1/software", &new), 200, "the last good set of keys should still work");
    assert_eq!(server.status("/v1/software", &place.key), 401);
    assert!((server.measure("degraded{reason=\"key_file_invalid\"}") - 1.0).abs() < 0.1);
    let warnings = server.stderr().lines().filter(|line| line.contains("stay active")).count();
    assert_eq!(warnings, 1, "logged once: {}", server.stderr());
    std::fs::write(place.path().join("keys.json"), &whole).expect("written");
    until("the server is healthy again", || server.reasons().is_empty().then_some(()));
}
