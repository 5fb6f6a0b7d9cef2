//! `software-directory healthcheck`, using the real binary and a server that answers once.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output};
use std::thread::JoinHandle;

/// A server that sends this response to one request and returns the request's first line.
fn server(answer: &'static str) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let serve = move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let first = lines.next().expect("a line").expect("text");
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        stream.write_all(answer.as_bytes()).expect("sent");
        first
    };
    (address, std::thread::spawn(serve))
}

fn healthcheck(listen: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_software-directory"));
    // The server must be reached directly, even if the environment names a proxy.
    command
        .args(["healthcheck", "--listen", listen])
        .env("http_proxy", "http://127.0.0.1:9")
        .env("ALL_PROXY", "http://127.0.0.1:9");
    command.output().expect("the binary runs")
}

#[test]
fn a_ready_server_is_healthy() {
    let (address, request) = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let output = healthcheck(&address.to_string());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(request.join().expect("no panic"), "GET /readyz HTTP/1.1");
}

#[test]
fn a_server_on_all_addresses_is_contacted_on_localhost() {
    let (address, _request) = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(healthcheck(&format!("0.0.0.0:{}", address.port())).status.code(), Some(0));
}

#[test]
fn a_server_that_is_not_ready_fails_with_its_reason() {
    let (address, _request) = server("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 8\r\n\r\nstarting");
    let output = healthcheck(&address.to_string());
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("503 Service Unavailable: starting"), "{error}");
}

#[test]
fn a_redirecting_service_is_not_healthy() {
    let (address, _request) = server("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(healthcheck(&address.to_string()).status.code(), Some(1));
}

#[test]
fn the_check_fails_and_names_the_address_if_there_is_no_server() {
    // Port 1 is a system port, and nothing is listening on it.
    let output = healthcheck("127.0.0.1:1");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("http://127.0.0.1:1/readyz"));
}
