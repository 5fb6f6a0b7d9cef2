//! A leader and its followers as separate processes.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::Request;
use tempfile::TempDir;

use crate::binary::command;
use crate::process::{Server, export, folder_with, run, text, write};
use crate::request::send;
use crate::until::until;

/// Status, entity tag and body.
fn get(server: &Server, path: &str, key: &str, tag: Option<&str>) -> (u16, Option<String>, String) {
    let request = Request::get(format!("{}{path}", server.address)).header("Authorization", format!("Bearer {key}"));
    let request = if let Some(tag) = tag { request.header("If-None-Match", tag) } else { request };
    let response = send(request, "").expect("a response");
    let tag = response.headers().get("etag").map(|tag| tag.to_str().expect("text").to_owned());
    (response.status().as_u16(), tag, response.into_body())
}

fn create_key(folder: &Path, more: &[&str]) -> String {
    let made = run(folder, &[&["keys", "create", "--name", "tests", "--rate", "none"], more].concat());
    text(&made.stdout).trim().to_owned()
}

/// A follower's folder, with the leader's key file and the key for following it.
fn follower_folder(leader: &Path, key: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(leader.join("keys.json"), folder.path().join("keys.json")).expect("copied");
    fs::write(folder.path().join("leader.key"), format!("{key}\n")).expect("written");
    folder
}

