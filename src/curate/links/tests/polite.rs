//! Tests pauses, turns and robots.txt.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::super::ask::Asker;
use super::super::{LinkCache, LinkCheck};
use super::pages;
use super::record::export;
use super::world::{Asked, Reply, World, status, text, to};

fn lines(seconds: &[u64]) -> Vec<Duration> {
    seconds.iter().map(|seconds| Duration::from_secs(*seconds)).collect()
}

#[tokio::test]
async fn a_host_gets_one_request_a_second_and_its_robots_txt_is_fetched_once() {
    let world = World::new(&["a.example", "b.example"], pages(|_| status(200)));
    let asker = Asker::new(world.client(), &world.clock, World::user_agent(), world.timeout);
    for url in ["http://a.example/1", "http://a.example/2", "http://b.example/", "http://A.example/3"] {
        assert_eq!(asker.visit(url).await.outcome.as_str(), "fine");
    }
    assert_eq!(
        world.take_log(),
        [
            "GET a.example/robots.txt",
            "HEAD a.example/1",
            "HEAD a.example/2",
            "GET b.example/robots.txt",
            "HEAD b.example/",
            "HEAD a.example/3",
        ]
    );
    // a.example's delay elapsed while b.example was being checked.
    assert_eq!(*world.clock.slept.lock().expect("no panic"), lines(&[1, 1, 1]));
}

#[tokio::test]
async fn robots_txt_decides_what_is_requested_and_how_fast() {
    let world = World::new(
        &["a.example", "moved.example", "broken.example", "closed.example", "inside.example"],
        |Asked { host, path, .. }| match (&**host, &**path) {
            ("a.example" | "b.example", "/robots.txt") => text("User-agent: *\nDisallow: /no\nCrawl-delay: 7\n"),
            ("moved.example", "/robots.txt") => to(301, "http://a.example/robots.txt"),
            ("inside.example", "/robots.txt") => to(301, "http://127.0.0.1/robots.txt"),
            ("broken.example", "/robots.txt") => status(500),
            ("closed.example", "/robots.txt") => status(403),
            ("a.example", "/to-no") => to(302, "/no/1"),
            _ => status(200),
        },
    );
    for (url, outcome, pages) in [
        ("a.example/no/1", "robots", 0),
        ("a.example/yes", "fine", 1),
        ("a.example/to-no", "robots", 1),
        ("moved.example/no", "robots", 0),
        ("moved.example/yes", "fine", 1),
        ("broken.example/", "robots_unavailable", 0),
        ("inside.example/", "robots_unavailable", 0),
        ("closed.example/no", "fine", 1),
    ] {
        assert_eq!(world.outcome(&format!("http://{url}")).await.0, outcome, "{url}");
        assert_eq!(world.take_pages().len(), pages, "{url}");
    }
    let asker = Asker::new(world.client(), &world.clock, World::user_agent(), world.timeout);
    world.clock.slept.lock().expect("no panic").clear();
    for path in ["yes/1", "yes/2", "yes/3"] {
        asker.visit(&format!("http://a.example/{path}")).await;
    }
    // The delay is known once robots.txt has been read.
    assert_eq!(*world.clock.slept.lock().expect("no panic"), lines(&[1, 7, 7]));
}

#[tokio::test]
async fn short_waits_are_sat_out_and_long_ones_end_requests_to_the_host() {
    let count = Mutex::new(BTreeMap::<String, u32>::new());
    let world = World::new(
        &["short.example", "long.example", "date.example", "stubborn.example"],
        pages(move |Asked { host, .. }| {
            let mut count = count.lock().expect("no panic");
            let count = count.entry(host.clone()).or_default();
            *count += 1;
            let retry = |after: &str| Reply::Head(429, format!("retry-after: {after}\r\n"));
            match (&**host, *count) {
                ("short.example", 1) | ("stubborn.example", _) => retry("5"),
                ("long.example", _) => retry("7200"),
                ("date.example", _) => retry("Sun, 01 Mar 2026 14:00:00 GMT"),
                _ => status(200),
            }
        }),
    );
    let asker = Asker::new(world.client(), &world.clock, World::user_agent(), world.timeout);
    assert_eq!(asker.visit("http://short.example/").await.outcome.as_str(), "fine");
    assert!(world.clock.slept.lock().expect("no panic").contains(&Duration::from_secs(5)));
    world.take_log();
    for (host, pages, seconds) in [("stubborn", 2, 1..=5), ("long", 1, 7190..=7200), ("date", 1, 7100..=7200)] {
        let visit = asker.visit(&format!("http://{host}.example/")).await;
        assert_eq!(visit.outcome.as_str(), "later");
        let pause = visit.pause.expect("a pause").as_secs();
        assert!(seconds.contains(&pause), "{host}: {pause}");
        assert_eq!(asker.visit(&format!("http://{host}.example/other")).await.outcome.as_str(), "later");
        assert_eq!(world.take_pages().len(), pages, "{host} got a request while it was paused");
    }
}

/// How many requests are in progress per host, and the highest number so far.
#[derive(Default)]
struct Crowd {
    now: Mutex<(BTreeMap<String, usize>, usize, usize)>,
    changed: Condvar,
}

#[tokio::test]
async fn eight_hosts_are_contacted_at_once_with_one_request_each() {
    const LONG: Duration = Duration::from_secs(30);
    let crowd = Arc::new(Crowd::default());
    let handler = {
        let crowd = Arc::clone(&crowd);
        move |asked: &Asked| {
            let total = |hosts: &BTreeMap<String, usize>| hosts.values().sum::<usize>();
            let mut now = crowd.now.lock().expect("no panic");
            let of_host = now.0.entry(asked.host.clone()).or_default();
            *of_host += 1;
            let of_host = *of_host;
            now.1 = now.1.max(total(&now.0));
            now.2 = now.2.max(of_host);
            crowd.changed.notify_all();
            // The first eight requests wait until all eight are in progress.
            let (mut now, _) = crowd.changed.wait_timeout_while(now, LONG, |now| now.1 < 8).expect("no panic");
            *now.0.get_mut(&asked.host).expect("counted") -= 1;
            drop(now);
            status(200)
        }
    };
    let hosts: Vec<String> = (0..20).map(|n| format!("h{n}.example")).collect();
    let world = World::new(&hosts.iter().map(|host| &**host).collect::<Vec<_>>(), handler);
    let urls: Vec<_> = hosts.iter().flat_map(|host| ["1", "2"].map(|path| format!("http://{host}/{path}"))).collect();
    let report = export(&urls.iter().map(|url| &**url).collect::<Vec<_>>());
    let check = LinkCheck::new(&report, LinkCache::default(), &world.clock).expect("few links");
    check.ask(world.client(), &world.clock, World::user_agent(), world.timeout, || ()).await.expect("online");
    let (_, total, of_host) = &*crowd.now.lock().expect("no panic");
    assert_eq!((*total, *of_host), (8, 1));
    assert_eq!(world.take_log().len(), 20 * 3);
}
