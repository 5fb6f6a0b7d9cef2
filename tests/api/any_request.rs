//! Requests with arbitrary bytes over a socket, and requests with arbitrary paths, parameters and
//! headers that bypass the parser.

use axum::body::Body;
use axum::http::{Method, Request};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use software_directory::http::server::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::api::fixture::ODD_IDS;
use crate::api::service::Service;
use crate::common::cases::cases;

/// Pieces of requests, valid and broken.
const PIECES: &[&str] = &[
    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "HEAD /v1/search?q=a HTTP/1.1\r\nHost: x\r\n",
    "GET",
    "OPTIONS * HTTP/1.1",
    "POST /v1/software HTTP/1.1",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "CONNECT a:1 HTTP/1.1",
    "GET http://other.example/v1/software HTTP/1.1",
    " ",
    "/",
    "//",
    "/..",
    "/%2e%2e/",
    "/v1/software/%00",
    "?q=%FF",
    "#",
    " HTTP/1.1",
    " HTTP/9.9",
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "Host: x\r\n",
    "Host: \r\n",
    "Host: a\r\nHost: b\r\n",
    "Authorization: Bearer sd_live_x\r\n",
    "Authorization: Bearer ",
    "Content-Length: 5\r\n\r\nhello",
    "Content-Length: -1\r\n",
    "Content-Length: 1\r\nContent-Length: 2\r\n",
    "Content-Length: 18446744073709551616\r\n",
    "Transfer-Encoding: chunked\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "0;a=b\r\nX: y\r\n\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: upgrade\r\nUpgrade: websocket\r\n",
    "X-Request-Id: \t\r\n",
    " folded\r\n",
    "Accept-Encoding: gzip;q=é\r\n",
    "If-None-Match: *, W/\"\r\n",
    "Origin: null\r\n",
    ":\r\n",
    "\0",
    "\u{7f}",
    "é",
    "\x16\x03\x01\x02",
    "X: y\r\n",
];

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => (prop::sample::select(PIECES), 1..300_usize).prop_map(|(piece, times)| piece.repeat(times).into_bytes()),
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