/// Starts a server on this port, which stays the same across restarts.
fn start(folder: &Path, port: u16, arguments: &[&str]) -> Server {
    let mut command = command(folder);
    command.args(arguments);
    Server::spawn_at(command, &format!("127.0.0.1:{port}")).announced()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

fn generation(server: &Server, key: &str) -> Option<String> {
    let request = Request::get(format!("{}/v1/exports", server.address));
    let response = send(request.header("Authorization", format!("Bearer {key}")), "").expect("a response");
    response.headers().get("x-generation").map(|name| name.to_str().expect("text").to_owned())
}

#[test]
fn index_files_need_a_key_with_the_right_to_replicate() {
    let leader = folder_with(&["a", "b"]);
    let (reader, replicator) = (create_key(leader.path(), &[]), create_key(leader.path(), &["--replicate"]));
    let server = Server::start(leader.path(), &[]);
    let current = "/v1/generations/CURRENT";
    let (status, tag, name) = get(&server, current, &replicator, None);
    assert_eq!((status, tag.is_some()), (200, true));
    assert_eq!(get(&server, current, &replicator, tag.as_deref()).0, 304);
    let (status, _, body) = get(&server, current, &reader, None);
    assert_eq!(status, 403);
    assert!(body.contains("replicate_not_allowed"), "{body}");
    assert_eq!(get(&server, current, "sd_live_nokey", None).0, 401);
    let manifest = format!("/v1/generations/{}/manifest.json", name.trim());
    assert_eq!(get(&server, &manifest, &replicator, None).0, 200);
    assert_eq!(get(&server, &manifest, &reader, None).0, 403);
    for missing in ["none", ".next-1", "%2e%2e%2fLOCK", "..%2f..%2fkeys.json", "%00"] {
        let path = format!("/v1/generations/{}/{missing}", name.trim());
        assert_eq!(get(&server, &path, &replicator, None).0, 404, "{missing}");
    }
    assert_eq!(get(&server, "/v1/generations/..%2f..%2fdata/tools.json", &replicator, None).0, 404);
    let request = Request::get(format!("{}{manifest}", server.address)).header("Range", "bytes=2-5");
    let response = send(request.header("Authorization", format!("Bearer {replicator}")), "").expect("a response");
    assert_eq!(response.status().as_u16(), 206);
    let range = response.headers()["content-range"].to_str().expect("text").to_owned();
    assert!(range.starts_with("bytes 2-5/"), "{range}");
    assert_eq!(response.body().len(), 4);

    // A follower with the wrong key reports that, and starts following once the key is right.
    let folder = follower_folder(leader.path(), &reader);
    let url = format!("{}/v1/generations", server.address);
    let mut follower = Server::start(folder.path(), &["--follow", &url, "--follow-key-file", "leader.key"]);
    follower.made_key = Some(reader.clone());
    until("the refused access is logged", || follower.stderr().contains("refuses access").then_some(()));
    assert_eq!(follower.get("/readyz").0, 503);
    fs::write(folder.path().join("leader.key"), &replicator).expect("written");
    follower.signal("HUP");
    until("it serves", || (follower.get("/readyz").0 == 200).then_some(()));
    assert!(!follower.stderr().contains(&replicator) && !follower.stderr().contains(&reader), "{}", follower.stderr());
}

#[test]
fn mutually_exclusive_options_are_usage_errors() {
    let folder = folder_with(&["a"]);
    for (arguments, part) in [
        (&["--follow", "http://127.0.0.1:1/", "--data", "data"][..], "leave out --data"),
        (&["--follow", "http://127.0.0.1:1/", "--reindex"], "use only one of them"),
        (&["--follow", "http://127.0.0.1:1/", "--meaning", "off"], "leave it out here"),
        (&["--follow", "http://127.0.0.1:1/", "--index", "none"], "--index none"),
        (&["--follow", "leader.example"], "http or https URL"),
        (&["--follow", "http://127.0.0.1:1/", "--follow-key-file", "none"], "can't be read"),
        (&["--follow-key-file", "none"], "needs --follow"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(part), "{output:?}");
    }
}

#[test]
fn a_killed_server_affects_no_other_server_and_catches_up_later() {
    let leader_folder = folder_with(&["a", "b"]);
    let key = create_key(leader_folder.path(), &["--replicate"]);
    let ports: Vec<u16> = (0..2).map(|_| free_port()).collect();
    let mut leader = start(leader_folder.path(), ports[0], &[]);
    let url = format!("http://127.0.0.1:{}/v1/generations", ports[0]);
    let follow = ["--follow", url.as_str(), "--follow-key-file", "leader.key"];
    let folder = follower_folder(leader_folder.path(), &key);
    let mut follower = start(folder.path(), ports[1], &follow);
    for server in [&mut leader, &mut follower] {
        server.made_key = Some(key.clone());
    }
    until("it follows", || (follower.get("/readyz").0 == 200).then_some(()));

    // Both return the same bytes and entity tags, so a tag from one gets a 304 from the other.
    for path in ["/v1/software", "/v1/software/a", "/v1/search?q=tool", "/v1/exports", "/v1/exports/tools"] {
        let (ours, theirs) = (get(&leader, path, &key, None), get(&follower, path, &key, None));
        assert_eq!(ours, theirs, "{path}");
        assert_eq!(get(&follower, path, &key, ours.1.as_deref()).0, 304, "{path}");
    }
    assert_eq!(generation(&leader, &key), generation(&follower, &key));

    // Load through a balancer that tries the other address if one doesn't respond.
    let (stop, failed, served) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let load = {
        let (stop, failed, served, key) = (Arc::clone(&stop), Arc::clone(&failed), Arc::clone(&served), key.clone());
        let ports = ports.clone();
        std::thread::spawn(move || {
            let mut turn = 0;
            while !stop.load(Ordering::Relaxed) {
                turn += 1;
                let is_served = (0..ports.len()).any(|other| {
                    let port = ports[(turn + other) % ports.len()];
                    let request = Request::get(format!("http://127.0.0.1:{port}/v1/search?q=tool"));
                    let response = send(request.header("Authorization", format!("Bearer {key}")), "");
                    response.is_ok_and(|response| response.status() == 200)
                });
                if is_served { &served } else { &failed }.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let more_requests = || {
        let from = served.load(Ordering::Relaxed);
        until("requests are served", || (served.load(Ordering::Relaxed) > from + 50).then_some(()));
    };
    more_requests();
    leader.signal("KILL");
    until("it's gone", || leader.ended());
    more_requests();
    until("the follower notices", || (follower.reasons() == ["leader_unreachable"]).then_some(()));
    write(leader_folder.path(), &export(&["a", "b", "c"]));
    let mut leader = start(leader_folder.path(), ports[0], &[]);
    leader.made_key = Some(key.clone());
    until("the follower catches up", || (follower.get("/v1/software/c").0 == 200).then_some(()));
    until("it's healthy", || follower.reasons().is_empty().then_some(()));
    follower.signal("KILL");
    until("it's gone", || follower.ended());
    more_requests();
    let mut follower = start(folder.path(), ports[1], &follow);
    follower.made_key = Some(key.clone());
    until("the follower serves again", || (follower.get("/v1/software/c").0 == 200).then_some(()));
    more_requests();
    stop.store(true, Ordering::Relaxed);
    load.join().expect("no panic");
    assert_eq!(failed.load(Ordering::Relaxed), 0, "of {}", served.load(Ordering::Relaxed));
    assert!(follower.stderr().lines().all(|line| !line.contains(&key)), "{}", follower.stderr());
}
