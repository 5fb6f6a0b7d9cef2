//! Tests which sources count as changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::SignedDuration;

use super::super::LinkCache;
use super::super::source::{Body, Content};
use super::pages;
use super::record::read;
use super::world::{Asked, Reply, World, text};
use crate::export::Report;

/// What varies between two versions of a page.
#[derive(Clone, Copy)]
struct Page {
    price: &'static str,
    version: &'static str,
    storage: &'static str,
    trial: &'static str,
    feature: &'static str,
    quote: &'static str,
    more: &'static str,
    updated: &'static str,
    token: &'static str,
    advertisement: &'static str,
    downloads: &'static str,
}

const PAGE: Page = Page {
    price: "€49",
    version: "2.3",
    storage: "20",
    trial: "30",
    feature: "isolations, ",
    quote: "<b>Free</b> for up&nbsp;to&#173; ten ‘users’",
    more: "",
    updated: "Friday, 8 May 2026, 10:42",
    token: "8f3a9c2e41bd77",
    advertisement: "Buy shoes now, only $10, while they last.",
    downloads: "1,234 downloads",
};

impl Page {
    fn html(self, number: usize) -> String {
        let Self { price, version, storage, trial, feature, quote, more, updated, token, advertisement, downloads } =
            self;
        format!(
            "<!doctype html><html><head><title>Product {number}</title><script>var t = '{token}';</script></head><body>\
             <nav><a href=/>Home</a> <a href=/blog>{downloads}</a></nav><div class='page-ad'>{advertisement}</div>\
             <main><h1>Product {number}</h1><p>Product {number} manages permits to work, {feature}handovers and \
             inspections. It costs {price} per user and month, after a trial of {trial} days.</p>\
             <div class=\"ad\"><p>{advertisement}</p></div><ins class=adsbygoogle>{advertisement}</ins>\
             <p>{quote}, with {storage} GB of storage. Version {version} runs on Windows, Linux and macOS.{more}</p>\
             <p>Last updated: {updated} · {downloads} · <time>3 days ago</time> · Request {token}</p></main>\
             <aside>{advertisement}</aside><footer>© 2026, page {token}</footer></body></html>"
        )
    }
}

/// The pages' second version: the first seven really change, and the next twenty don't.
fn later(number: usize) -> Page {
    match number {
        0 => Page { price: "€59", ..PAGE },
        1 => Page { version: "2.4", ..PAGE },
        2 => Page { storage: "50", ..PAGE },
        3 => Page { trial: "14", ..PAGE },
        4 => Page { feature: "", ..PAGE },
        5 => Page { quote: "Free for up to five ‘users’", ..PAGE },
        6 => Page { more: " It can't be bought any more.", ..PAGE },
        7..12 => Page { updated: "Thursday, 11 June 2026, 9:05", ..PAGE },
        12..17 => Page { token: "0c77ab1e9d2f4e", ..PAGE },
        17..22 => Page { advertisement: "A better car, now for 20,000 euros!", ..PAGE },
        22..27 => Page { downloads: "1 download", updated: "2026-06-11T09:05:00Z", ..PAGE },
        _ => PAGE,
    }
}

