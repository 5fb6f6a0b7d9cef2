//! Real sockets: what can only be seen on the wire.

use std::net::SocketAddr;

use axum::Router;
use axum::routing::get;
use software_directory::http::server::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::api::service::{Service, Setup};

/// A service on a free port of this machine that runs until its stop signal.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

async fn run(service: &Service) -> Running {
    run_until(service, std::future::pending()).await
}

/// Runs a service. `end` is the second signal, which stops it immediately.
async fn run_until(service: &Service, end: impl Future<Output = ()> + Send + 'static) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
    };
    let server = Server::new(service.app.clone());
    let server = tokio::spawn(server.serve(listener, shutdown, end));
    Running { address, stop, server }
}

impl Running {
    /// Sends bytes, and reads until the server closes the connection.
    async fn exchange(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        // A client that sends too much is cut off, possibly before it has seen the response.
        drop(stream.write_all(request.as_bytes()).await);
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
        String::from_utf8(answer).expect("UTF-8")
    }
}

fn close(line: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn a_url_of_100_000_parentheses_is_too_long() {
    let running = run(&Service::empty()).await;
    for (parentheses, problem) in [(100_000, false), (20_000, true)] {
        let answer = running.exchange(&close(&format!("GET /v1/search?q={}", "(".repeat(parentheses)))).await;
        assert!(answer.starts_with("HTTP/1.1 414 "), "{}", &answer[..answer.len().min(80)]);
        assert_eq!(answer.contains("application/problem+json"), problem, "{parentheses}");
    }
    assert!(running.exchange(&close("GET /healthz")).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn head_on_the_wire_has_the_length_and_no_body() {
    let running = run(&Service::empty()).await;
    let get = running.exchange(&close("GET /openapi.json")).await;
    let head = running.exchange(&close("HEAD /openapi.json")).await;
    let (get_headers, body) = get.split_once("\r\n\r\n").expect("headers");
    let (head_headers, nothing) = head.split_once("\r\n\r\n").expect("headers");
    let length = format!("content-length: {}", body.len());
    assert!(get_headers.contains(&length), "{get_headers}");
    assert!(head_headers.contains(&length), "{head_headers}");
    assert_eq!(nothing, "");
}

#[tokio::test]
async fn a_body_on_get_is_ignored() {
    let running = run(&Service::empty()).await;
    let answer = running
        .exchange(
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\
             GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        )
        .await;
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 2, "{answer}");
}

#[tokio::test]
async fn an_incomplete_body_on_get_closes_the_connection() {
    let running = run(&Service::empty()).await;
    let answer = running.exchange("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn bytes_that_are_not_a_request_get_400_and_the_service_keeps_running() {
    let running = run(&Service::empty()).await;
    for nonsense in ["\x16\x03\x01\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n"] {
        let answer = running.exchange(nonsense).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{nonsense:?}: {answer}");
    }
    assert!(running.exchange(&close("GET /healthz")).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_panic_causes_one_500_with_a_request_id_and_keeps_the_connection() {
    let routes = Router::new()
        .route("/panic", get(async || -> &'static str { panic!("an internal secret") }))
        .route("/fine", get(async || "fine"));
    let running = run(&Setup { routes, ..Setup::default() }.start()).await;
    let answers = running
        .exchange(
            "GET /panic HTTP/1.1\r\nHost: x\r\nX-Request-Id: p-1\r\n\r\n\
             GET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        )
        .await;
    assert!(answers.starts_with("HTTP/1.1 500 ") && answers.contains("\"request_id\":\"p-1\""), "{answers}");
    assert!(answers.contains("x-request-id: p-1\r\n") && !answers.contains("secret"), "{answers}");
    assert!(answers.contains("HTTP/1.1 200 ") && answers.ends_with("fine"), "{answers}");
}

#[tokio::test]
async fn request_that_another_server_could_read_differently_is_refused() {
    let running = run(&Service::empty()).await;
    for (headers, problem) in [
        ("", true),
        ("Host: a\r\nHost: b\r\n", true),
        ("Host: a/b\r\n", true),
        ("Host: a@b\r\n", true),
        ("Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", true),
        ("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", true),
        ("Host: x\r\nTransfer-Encoding: chunked\r\n", true),
        ("Host: x\r\nTransfer-Encoding: chunked, identity\r\n", false),
        ("Host: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n", false),
        ("Host: x\r\nContent-Length: +5\r\n", false),
        ("Host: x\r\nContent-Length : 5\r\n", false),
        ("Host: x\r\nX: a\r\n b: c\r\n", false),
        ("Host: x\r\nX: a\0b\r\n", false),
    ] {
        let answer = running
            .exchange(&format!(
                "POST /healthz HTTP/1.1\r\n{headers}Connection: close\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"
            ))
            .await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{headers:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 40").count(), 1, "nothing is smuggled: {headers:?}: {answer}");
        assert_eq!(answer.contains("application/problem+json"), problem, "{headers:?}: {answer}");
    }
    let old = running.exchange("GET /healthz HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 200 "), "HTTP/1.0 has no Host: {old}");
}

#[tokio::test]
async fn headers_are_limited_in_number_and_size() {
    let running = run(&Service::empty()).await;
    let headers = |count: usize, size: usize| {
        let headers: Vec<_> = (0..count).map(|n| format!("X-{n}: {}\r\n", "a".repeat(size))).collect();
        headers.concat()
    };
    for (headers, status, problem) in [
        (headers(90, 10), 200, false),
        (headers(200, 1), 431, false),
        (headers(20, 1000), 431, true),
        (headers(1, 200_000), 431, false),
    ] {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n");
        let answer = running.exchange(&request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{} bytes: {answer}", headers.len());
        assert_eq!(answer.contains("application/problem+json"), problem, "{} bytes", headers.len());
    }
}

#[tokio::test]
async fn a_request_in_progress_finishes_before_the_service_stops() {
    let (entered, entry) = oneshot::channel::<()>();
    let (release, released) = oneshot::channel::<()>();
    let waiting = std::sync::Mutex::new(Some((entered, released)));
    let waiting = std::sync::Arc::new(waiting);
    let slow = async move || {
        let waiting = waiting.lock().expect("the lock").take();
        let (entered, released) = waiting.expect("one request");
        entered.send(()).expect("the test listens");
        released.await.expect("the test releases it");
        "done"
    };
    let service = Setup { routes: Router::new().route("/slow", get(slow)), ..Setup::default() }.start();
    let running = run(&service).await;
    let mut stream = TcpStream::connect(running.address).await.expect("a connection");
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    entry.await.expect("the request is under way");
    running.stop.send(()).expect("the server runs");
    // Once the listener is closed, no other client can get in.
    while let Ok(mut late) = TcpStream::connect(running.address).await {
        let _ = late.read_to_end(&mut Vec::new()).await;
    }
    release.send(()).expect("the request is waiting");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("done"), "{answer}");
    running.server.await.expect("the server stops by itself");
}

#[tokio::test]
async fn the_second_signal_stops_the_service_immediately() {
    let (entered, entry) = oneshot::channel::<()>();
    let entered = std::sync::Arc::new(std::sync::Mutex::new(Some(entered)));
    let stuck = async move || -> &'static str {
        entered.lock().expect("the lock").take().expect("one request").send(()).expect("the test listens");
        std::future::pending().await
    };
    let service = Setup { routes: Router::new().route("/stuck", get(stuck)), ..Setup::default() }.start();
    let Running { address, stop, server } = run_until(&service, std::future::ready(())).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(b"GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    entry.await.expect("the request is under way");
    stop.send(()).expect("the server runs");
    server.await.expect("the server stops even though a request is stuck");
    assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap_or(0), 0, "the stuck request got no response");
}
