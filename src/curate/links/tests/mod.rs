mod record;
mod source;
mod world;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use fluent_uri::Uri;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use record::export;
use world::{Asked, Reply, World, status, text, to};

use super::ask::{Asker, moved};
use super::outcome::Visit;
use super::{LinkCache, LinkCheck};

impl World {
    async fn visit(&self, url: &str) -> Visit {
        Asker::new(self.client(), &self.clock, Self::user_agent(), self.timeout).visit(url, false).await
    }

    /// A visit's outcome and address.
    async fn outcome(&self, url: &str) -> (&'static str, Option<String>) {
        let visit = self.visit(url).await;
        (visit.outcome.as_str(), visit.to.map(Into::into))
    }
}

/// A server without a robots.txt.
fn pages(page: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| if asked.path == "/robots.txt" { status(404) } else { page(asked) }
}

#[tokio::test]
async fn the_status_says_whether_a_page_exists_and_get_is_tried_if_head_is_refused() {
    let world = World::new(
        &["a.example"],
        pages(|Asked { method, path, .. }| {
            let codes = path.trim_start_matches('/').split_once('-').unwrap_or_default();
            let code = if method == "HEAD" { codes.0 } else { codes.1 };
            status(code.parse().unwrap_or(500))
        }),
    );
    for (path, outcome, requests) in [
        ("200-500", "fine", 1),
        ("204-500", "fine", 1),
        ("404-404", "not_found", 2),
        ("404-200", "fine", 2),
        ("410-200", "not_found", 1),
        ("403-200", "fine", 2),
        ("405-200", "fine", 2),
        ("501-200", "fine", 2),
        ("500-500", "server_error", 2),
        ("400-404", "not_found", 2),
        ("403-403", "refused", 2),
        ("401-200", "refused", 1),
        ("999-999", "refused", 2),
        ("503-200", "later", 1),
    ] {
        let visit = world.visit(&format!("http://a.example/{path}")).await;
        assert_eq!(visit.outcome.as_str(), outcome, "{path}");
        assert_eq!(world.take_pages().len(), requests, "{path}");
    }
}

#[tokio::test]
async fn permanent_redirects_and_other_domains_are_reported() {
    let world = World::new(
        &["a.example", "www.a.example", "b.example", "a.co.uk", "b.co.uk"],
        pages(|Asked { host, path, .. }| match (&**host, &**path) {
            ("a.example", "/301") => to(301, "/new?x#y"),
            ("a.example", "/308") => to(308, "http://www.a.example/new"),
            ("a.example", "/302") => to(302, "http://www.a.example/new"),
            ("a.example", "/good-then-not") => to(301, "/302"),
            ("a.example", "/not-then-good") => to(307, "/301"),
            ("a.example", "/parked") => to(302, "http://b.example/buy"),
            ("a.example", "/sold") => to(301, "http://b.example/"),
            ("a.co.uk", "/") => to(302, "http://b.co.uk/"),
            ("a.example", "/gone") => to(301, "/404"),
            ("a.example", "/closed") => to(301, "/403"),
            ("a.example", "/shop") => to(302, "itms-apps://shop/1"),
            ("a.example", "/nowhere") => status(301),
            ("a.example", "/umlaut") => to(301, "/\u{e9} <x>"),
            ("a.example", "/404") => status(404),
            ("a.example", "/403") => status(403),
            _ => status(200),
        }),
    );
    for (url, outcome, to) in [
        ("a.example/301", "moved", Some("a.example/new?x")),
        ("a.example/308", "moved", Some("www.a.example/new")),
        ("a.example/302", "fine", None),
        ("a.example/good-then-not", "moved", Some("a.example/302")),
        ("a.example/not-then-good", "fine", None),
        ("a.example/parked", "other_domain", Some("b.example/buy")),
        ("a.example/sold", "other_domain", Some("b.example/")),
        ("a.co.uk/", "other_domain", Some("b.co.uk/")),
        ("a.example/gone", "not_found", Some("a.example/404")),
        ("a.example/closed", "moved", Some("a.example/403")),
        ("a.example/nowhere", "broken_redirect", None),
        ("a.example/umlaut", "moved", Some("a.example/%C3%A9%20%3Cx%3E")),
        ("me@a.example/", "not_asked", None),
        ("a.example:99999/", "not_asked", None),
        ("no.example/", "unknown_host", None),
    ] {
        let expected = (outcome, to.map(|to| format!("http://{to}")));
        assert_eq!(world.outcome(&format!("http://{url}")).await, expected, "{url}");
    }
    assert_eq!(world.outcome("http://a.example/shop").await, ("not_asked", Some("itms-apps://shop/1".to_owned())));
    world.name("refused.example", &["93.184.216.1"]);
    assert_eq!(world.outcome("http://refused.example/").await, ("no_connection", None));
}

