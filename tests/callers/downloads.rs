//! Downloads to slow readers.

use std::fs;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::callers::client::{Client, request};
use crate::callers::process::{Place, Server};
use crate::callers::{alone, run};

/// The number of records in the large export, each 64 KiB in size.
const RECORDS: usize = 512;

/// How many downloads may run at once in total, and with one key.
const DOWNLOADS: usize = 32;
const PER_KEY: usize = 4;

/// In the log when downloads end with their key.
const DROPPED: &str = "dropped a download because its key is no longer valid";

/// Writes an export that is far larger than a connection's buffers and hardly compressible.
fn write_large_export(place: &Place) -> String {
    let mut random = fastrand::Rng::with_seed(7);
    let software: Vec<_> = (0..RECORDS)
        .map(|number| {
            let mut half = || (0..1 << 15).map(|_| random.alphanumeric()).collect::<String>();
            let appendix = [half(), half()];
            json!({
                "id": format!("large-{number}"), "name": format!("Large {number}"), "url": "https://large.example/",
                "evidence_status": "pending-review", "appendix": appendix
            })
        })
        .collect();
    let document = json!({"name": "Large", "license": "https://example.org/", "software": software}).to_string();
    fs::write(place.path().join("data/large.json"), &document).expect("written");
    document
}

/// Starts a download and reads only its status.
async fn begin(server: &Server, request: &[u8]) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    stream.write_all(request).await.expect("sent");
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("a response");
    (stream, String::from_utf8_lossy(&status[9..]).into_owned())
}

#[test]
fn download_in_progress_ends_when_its_key_is_revoked() {
    let _alone = alone();
    let place = Place::new(3, 1_000_000);
    let document = write_large_export(&place);
    let key = place.create_key("revoked", 1_000_000);
    let server = place.serve(&[]);
    run(async {
        let mut bodies = Vec::new();
        for (key, is_complete) in [(&key, false), (&place.key, true)] {
            let (stream, status) = begin(&server, &request("/v1/exports/large", key, "Connection: close\r\n")).await;
            assert_eq!(status, "200");
            bodies.push((stream, is_complete));
        }
        let id = key.split('_').nth(2).expect("an id");
        assert!(place.run(&["keys", "revoke", id]).status.success());
        crate::common::until::until("the download is dropped", || server.stderr().contains(DROPPED).then_some(()));
        for (mut stream, is_complete) in bodies {
            let mut rest = Vec::new();
            let read = stream.read_to_end(&mut rest).await;
            assert_eq!(read.is_ok() && rest.ends_with(document.as_bytes()), is_complete, "{} bytes", rest.len());
        }
    });
}

#[test]
fn slow_downloads_use_little_memory_and_delay_nobody() {
    let _alone = alone();
    let place = Place::new(3, 1_000_000);
    let document = write_large_export(&place);
    let keys: Vec<_> =
        (0..DOWNLOADS / PER_KEY).map(|number| place.create_key(&format!("reader {number}"), 1_000_000)).collect();
    let server = place.serve(&[]);
    let forms = [("", ""), ("?format=ndjson", ""), ("", "Accept-Encoding: zstd\r\n")];
    run(async {
        let whole = request("/v1/exports/large", &place.key, "");
        let mut client = Client::connect(server.address).await.expect("a connection");
        let answer = client.ask(&whole).await.expect("a response");
        assert!(answer.body == document.as_bytes(), "complete");
        let before = server.memory_mib();
        let mut slow = Vec::new();
        for number in 0..DOWNLOADS {
            let (query, headers) = forms[number % forms.len()];
            let path = format!("/v1/exports/large{query}");
            let (stream, status) = begin(&server, &request(&path, &keys[number / PER_KEY], headers)).await;
            assert_eq!(status, "200");
            slow.push(stream);
        }
        assert_eq!(client.ask(&whole).await.expect("a response").status, 503);
        let healthy = client.ask(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("a response");
        assert_eq!(healthy.status, 200);
        let grown = server.memory_mib() - before;
        println!("{DOWNLOADS} downloads of 32 MiB: memory grew by {grown:.1} MiB");
        // If the downloads were buffered completely, they would take 32 MiB each.
        assert!(grown < 1.25 * 32.0, "{grown} MiB");
        slow.clear();
        crate::common::until::until("the downloads are over", || {
            (server.measure("http_connections") < 2.0).then_some(())
        });
        let answer = client.ask(&whole).await.expect("a response");
        assert!(answer.body == document.as_bytes(), "complete again");
    });
}
