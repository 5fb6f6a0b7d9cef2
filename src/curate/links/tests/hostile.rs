//! Malicious servers.

use std::time::Duration;

use super::pages;
use super::world::{Asked, Reply, World, status, to};

#[tokio::test]
async fn endless_redirects_end() {
    let world = World::new(
        &["circle.example", "stairs.example", "long.example"],
        pages(|Asked { host, path, .. }| match &**host {
            "circle.example" => to(301, "/"),
            "stairs.example" => to(302, &format!("{path}x")),
            _ => to(301, &format!("/{}", "x".repeat(30_000))),
        }),
    );
    assert_eq!(world.outcome("http://circle.example/").await.0, "too_many_redirects");
    assert_eq!(world.take_pages().len(), 11);
    let (outcome, to) = world.outcome("http://stairs.example/").await;
    assert_eq!((outcome, to.as_deref()), ("too_many_redirects", Some("http://stairs.example/xxxxxxxxxxx")));
    assert_eq!(world.outcome("http://long.example/").await, ("broken_redirect", None));
}

#[tokio::test]
async fn endless_headers_bodies_and_robots_files_are_cut_off() {
    let world = World::new(&["head.example", "body.example", "robots.example"], |Asked { host, path, .. }| {
        match (&**host, &**path) {
            ("robots.example", "/robots.txt") => Reply::Endless(
                b"HTTP/1.1 200 x\r\nconnection: close\r\n\r\nUser-agent: *\nDisallow: /no\n".to_vec(),
                b"Disallow: /y\n".repeat(10_000),
            ),
            (_, "/robots.txt") => status(404),
            ("head.example", _) => Reply::Endless(b"HTTP/1.1 200 x\r\na: ".to_vec(), vec![b'a'; 10_000]),
            ("body.example", _) => {
                Reply::Endless(b"HTTP/1.1 200 x\r\nconnection: close\r\n\r\n".to_vec(), vec![b'a'; 10_000])
            }
            _ => status(200),
        }
    });
    assert_eq!(world.outcome("http://head.example/").await, ("broken_answer", None));
    assert_eq!(world.outcome("http://body.example/").await, ("fine", None));
    assert_eq!(world.outcome("http://robots.example/no").await, ("robots", None));
    assert_eq!(world.outcome("http://robots.example/a").await, ("fine", None));
}

#[tokio::test]
async fn slow_bodies_and_broken_responses_are_reported() {
    let mut world = World::new(&["slow.example", "half.example", "junk.example"], |Asked { host, path, .. }| {
        let half = b"HTTP/1.1 200 x\r\ncontent-length: 99\r\n\r\nUser-agent: *".to_vec();
        match (&**host, &**path) {
            ("slow.example", "/robots.txt") => Reply::Silence(half),
            ("half.example", "/robots.txt") => Reply::Bytes(half),
            (_, "/robots.txt") => status(404),
            ("junk.example", _) => Reply::Bytes(b"SSH-2.0-x\r\n\r\n".to_vec()),
            _ => status(200),
        }
    });
    world.timeout = Duration::from_millis(500);
    assert_eq!(world.outcome("http://slow.example/").await, ("robots_unavailable", None));
    world.timeout = Duration::from_secs(30);
    assert_eq!(world.outcome("http://half.example/").await, ("robots_unavailable", None));
    assert_eq!(world.outcome("http://junk.example/").await, ("broken_answer", None));
}