#[test]
fn only_a_switch_from_http_to_https_is_insecure() {
    let uri = |text: &str| Uri::parse(text.to_owned()).expect("a URI");
    let moved = |from: &str, to: &str| moved(&uri(from), &uri(to), Some(uri(to))).outcome.as_str();
    assert_eq!(moved("http://a.example", "https://a.example/"), "insecure");
    assert_eq!(moved("http://A.example/x?y", "https://a.example/x?y"), "insecure");
    assert_eq!(moved("http://a.example/x", "https://a.example/"), "moved");
    assert_eq!(moved("http://a.example/", "https://www.a.example/"), "moved");
    assert_eq!(moved("https://a.example/", "http://a.example/"), "moved");
}

#[tokio::test]
async fn private_addresses_are_refused_at_each_hop_after_name_resolution() {
    let world = World::new(
        &["a.example"],
        pages(|Asked { path, .. }| match &**path {
            "/local" => to(302, "http://inside.example/"),
            "/literal" => to(302, "http://127.0.0.1:8080/x"),
            "/mapped" => to(302, "http://[::ffff:10.0.0.1]/"),
            _ => status(200),
        }),
    );
    world.name("inside.example", &["10.1.2.3"]);
    world.name("both.example", &["93.184.215.1 192.168.0.1"]);
    world.name("localhost", &["127.0.0.1"]);
    for url in ["inside.example/", "both.example/", "localhost/", "127.0.0.1/", "[::1]/", "169.254.169.254/meta"] {
        assert_eq!(world.outcome(&format!("http://{url}")).await, ("not_public", None), "{url}");
    }
    assert_eq!(world.connected_ips(), [""; 0]);
    for (path, to) in [
        ("local", "http://inside.example/"),
        ("literal", "http://127.0.0.1:8080/x"),
        ("mapped", "http://[::ffff:10.0.0.1]/"),
    ] {
        let outcome = world.outcome(&format!("http://a.example/{path}")).await;
        assert_eq!(outcome, ("not_public", Some(to.to_owned())), "{path}");
    }
    assert!(world.connected_ips().iter().all(|ip| ip == "93.184.215.1"), "{:?}", world.connected_ips());
}

#[tokio::test]
async fn a_name_rebound_to_a_private_address_is_never_connected_to() {
    let world = World::new(&["a.example"], pages(|_| status(200)));
    world.name("a.example", &["93.184.215.1", "127.0.0.1"]);
    // The host first resolved to the public address, which served robots.txt, and then to the
    // private one.
    assert_eq!(world.outcome("http://a.example/").await, ("not_public", None));
    assert_eq!(world.connected_ips(), ["93.184.215.1"]);
}

#[tokio::test]
async fn private_addresses_are_checked_on_request() {
    let mut world = World::new(&["a.example"], pages(|_| status(200)));
    world.reaches_private = true;
    world.name("inside.example", &["10.1.2.3"]);
    let listener = world.town.listener("93.184.215.1");
    world.listen("10.1.2.3", listener);
    assert_eq!(world.outcome("http://inside.example/").await, ("fine", None));
    assert_eq!(world.outcome("http://10.1.2.3/").await, ("fine", None));
}