fn products(count: usize) -> Report {
    let product = |number: usize| {
        let evidence = match number % 3 {
            0 => String::new(),
            1 => r#", "evidence": {"pricing": {"source": "Site"}}"#.to_owned(),
            _ => r#", "evidence": {"pricing": [{"source": "Site", "quote": "FREE for up to ten 'users'"}]}"#.to_owned(),
        };
        format!(
            r#"{{"id": "p{number}", "name": "P", "url": "http://a.example/", "pricing": "€49", "evidence_status": "vendor-sources-reviewed",
  "evidence_checked_on": "2026-02-01", "sources": [["Site", "http://a.example/{number}#x"]]{evidence}}}"#
        )
    };
    let products: Vec<_> = (0..count).map(product).collect();
    read(format!(r#"{{"name": "N", "license": "https://example.org/", "software": [{}]}}"#, products.join(",\n")))
}

fn changed(report: &Report) -> BTreeSet<String> {
    let changed = report.findings.iter().filter(|finding| finding.code.as_str() == "changed_source");
    changed.map(|of| of.location.record.as_ref().and_then(|record| record.id.clone()).expect("a product")).collect()
}

#[tokio::test]
async fn of_a_hundred_sources_exactly_the_seven_that_changed_are_found() {
    let is_later = Arc::new(AtomicBool::new(false));
    let handler = {
        let is_later = Arc::clone(&is_later);
        pages(move |Asked { path, .. }| {
            let Ok(number) = path[1..].parse() else { return text("<p>Home</p>") };
            let page = if is_later.load(Ordering::Relaxed) { later(number) } else { PAGE };
            text(&page.html(number))
        })
    };
    let world = World::new(&["a.example"], handler);
    let mut report = products(100);
    let cache = world.watch(&mut report, LinkCache::default()).await;
    assert_eq!(changed(&report), BTreeSet::new());
    assert_eq!(world.take_pages().iter().filter(|line| line.starts_with("GET")).count(), 100);

    is_later.store(true, Ordering::Relaxed);
    let mut report = products(100);
    let cache = world.watch(&mut report, cache).await;
    assert_eq!((changed(&report), world.take_pages().len()), (BTreeSet::new(), 0), "nothing is due");
    world.clock.pass(SignedDuration::from_hours(31 * 24));
    let mut report = products(100);
    let cache = world.watch(&mut report, cache).await;
    let expected: BTreeSet<_> = (0..7).map(|number| format!("p{number}")).collect();
    assert_eq!(changed(&report), expected);
    let messages: Vec<_> = report.findings.iter().map(|of| (&*of.location.pointer, &*of.message)).collect();
    assert_eq!(messages[0], ("/software/0/sources/0/1", "`http://a.example/0`: the main text is different"));
    let quote = ("/software/5/evidence/pricing/0/source", "`http://a.example/5`: the text doesn't contain the quote");
    assert!(messages.contains(&quote), "{messages:?}");

    // The results are remembered, and a claim that was checked again rests on the new text.
    let mut file = Vec::new();
    cache.write(&mut file).expect("a buffer");
    let cache = LinkCache::read(&file[..]).expect("a cache");
    let mut report = products(100);
    let cache = world.watch(&mut report, cache).await;
    assert_eq!((changed(&report), world.take_pages().len()), (expected, 100 + 1), "remembered");
    let mut report =
        read(String::from_utf8(report.files[0].bytes().to_vec()).expect("text").replace("2026-02-01", "2026-04-02"));
    world.watch(&mut report, cache).await;
    assert_eq!(changed(&report), ["p5".to_owned()].into(), "the quote is still missing");
}

#[tokio::test]
async fn a_source_without_text_is_reported_and_compared_by_its_bytes() {
    let is_later = Arc::new(AtomicBool::new(false));
    let handler = {
        let is_later = Arc::clone(&is_later);
        pages(move |Asked { path, .. }| {
            let pdf = if path == "/0" && is_later.load(Ordering::Relaxed) { "%PDF-1.7 b" } else { "%PDF-1.7 a" };
            let head =
                "HTTP/1.1 200 x\r\nconnection: close\r\ncontent-type: application/pdf\r\ncontent-length: 10\r\n\r\n";
            Reply::Bytes(format!("{head}{pdf}").into())
        })
    };
    let world = World::new(&["a.example"], handler);
    let mut report = products(4);
    let cache = world.watch(&mut report, LinkCache::default()).await;
    let without_text = report.findings.iter().filter(|of| of.code.as_str() == "source_without_text").count();
    assert_eq!((without_text, changed(&report)), (4 + 2, BTreeSet::new()));
    is_later.store(true, Ordering::Relaxed);
    world.clock.pass(SignedDuration::from_hours(31 * 24));
    let mut report = products(4);
    world.watch(&mut report, cache).await;
    assert_eq!(changed(&report), ["p0".to_owned()].into());
    assert!(report.findings[0].message.ends_with("the bytes are different"), "{}", report.findings[0].message);
}

impl World {
    /// Checks a report's links and sources.
    async fn watch(&self, report: &mut Report, cache: LinkCache) -> LinkCache {
        let check = super::super::LinkCheck::new(report, cache, &self.clock, true).expect("few links");
        check.ask(self.client(), &self.clock, Self::user_agent(), self.timeout, || ()).await.expect("online");
        check.report(report)
    }
}

fn content(html: &str, quotes: &[&str]) -> Content {
    let bytes = html.to_owned().into();
    let body = Body { content_type: Some("text/html".to_owned()), is_encoded: false, bytes, is_whole: true };
    Content::of(&body, &quotes.iter().map(|quote| (*quote).into()).collect::<Vec<_>>())
}

#[test]
fn only_dates_tokens_and_counters_may_differ() {
    let is_same = |a: &str, b: &str| {
        let page = |text: &str| content(&format!("<article><p>{} {text}</p></article>", "Some text. ".repeat(20)), &[]);
        let of = |text: &str| page(text).after(Some(&page(a)), "2026-01-01T00:00:00Z".parse().expect("a time"));
        of(b).changed_at.is_none()
    };
    for [a, b] in [
        ["12 May 2026", "3 June 2026"],
        ["May 12th, 2026", "Jun. 1st, 2027"],
        ["Montag, 4. März 2026", "Freitag, 5. Juni 2026"],
        ["2026-05-12T10:00:00Z", "2026-06-01T09:30:12Z"],
        ["12.05.2026 10:30", "01.06.2026 11:45"],
        ["yesterday", "2 days ago"],
        ["an hour ago", "3 weeks ago"],
        ["vor 3 Tagen", "vor 2 Wochen"],
        ["il y a 3 jours", "il y a 2 mois"],
        ["1 review", "1,203 reviews"],
        ["12.5k stars", "13k stars"],
        ["(7) comments", "(1.234.567) comments"],
        ["id 550e8400-e29b-41d4-a716-446655440000", "id 123e4567-e89b-12d3-a456-426614174000"],
        ["Ray: 8c1f00aa9e7b2d41", "Ray: 7a3e11bb0c9d5f62"],
        ["‘quoted’ – text", "'quoted' - text"],
    ] {
        assert!(is_same(a, b), "{a} / {b}");
    }
    for [a, b] in [
        ["€49", "€59"],
        ["49 €", "59 €"],
        ["EUR 1,200.00", "EUR 1,300.00"],
        ["$10k", "$20k"],
        ["30 days", "14 days"],
        ["20 GB", "50 GB"],
        ["99.5%", "99.9%"],
        ["99.5 %", "99.9 %"],
        ["version 2", "version 3"],
        ["v2.3.1", "v2.3.2"],
        ["version 2.3.10", "version 2.3.11"],
        ["ISO 9001", "ISO 45001"],
        ["may 5 users", "must 5 users"],
        ["cloud", "on-premises"],
    ] {
        assert!(!is_same(a, b), "{a} / {b}");
    }
}

#[test]
fn a_quote_is_found_however_it_is_marked_up() {
    let html = "<body><h1>Tool</h1><p>Text.</p><table><tr><td>Team</td><td>49<span>&nbsp;€</span> per&shy;son – “now”</td></tr></table>\
                <script>var price = '12 €';</script>";
    for (quote, is_there) in [("Team 49 € person - \"NOW\"", true), ("49€", true), ("12 €", false), ("48 €", false)]
    {
        assert_eq!(content(html, &[quote]).has(quote), Some(is_there), "{quote}");
    }
    assert_eq!(content(html, &[]).has("49 €"), None);
}

#[test]
fn pages_that_would_take_too_long_have_no_text() {
    let many = "<p>text</p>".repeat(60_000);
    for html in [&*"<div>".repeat(100_000), &"<b><p>x".repeat(20_000), &"<a><div>x".repeat(20_000), &many, ""] {
        assert!(!content(html, &[]).has_text, "{}", &html[..html.len().min(20)]);
    }
}
