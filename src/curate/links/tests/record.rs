//! Tests the cache, and the findings about records.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

use jiff::SignedDuration;

use super::super::{CacheError, LinkCache, LinkCheck, LinksError};
use super::pages;
use super::world::{Asked, World, status, to};
use crate::export::render::{self, Style};
use crate::export::{self, Limits, Report, SourceFile};
use crate::record::CalendarDate;

pub(super) fn read(json: String) -> Report {
    let file = SourceFile::from_bytes("data/x.json".as_ref(), json.into());
    let today = CalendarDate::parse("2026-03-01").expect("a date");
    export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory")
}

/// An export with one product per website, each on its own line.
pub(super) fn export(urls: &[&str]) -> Report {
    let product = |(index, url): (usize, &&str)| {
        format!(r#"{{"id": "p{index}", "name": "P{index}", "url": "{url}", "evidence_status": "pending-review"}}"#)
    };
    let products: Vec<_> = urls.iter().enumerate().map(product).collect();
    let license = "https://example.org/";
    read(format!("{{\"name\": \"N\", \"license\": \"{license}\", \"software\": [\n{}\n]}}", products.join(",\n")))
}

impl World {
    /// Checks a report's links, and returns how many were requested.
    async fn check(&self, report: &mut Report, cache: LinkCache) -> (usize, LinkCache) {
        let check = LinkCheck::new(report, cache, &self.clock, false).expect("few links");
        check.ask(self.client(), &self.clock, Self::user_agent(), self.timeout, || ()).await.expect("online");
        (check.due(), check.report(report))
    }
}

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    render::text(report, Style::Plain, &mut out).expect("a buffer");
    String::from_utf8(out).expect("text")
}

fn broken() -> World {
    World::new(&["a.example", "b.example"], |Asked { host, path, .. }| match (&**host, &**path) {
        ("b.example", "/robots.txt") => super::world::text("User-agent: *\nDisallow: /no"),
        (_, "/robots.txt" | "/gone") => status(404),
        (_, "/old") => to(301, "/new"),
        _ => status(200),
    })
}

fn messy() -> Report {
    read(
        r#"{"name": "N", "license": "https://example.org/", "software": [
 {"id": "a", "name": "A", "url": "http://a.example/old#top", "evidence_status": "pending-review",
  "sources": [["Docs", "http://a.example/gone"], ["Again", "http://a.example/gone#x"], ["Mail", "mailto:a@a.example"]]},
 {"id": "b", "name": "B", "url": "http://b.example/no", "evidence_status": "pending-review",
  "sources": [["Docs", "http://a.example/gone"], ["Fine", "http://b.example/"]]},
 {"name": "C", "url": "http://gone.example/", "evidence_status": "pending-review"}
]}"#
        .to_owned(),
    )
}

