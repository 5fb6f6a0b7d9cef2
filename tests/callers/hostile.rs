//! Hostile input from callers, in paths, queries, ids and headers. None of it is opened, trusted or
//! written to a log line, and no key is ever logged.

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::io::AsyncWriteExt as _;

use crate::callers::client::{Client, request};
use crate::callers::process::{Place, Server};
use crate::callers::run;
use crate::common::until::until;

/// Ids that look like paths; none of them is a product's.
#[cfg(target_os = "linux")]
const IDS: [&str; 16] = [
    "../../etc/passwd",
    "..%2f..%2fkeys.json",
    "%2e%2e%2f%2e%2e%2fkeys.json",
    "..%5c..%5ckeys.json",
    "%252e%252e%252fkeys.json",
    "....//keys.json",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "keys.json%00",
    "tools.json",
    "../data/tools.json",
    "%0d%0aSet-Cookie:%20a=b",
    "%ff%fe",
    "%c0%ae%c0%ae/keys.json",
    "file:%2f%2f%2fetc%2fpasswd",
    "%",
];

/// The first response to some bytes; `None` if the connection is closed without one.
async fn first_answer(server: &crate::callers::process::Server, bytes: &[u8]) -> Option<String> {
    let mut client = Client::connect(server.address).await.expect("a connection");
    client.stream.write_all(bytes).await.expect("sent");
    let mut answer = Vec::new();
    client.stream.read_to_end(&mut answer).await.expect("a response");
    (!answer.is_empty()).then(|| String::from_utf8_lossy(&answer).into_owned())
}

/// Only Linux shows which process opens a file.
#[cfg(target_os = "linux")]
#[test]
fn hostile_ids_are_not_found_and_open_no_files() {
    use std::sync::{Arc, Mutex};

    use notify::event::{AccessKind, EventKind};
    use notify::{RecursiveMode, Watcher as _};

    let place = Place::new(3, 1_000_000);
    let server = place.serve(&[]);
    // Waits until the server has verified what it's serving.
    until("the server has settled", || (server.measure("reloads_total{outcome=\"unchanged\"}") > 0.0).then_some(()));
    let opened = Arc::<Mutex<Vec<_>>>::default();
    let seen = Arc::clone(&opened);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let event = event.expect("an event");
        let is_open = matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
        if is_open && event.paths.iter().any(|path| path.is_file()) {
            seen.lock().expect("no panic").extend(event.paths);
        }
    })
    .expect("a watcher");
    watcher.watch(place.path(), RecursiveMode::Recursive).expect("watched");
    run(async {
        for route in ["/v1/software", "/v1/reviews", "/v1/exports", "/software", "/assets", "/schemas", "/docs", ""] {
            for id in IDS {
                let head = format!("GET {route}/{id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
                let bytes = format!("{head}Authorization: Bearer {}\r\n\r\n", place.key);
                let answer = first_answer(&server, bytes.as_bytes()).await.expect("a response");
                let status = &answer[9..12];
                // Pages don't accept keys; they redirect to the sign-in page instead.
                let expected: &[&str] = if route == "/software" { &["303", "400", "404"] } else { &["400", "404"] };
                assert!(expected.contains(&status), "{route}/{id}: {answer}");
                let head = answer.split("\r\n\r\n").next().expect("a head").to_lowercase();
                assert!(!head.lines().any(|line| line.starts_with("set-cookie")), "{answer}");
                assert!(!answer.contains("root:") && !answer.contains("sha256"), "{answer}");
            }
        }
        for raw in [
            &b"GET /v1/software/\xff\xfe HTTP/1.1"[..],
            b"GET /v1/software/a\0b HTTP/1.1",
            b"GET /v1/software/a\rb HTTP/1.1",
            b"GET /v1/software/a b HTTP/1.1",
            b"GET ../../keys.json HTTP/1.1",
            b"GET file:///etc/passwd HTTP/1.1",
        ] {
            let answer = first_answer(&server, &[raw, b"\r\nHost: x\r\nConnection: close\r\n\r\n"].concat()).await;
            let answer = answer.expect("a response");
            assert!(["400", "401", "404"].contains(&&answer[9..12]), "{raw:?}: {answer}");
        }
    });
    // Opening this file proves that the watcher notices opened files.
    let canary = place.path().join("data/tools.json");
    std::fs::read(&canary).expect("there");
    until("the watcher has caught up", || opened.lock().expect("no panic").contains(&canary).then_some(()));
    let opened = opened.lock().expect("no panic").clone();
    assert!(opened.iter().all(|path| *path == canary), "{opened:?}");
}

#[test]
fn callers_cannot_break_log_lines_or_get_a_key_logged() {
    let place = Place::new(10, 1_000_000);
    let server = place.serve(&["--log-format", "json", "--log", "trace", "--access-log", "--log-queries"]);
    let key = &place.key;
    let secret = key.rsplit('_').next().expect("a secret");
    let unknown = "sd_live_abcdefgh_CANARYCANARYCANARYCANA123456";
    run(async {
        for path in [
            "/v1/search?q=%22%7D%0A%7B%22level%22:%22FAKE%22",
            "/v1/search?q=%00%01%1b[31m%e2%80%a8",
            "/v1/software/%22%5c%0a",
            &format!("/v1/software/{key}"),
            &format!("/v1/search?q={key}"),
            &format!("/v1/search?{key}"),
            &format!("/{unknown}?api_key={key}&key={unknown}"),
        ] {
            let mut client = Client::connect(server.address).await.expect("a connection");
            for (presented, headers) in [
                (key.as_str(), String::new()),
                (key.as_str(), "X-Request-Id: \"}\\n{\"level\":\"FAKE\"}\r\n".to_owned()),
                (key.as_str(), format!("X-Request-Id: {key}\r\nOrigin: https://{key}\r\nX-Forwarded-For: {key}\r\n")),
                (unknown, format!("User-Agent: {key}\r\nCookie: {key}\r\n")),
                ("", "X-Request-Id: \u{7f}\u{e9}\r\n".to_owned()),
            ] {
                let answer = client.ask(&request(path, presented, &headers)).await;
                if let Ok(answer) = answer {
                    // Only a successful response may contain the secret, if the path or the query
                    // does.
                    assert!(answer.status == 200 || !format!("{answer:?}").contains(secret), "{answer:?}");
                }
            }
        }
        first_answer(&server, format!("{key} {key} {key}\r\n\r\n").as_bytes()).await;
        let odd = format!("GET /{key} HTTP/1.1\r\n{key}: {key}\r\nHost: x\r\nConnection: close\r\n\r\n");
        first_answer(&server, odd.as_bytes()).await;
    });
    std::fs::write(place.path().join("keys.json"), format!("{{\"{key}\": \"{key}\"")).expect("written");
    until("/readyz reports it", || (server.reasons() == ["key_file_invalid"]).then_some(()));
    let metrics = Server::ask(server.metrics, "/metrics", "");
    let ready = Server::ask(server.address, "/readyz", "");
    let mut server = server;
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
    let log = server.stderr();
    assert!(
        log.contains("software_directory::http::access") && log.contains("FAKE"),
        "--log-queries should have put the queries in the log: {log}"
    );
    for line in log.lines() {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(object["level"] != "FAKE" && object["timestamp"].is_string(), "{line}");
    }
    let id = key.split('_').nth(2).expect("an id");
    assert!(log.contains(&format!("\"key\":\"{id}\"")), "the key's id is logged");
    for (what, text) in [("log", &log), ("metrics", &metrics), ("readyz", &ready)] {
        assert!(!text.contains(secret) && !text.contains("CANARY"), "{what}: {text}");
    }
}