/// Sends each request on its own connection and writes nothing more. Returns everything that comes
/// back.
#[test]
fn no_input_can_crash_the_service() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let service = Service::with_directory();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let server = Server::new(service.app.clone());
    runtime.spawn(server.serve(listener, std::future::pending(), std::future::pending()));
    let send = async |bytes: &[u8]| {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        // A server that rejects what it has read so far may close the connection before everything
        // is written; the rest of its response is then lost.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        answer
    };
    let answered = std::cell::Cell::new(0_u32);
    let mut runner = TestRunner::new(cases(4_000));
    let outcome = runner.run(&any_bytes(), |bytes| {
        let answer = runtime.block_on(send(&bytes));
        let Some(status) = answer.get(..12) else {
            prop_assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
            return Ok(());
        };
        answered.set(answered.get() + 1);
        prop_assert!(status.starts_with(b"HTTP/1.") && status[9] != b'5', "{}", String::from_utf8_lossy(&answer));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(answered.get() > 500, "only {} of the requests were answered", answered.get());
    let mut healthy = [0; 13];
    runtime.block_on(async {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        stream.read_exact(&mut healthy).await.expect("an answer");
    });
    assert_eq!(&healthy, b"HTTP/1.1 200 ");
}

/// A path and query that can contain anything, but usually resemble existing ones.
fn any_target() -> impl Strategy<Value = String> {
    let encoded =
        |text: String| percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string();
    let id = prop_oneof![
        prop::sample::select(&ODD_IDS[..]).prop_map(str::to_owned),
        Just("tool-rated".to_owned()),
        Just("tools".to_owned()),
        any::<String>(),
    ];
    let path = prop_oneof![
        3 => prop::sample::select(&["/", "/results", "/suggest", "/categories", "/glossary", "/compare", "/exports", "/sitemap.xml", "/results/tools"][..])
            .prop_map(str::to_owned),
        6 => prop::sample::select(&["/v1/software", "/v1/search", "/v1/attributes", "/v1/categories", "/v1/glossary", "/v1/exports", "/v1/suggest"][..]).prop_map(str::to_owned),
        4 => (prop::sample::select(&["/v1/software/", "/v1/reviews/", "/v1/exports/", "/v1/categories/", "/v1/glossary/", "/software/", "/categories/", "/results/", "/exports/", "/records/software/", "/records/reviews/", "/records/categories/", "/records/glossary/", "/sitemap/"][..]), id, prop::sample::select(&["", "/similar", "/history"][..]))
            .prop_map(move |(path, id, part)| format!("{path}{}{part}", encoded(id))),
        1 => prop::sample::select(&["/", "/readyz", "/docs", "/openapi.json", "/v1", "/v1/", "//", "/assets/x", "/v1/software//"][..])
            .prop_map(str::to_owned),
        1 => "/[!-~]{0,30}",
    ];
    let name = prop_oneof![
        12 => prop::sample::select(
            &["q", "limit", "offset", "page", "letter", "prefix", "category", "sort", "facets", "highlight", "typo", "min_rating", "format", "offering_type",
              "evidence_status", "evidence_checked_before", "evidence_checked_after", "id", "fields", "tags", "vendor", "max_rating",
              "verified"][..]
        ).prop_map(str::to_owned),
        1 => any::<String>().prop_map(encoded),
    ];
    let value = prop_oneof![
        2 => any::<String>().prop_map(encoded),
        6 => prop::sample::select(
            &["", "1", "20", "100", "101", "-1", "0.5", "5e-1", "true", "false", "name", "-rating", "relevance", "category", "rating", "ndjson",
              "software", "pending-review", "2026-01-31", "2026-02-30", "tools", "%FF", "%", "%zz", "+", "a+b", "tool%20-rated", "%22gauge%22",
              "9007199254740991", "18446744073709551616", "10001", "%00", "%E2%80%AE", "((((", "%F0%9F%98%80"][..]
        ).prop_map(str::to_owned),
    ];
    // As long as a query may be. Most of its words get corrected, and some become longer.
    let long = prop::collection::vec(
        prop::sample::select(&["planer", "lockot", "tol", "gawze", "ratd", "%22tol"][..]),
        20..60,
    );
    let long = long.prop_map(|words| {
        let mut q = words.join("+");
        q.truncate(256);
        format!("q={q}")
    });
    let sound = prop::sample::select(
        &[
            "q=tool",
            "q=rated+gauge",
            "q=%22lockout%20planner%22",
            "q=-tool",
            "limit=5",
            "offset=3",
            "min_rating=4.5",
            "category=tools",
            "category=safety",
            "category=empty",
        ][..],
    );
    let pair = prop_oneof![
        4 => sound.prop_map(str::to_owned),
        1 => long,
        2 => (name, value).prop_map(|(name, value)| format!("{name}={value}")),
    ];
    let query = prop::collection::vec(pair, 0..5);
    (path, query).prop_map(|(path, query)| format!("{path}?{}", query.join("&")))
}

fn any_headers() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let name = prop::sample::select(
        &[
            "accept-encoding",
            "if-none-match",
            "origin",
            "x-request-id",
            "access-control-request-method",
            "x-forwarded-for",
            "cookie",
            "authorization",
        ][..],
    );
    let value = prop_oneof![
        prop::sample::select(
            &[
                "gzip",
                "br;q=0.5, zstd",
                "*;q=0",
                "*",
                "W/\"a\"",
                "null",
                "https://a.example",
                "GET",
                "::1, unknown",
                "Bearer",
                "Bearer  ",
                "Basic eA=="
            ][..]
        )
        .prop_map(|value| value.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec((name, value), 0..4)
}

#[test]
fn any_request_gets_a_readable_response() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let service = Service::with_directory();
    let method = prop_oneof![
        10 => Just(Method::GET), 1 => Just(Method::HEAD), 1 => Just(Method::OPTIONS), 1 => Just(Method::DELETE)
    ];
    let session = runtime.block_on(service.session());
    let mut runner = TestRunner::new(cases(6_000));
    let found = std::cell::Cell::new(0_u32);
    let outcome = runner.run(&(method, any_target(), any_headers()), |(method, target, headers)| {
        let request = Request::builder().method(method.clone()).uri(&target);
        let mut request = request.header("host", "localhost").header("authorization", service.bearer());
        request = request.header("cookie", &session);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        // The library that parses requests from the wire would reject this one too.
        let Ok(request) = request.body(Body::empty()) else { return Ok(()) };
        let answer = runtime.block_on(service.call(request));
        prop_assert!(!answer.header("x-request-id").is_empty());
        prop_assert!(!answer.status.is_server_error(), "{answer:?}");
        if answer.header("content-encoding").is_empty() && method != Method::HEAD {
            match answer.status.as_u16() {
                200 if answer.header("content-type") == "application/json" => drop(answer.json()),
                200 | 204 | 303 | 304 => {}
                _ => drop(answer.problem()),
            }
        }
        found.set(found.get() + u32::from(answer.status == 200));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(found.get() > 300, "only {} requests returned 200", found.get());
}