#[tokio::test]
async fn links_are_grouped_by_cause_with_their_locations() {
    let (world, mut report) = (broken(), messy());
    let (asked, _) = world.check(&mut report, LinkCache::default()).await;
    assert_eq!(asked, 5);
    let text = text(&report);
    let (_, list) = text.split_once("Dead:").expect("a list");
    assert_eq!(
        list,
        " the server responds with 404 Not Found (2)
  data/x.json:3:24  http://a.example/gone (product `a` \"A\")
  data/x.json:5:24  http://a.example/gone (product `b` \"B\")

Unreachable: the host has no address (1)
  data/x.json:6:23  http://gone.example/ (product \"C\")

Moved: it has moved permanently (1)
  data/x.json:2:34  http://a.example/old → http://a.example/new (product `a` \"A\")

Not checked: robots.txt doesn't allow it (1)
  data/x.json:4:34  http://b.example/no (product `b` \"B\")

Links: 5 of 5 links checked now; 1 dead, 1 unreachable, 0 with TLS problems, 1 moved, 1 not checked.
Checked 1 file, 3 records (1 invalid): 1 error, 5 warnings.
"
    );
    assert!(!text.contains("dead_link"), "they are listed once: {text}");
    let found: Vec<_> = report.findings.iter().map(|of| (of.code.as_str(), &*of.location.pointer)).collect();
    assert_eq!(
        found,
        [
            ("moved_link", "/software/0/url"),
            ("dead_link", "/software/0/sources/0/1"),
            ("unusual_link", "/software/0/sources/2/1"),
            ("dead_link", "/software/1/sources/0/1"),
            ("missing_property", "/software/2"),
            ("unreachable_link", "/software/2/url"),
        ]
    );
    let record = report.findings[0].location.record.as_ref().expect("a record");
    assert_eq!((record.id.as_deref(), record.index), (Some("a"), 0));
    assert_eq!(
        report.findings[0].message,
        "`http://a.example/old` redirects to `http://a.example/new`: it has moved permanently"
    );
    assert_eq!(report.findings[1].message, "`http://a.example/gone`: the server responds with 404 Not Found");

    let mut out = Vec::new();
    render::json(&report, &mut out).expect("a buffer");
    let document: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let groups = document["links"]["groups"].as_array().expect("groups");
    let names: Vec<_> = groups.iter().map(|group| (group["outcome"].as_str(), group["code"].as_str())).collect();
    assert_eq!(
        names,
        [
            (Some("not_found"), Some("dead_link")),
            (Some("unknown_host"), Some("unreachable_link")),
            (Some("moved"), Some("moved_link")),
            (Some("robots"), None)
        ]
    );
    let place = &groups[3]["links"][0]["places"][0];
    assert_eq!(
        (&place["line"], &place["pointer"], &place["record"]["id"]),
        (&4.into(), &"/software/1/url".into(), &"b".into())
    );
    let mut out = Vec::new();
    render::github(&report, &mut out).expect("a buffer");
    let github = String::from_utf8(out).expect("text");
    assert!(github.contains("::warning file=data/x.json,line=3,col=24,title=dead_link::"), "{github}");
}

#[tokio::test]
async fn many_links_with_the_same_fault_are_counted_in_text_and_listed_in_json() {
    let world = World::new(&["a.example"], pages(|_| status(404)));
    let mut report = export(&["http://a.example/x"; 130]);
    world.check(&mut report, LinkCache::default()).await;
    assert_eq!(world.take_pages().len(), 2, "an address is requested only once");
    let text = text(&report);
    let (_, list) = text.split_once("Dead:").expect("a list");
    assert_eq!(list.matches("  http://a.example/x (product").count(), 20, "{list}");
    assert!(text.contains("(130)\n") && text.contains("\n  and 110 more; use --format json to see all\n"), "{text}");
    assert_eq!(report.warning_count(), 130 + 1, "and shared_url");
    assert_eq!(report.links.as_ref().expect("a list").groups[0].links[0].places.len(), 130);
}

#[tokio::test]
async fn a_later_run_requests_only_links_that_are_due() {
    let days = |days: i64| SignedDuration::from_hours(24 * days);
    let world = broken();
    let (asked, cache) = world.check(&mut messy(), LinkCache::default()).await;
    assert_eq!(asked, 5);
    let mut file = Vec::new();
    cache.write(&mut file).expect("a buffer");
    let cache = LinkCache::read(&*file).expect("a cache");
    let mut again = Vec::new();
    cache.write(&mut again).expect("a buffer");
    assert_eq!(String::from_utf8(file), String::from_utf8(again));

    world.take_log();
    let mut report = messy();
    let (asked, mut cache) = world.check(&mut report, cache).await;
    assert_eq!((asked, world.take_log().len()), (0, 0));
    let listed = text(&report);
    assert!(listed.contains("Links: 0 of 5 links checked now; 1 dead, 1 unreachable"), "{listed}");
    for (pass, due) in [(1, 2), (6, 4), (23, 5)] {
        world.clock.pass(days(pass));
        let (asked, learnt) = world.check(&mut messy(), cache).await;
        assert_eq!(asked, due, "after {pass} more days");
        cache = learnt;
    }
    world.clock.pass(days(-400));
    assert_eq!(world.check(&mut messy(), cache).await.0, 5, "results from the future aren't trusted");
}

