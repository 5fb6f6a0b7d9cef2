//! Everything at once: reloads, failing builds and a held lock, while callers download, ask for assets, read slowly, keep idle
//! connections and try keys. Healthy callers see no failure, and memory stays as it is.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::Request;

use crate::corpus::{Corpus, replace};
use crate::load::{Stopping, Target};
use crate::request::send;
use crate::scale::{from_environment, is_full, times};
use crate::system::{descriptors, rss_kib};
use crate::until::until;

/// How much more memory than before it all is in order, in KiB: two generations, the downloads in progress, and the cache of
/// searches.
const ALLOWANCE_KIB: usize = 192 * 1024;

/// Sends a request over a connection of its own, and reads the response in pieces with pauses between them.
fn ask(target: &Target, request: &str, piece: usize, pause: Duration, stop: &AtomicBool) {
    let Ok(mut stream) = TcpStream::connect(target.server.address.trim_start_matches("http://")) else { return };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    if stream.write_all(request.as_bytes()).is_err() {
        return;
    }
    let mut buffer = vec![0; piece];
    while !stop.load(Ordering::Relaxed) && stream.read(&mut buffer).is_ok_and(|read| read > 0) {
        std::thread::sleep(pause);
    }
}

fn request(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

/// The path of a script of the page.
fn script(target: &Target) -> String {
    let page = send(Request::get(format!("{}/docs", target.server.address)), "").expect("the page");
    assert_eq!(page.status(), 200);
    let page = page.into_body();
    let start = page.find("/assets/").expect("an asset");
    page[start..].split('"').next().expect("a path").to_owned()
}

#[test]
fn healthy_callers_are_served_while_everything_is_tried_at_once() {
    let seconds = from_environment("FAULTS_SOAK_SECONDS").unwrap_or_else(|| times(10, 1800));
    let target = Target::new(Corpus::generated(times(2000, 20_000)));
    let key = format!("Authorization: Bearer {}\r\n", target.server.key());
    let attacks = [
        (request(&script(&target), "Accept-Encoding: gzip\r\n"), 64 * 1024, Duration::ZERO),
        (request("/v1/exports/tools", &key), 64 * 1024, Duration::from_millis(10)),
        (request("/v1/exports/tools?format=ndjson", &key), 1024, Duration::from_millis(250)),
        (request("/v1/software", "Authorization: Bearer sd_live_wrong\r\n"), 1024, Duration::ZERO),
        ("GET /v1/software HT".to_owned(), 1024, Duration::from_millis(100)),
    ];
    let idle: Vec<_> = (0..times(200, 2000))
        .filter_map(|_| {
            let mut stream = TcpStream::connect(target.server.address.trim_start_matches("http://")).ok()?;
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
            Some(stream)
        })
        .collect();
    target.reload(&mut target.client(), 1);
    let before = rss_kib(target.server.pid());
    let stop = AtomicBool::new(false);
    let (mut most, mut revision, started) = (before, 1, Instant::now());
    let seen = std::thread::scope(|scope| {
        let asking = scope.spawn(|| target.ask(&stop, Some((Instant::now(), 50.0))));
        for (request, piece, pause) in attacks.iter().flat_map(|attack| [attack, attack]) {
            let (target, stop) = (&target, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    ask(target, request, *piece, *pause, stop);
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
        }
        let stopping = Stopping(&stop);
        while started.elapsed() < Duration::from_secs(seconds as u64) {
            revision += 1;
            replace(&target.data(), b"{\"name\": \"half");
            until("the broken export is reported", || {
                target.server.reasons().contains(&"exports_invalid".to_owned()).then_some(())
            });
            // In full runs the lock is sometimes held for longer than the timeout.
            let lock = File::options().write(true).open(target.folder.path().join("index/LOCK")).expect("the lock");
            if is_full() && revision % 10 == 0 {
                lock.lock().expect("locked");
            }
            target.reload(&mut target.client(), revision);
            most = most.max(rss_kib(target.server.pid()));
        }
        drop(stopping);
        asking.join().expect("no panic")
    });
    drop(idle);
    until("it is well", || target.server.reasons().is_empty().then_some(()));
    println!(
        "onslaught: {revision} reloads in {:.0?}: {}; {} MiB before, {} at most; {} descriptors at the end",
        started.elapsed(),
        seen.summary(),
        before / 1024,
        most / 1024,
        descriptors(target.server.pid())
    );
    assert_eq!(seen.faults.first(), None, "{} faults", seen.faults.len());
    assert!(most <= before + ALLOWANCE_KIB, "{most} KiB, {before} KiB before");
}
