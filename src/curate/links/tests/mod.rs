mod hostile;
mod polite;
mod record;
mod tls;
mod world;

use std::time::Duration;

use super::ask::{Asker, moved};
use super::outcome::Visit;
use fluent_uri::Uri;
use world::{Asked, Reply, World, status, to};

impl World {
    async fn visit(&self, url: &str) -> Visit {
        Asker::new(self.client(), &self.clock, Self::user_agent(), self.timeout).visit(url).await
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