#[tokio::test]
async fn a_link_that_fails_for_three_days_is_dead_and_one_that_recovers_is_not() {
    let code = Arc::new(AtomicU16::new(500));
    let world = {
        let code = Arc::clone(&code);
        World::new(&["a.example"], pages(move |_| status(code.load(Ordering::Relaxed))))
    };
    let mut cache = LinkCache::default();
    // A 403 says nothing about how long the link has been failing.
    for (answer, found) in [
        (500, Some("unreachable_link")),
        (500, Some("unreachable_link")),
        (403, None),
        (500, Some("dead_link")),
        (200, None),
        (500, Some("unreachable_link")),
    ] {
        code.store(answer, Ordering::Relaxed);
        let mut report = export(&["http://a.example/x"]);
        cache = world.check(&mut report, cache).await.1;
        assert_eq!(report.findings.first().map(|finding| finding.code.as_str()), found, "{answer}");
        if found == Some("dead_link") {
            assert!(report.findings[0].message.ends_with(", since 2026-03-01"), "{}", report.findings[0].message);
        }
        let wait = if answer == 500 { 25 } else { 31 * 24 };
        world.clock.pass(SignedDuration::from_hours(wait));
    }
}

#[tokio::test]
async fn results_survive_if_the_check_is_dropped() {
    let world = World::new(&["a.example"], pages(|_| status(200)));
    let report = export(&["http://a.example/1", "http://a.example/2", "http://a.example/3"]);
    let check = LinkCheck::new(&report, LinkCache::default(), &world.clock, false).expect("few links");
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let progress = || {
        if let Some(sender) = sender.lock().expect("no panic").take() {
            sender.send(()).expect("it waits");
        }
    };
    tokio::select! {
        biased;
        _ = receiver => {}
        _ = check.ask(world.client(), &world.clock, World::user_agent(), world.timeout, progress) => {}
    }
    let mut file = Vec::new();
    check.cache().write(&mut file).expect("a buffer");
    let file = String::from_utf8(file).expect("text");
    assert_eq!(file.matches("\"outcome\":\"fine\"").count(), 1, "{file}");
}

#[tokio::test]
async fn nothing_is_recorded_if_the_machine_is_offline() {
    let world = World::new(&[], |_| status(200));
    let check =
        |urls: &[&str]| LinkCheck::new(&export(urls), LinkCache::default(), &world.clock, false).expect("few links");
    let ask = async |check: LinkCheck| {
        check.ask(world.client(), &world.clock, World::user_agent(), world.timeout, || ()).await
    };
    let two = ["http://a.example/", "http://b.example/"];
    assert!(ask(check(&two)).await.is_ok());
    let three = ask(check(&["http://a.example/", "http://b.example/", "http://c.example/"])).await;
    assert!(matches!(three, Err(LinksError::Offline(3))), "{three:?}");

    // Hosts that had no address before either aren't a sign that the machine is offline.
    let cache = world.check(&mut export(&two), LinkCache::default()).await.1;
    let three = [two[0], two[1], "http://c.example/"];
    let cache = world.check(&mut export(&three[1..]), cache).await.1;
    world.clock.pass(SignedDuration::from_hours(24));
    assert_eq!(world.check(&mut export(&three), cache).await.0, 3);
}

#[test]
fn a_damaged_cache_is_rejected() {
    let read = |text: &str| LinkCache::read(text.as_bytes());
    assert!(read("{\"format\":1,\"links\":[]}").is_ok());
    assert!(matches!(read("{\"format\":2,\"links\":[]}"), Err(CacheError::Format(2))));
    for text in ["", "{\"format\":1,\"links\":[", "[]", "{\"format\":1,\"links\":[{\"url\":\"x\"}]}"] {
        assert!(matches!(read(text), Err(CacheError::Damaged(_))), "{text}");
    }
}
