//! `check --links` on the command line, against a server on loopback.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use super::check::{command, folder, stderr, stdout};

/// A server that reports each request's first line. `/gone` doesn't exist, `/old` has moved, and
/// `/silent` never responds.
fn server() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            thread::spawn(move || {
                let mut stream = stream.expect("a connection");
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).expect("a request") == 0 {
                        return;
                    }
                    head.push(byte[0]);
                }
                let head = String::from_utf8(head).expect("text");
                let path = head.split(' ').nth(1).expect("a path").to_owned();
                // Sending fails if the test has already ended.
                let _ = sender.send(head);
                let status = match &*path {
                    "/robots.txt" | "/gone" => "404 x",
                    "/old" => "301 x\r\nlocation: /new",
                    "/silent" => {
                        let _ = stream.read(&mut [0]);
                        return;
                    }
                    _ => "200 x",
                };
                write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").expect("sent");
            });
        }
    });
    (address, requests)
}

fn export(address: SocketAddr, paths: &[&str]) -> String {
    let product = |path: &&str| {
        format!(
            r#" {{"id": "{path}", "name": "{path}", "url": "http://{address}/{path}", "evidence_status": "pending-review"}}"#
        )
    };
    let products = paths.iter().map(product).collect::<Vec<_>>().join(",\n");
    format!("{{\"name\": \"N\", \"license\": \"https://example.org/\", \"software\": [\n{products}\n]}}")
}

fn links(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    command.arg("--links").args(arguments);
    command
}

const CACHE: &str = ".software-directory-links.json";

#[test]
fn broken_links_cause_warnings_and_a_second_run_sends_no_requests() {
    let (address, requests) = server();
    let files = folder(&[("data/x.json", &export(address, &["gone", "old"]))]);
    let run = |arguments: &[&str]| links(files.path(), arguments).output().expect("the binary runs");

    let output = run(&[]);
    assert!(stdout(&output).contains("Not checked: the address isn't public; use --private to check it anyway (2)\n"));
    assert_eq!(requests.try_iter().count(), 0, "a private address isn't requested without --private");

    let output = run(&["--private", "--contact", "data@example.org"]);
    let list = |asked| {
        format!(
            "Dead: the server responds with 404 Not Found (1)\n  data/x.json:2:40  http://{address}/gone (product `gone` \"gone\")\n\n\
             Moved: it has moved permanently (1)\n  data/x.json:3:38  http://{address}/old → http://{address}/new (product `old` \"old\")\n\n\
             Links: {asked} of 2 links checked now; 1 dead, 0 unreachable, 0 with TLS problems, 1 moved, 0 not checked.\n"
        )
    };
    let text = stdout(&output);
    assert!(text.contains(&list(2)), "{text}{}", stderr(&output));
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let heads: Vec<_> = requests.try_iter().collect();
    assert!(heads.iter().all(|head| head.contains("(link check; +data@example.org)\r\n")), "{heads:?}");
    let lines: Vec<_> = heads.iter().filter_map(|head| head.strip_suffix("\r\n\r\n")?.split(" HTTP").next()).collect();
    assert_eq!(lines, ["GET /robots.txt", "HEAD /gone", "GET /gone", "HEAD /old", "HEAD /new"]);

    let output = run(&["--private", "--deny", "warnings"]);
    assert!(stdout(&output).contains(&list(0)), "{}", stdout(&output));
    assert_eq!((output.status.code(), requests.try_iter().count()), (Some(2), 0));

    // Nothing is read or requested without --links.
    fs::write(files.path().join(CACHE), "{").expect("written");
    let plain = command(files.path()).output().expect("the binary runs");
    assert!(!stdout(&plain).contains("Links:"), "{}", stdout(&plain));
    assert_eq!((plain.status.code(), requests.try_iter().count()), (Some(0), 0));
    let damaged = run(&["--private"]);
    assert_eq!((damaged.status.code(), stdout(&damaged)), (Some(1), String::new()));
    assert!(stderr(&damaged).contains(CACHE) && stderr(&damaged).contains("damaged"), "{}", stderr(&damaged));
    assert_eq!(requests.try_iter().count(), 0);
    assert_eq!(fs::read_to_string(files.path().join(CACHE)).expect("a file"), "{", "the cache should be left as it is");
}

#[test]
fn an_interrupted_run_keeps_its_results() {
    let (address, requests) = server();
    let files = folder(&[("data/x.json", &export(address, &["fine", "silent"]))]);
    let child = links(files.path(), &["--private"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the binary runs");
    assert!(requests.iter().any(|head| head.starts_with("HEAD /silent ")));
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, Signal::INT).expect("sent");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("error: interrupted: "), "{}", stderr(&output));
    let cache = fs::read_to_string(files.path().join(CACHE)).expect("a cache");
    assert!(cache.contains("/fine\"") && !cache.contains("/silent\""), "{cache}");
}

#[test]
fn link_options_need_links() {
    let files = folder(&[("data/x.json", super::check::VALID)]);
    for arguments in [&["--private"][..], &["--contact", "a@b.example"], &["--links-cache", "c.json"]] {
        let output = super::check::check(files.path(), arguments);
        assert!(stderr(&output).contains("--links"), "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(2));
    }
}