#[tokio::test]
async fn requests_name_the_program_and_the_contact() {
    let world = World::new(
        &["a.example"],
        pages(|asked| {
            let is_named = asked.head.contains("user-agent: software-directory/1 (link check; +x@example.org)\r\n");
            status(if is_named { 200 } else { 404 })
        }),
    );
    assert_eq!(world.outcome("http://a.example/").await, ("fine", None));
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let mut world = World::new(&["a.example"], pages(|_| Reply::Silence(Vec::new())));
    world.timeout = Duration::from_millis(300);
    assert_eq!(world.outcome("http://a.example/").await, ("no_answer", None));
}

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

fn lines(seconds: &[u64]) -> Vec<Duration> {
    seconds.iter().map(|seconds| Duration::from_secs(*seconds)).collect()
}

#[tokio::test]
async fn a_host_gets_one_request_a_second_and_its_robots_txt_is_fetched_once() {
    let world = World::new(&["a.example", "b.example"], pages(|_| status(200)));
    let asker = Asker::new(world.client(), &world.clock, World::user_agent(), world.timeout);
    for url in ["http://a.example/1", "http://a.example/2", "http://b.example/", "http://A.example/3"] {
        assert_eq!(asker.visit(url, false).await.outcome.as_str(), "fine");
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
        asker.visit(&format!("http://a.example/{path}"), false).await;
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
    assert_eq!(asker.visit("http://short.example/", false).await.outcome.as_str(), "fine");
    assert!(world.clock.slept.lock().expect("no panic").contains(&Duration::from_secs(5)));
    world.take_log();
    for (host, pages, seconds) in [("stubborn", 2, 1..=5), ("long", 1, 7190..=7200), ("date", 1, 7100..=7200)] {
        let visit = asker.visit(&format!("http://{host}.example/"), false).await;
        assert_eq!(visit.outcome.as_str(), "later");
        let pause = visit.pause.expect("a pause").as_secs();
        assert!(seconds.contains(&pause), "{host}: {pause}");
        assert_eq!(asker.visit(&format!("http://{host}.example/other"), false).await.outcome.as_str(), "later");
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
    let check = LinkCheck::new(&report, LinkCache::default(), &world.clock, false).expect("few links");
    check.ask(world.client(), &world.clock, World::user_agent(), world.timeout, || ()).await.expect("online");
    let (_, total, of_host) = &*crowd.now.lock().expect("no panic");
    assert_eq!((*total, *of_host), (8, 1));
    assert_eq!(world.take_log().len(), 20 * 3);
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a certificate")
}

#[tokio::test]
async fn certificate_faults_are_reported() {
    let (trusted, other) = (authority("trusted"), authority("other"));
    let mut world = World::new(
        &["plain.example"],
        pages(|asked| match &*asked.path {
            "/expired" => to(301, "https://expired.example/"),
            _ => status(200),
        }),
    );
    world.roots.add(trusted.der().clone()).expect("a certificate");
    let key = KeyPair::generate().expect("a key");
    let serve = |host: &str, ip: &str, name: &str, years: [i32; 2], issuer: &CertifiedIssuer<'_, KeyPair>| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.not_before = date_time_ymd(years[0], 1, 1);
        params.not_after = date_time_ymd(years[1], 1, 1);
        world.serve_tls(host, ip, &params.signed_by(&key, issuer).expect("a certificate"), &key);
    };
    let valid = [2000, 3000];
    serve("valid.example", "93.184.216.1", "valid.example", valid, &trusted);
    serve("expired.example", "93.184.216.2", "expired.example", [2000, 2001], &trusted);
    serve("early.example", "93.184.216.3", "early.example", [2999, 3000], &trusted);
    serve("other.example", "93.184.216.4", "valid.example", valid, &trusted);
    serve("unknown.example", "93.184.216.5", "unknown.example", valid, &other);
    for (host, outcome) in [
        ("valid", "fine"),
        ("expired", "certificate_expired"),
        ("early", "certificate_not_yet_valid"),
        ("other", "certificate_of_other_host"),
        ("unknown", "certificate_unknown_issuer"),
        ("plain", "tls_failed"),
    ] {
        assert_eq!(world.outcome(&format!("https://{host}.example/")).await, (outcome, None), "{host}");
    }
    let expired = ("certificate_expired", Some("https://expired.example/".to_owned()));
    assert_eq!(world.outcome("http://plain.example/expired").await, expired);
}
