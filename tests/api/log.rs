//! What the log contains, and what it never contains.

use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::Method;
use axum::routing::get;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use software_directory::http::HttpConfig;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

/// This thread's log, kept in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn at(filter: &str) -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_env_filter(filter).with_writer(log.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("the log").clone()).expect("UTF-8")
    }
}

impl io::Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("the log").extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn a_request_is_logged_without_its_key_or_query() {
    let service = Service::with_directory();
    let (log, _guard) = Log::at("software_directory=debug");
    service.get_with("/v1/search?q=embarrassing", &[("x-request-id", "seen-1")]).await;
    let text = log.text();
    for expected in ["seen-1", "/v1/search", "status=200", "GET"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("embarrassing"), "{text}");
    let secret = service.key.rsplit('_').next().expect("a secret");
    assert!(!text.contains(secret), "{text}");
}

#[tokio::test]
async fn a_request_is_logged_with_the_size_of_its_body_as_sent() {
    let service = Service::with_directory();
    let (log, _guard) = Log::at("software_directory=debug");
    let plain = service.get("/v1/software").await;
    let coded = service.get_with("/v1/software", &[("accept-encoding", "gzip")]).await;
    assert_eq!(coded.header("content-encoding"), "gzip");
    let text = log.text();
    let logged: Vec<_> = text.lines().filter_map(|line| line.split_once("bytes=")?.1.split(' ').next()).collect();
    assert_eq!(logged, [plain.body.len().to_string(), coded.body.len().to_string()], "{text}");
}

#[tokio::test]
async fn queries_are_logged_only_on_request_and_keys_never() {
    for log_queries in [false, true] {
        let config = HttpConfig { log_queries, ..HttpConfig::default() };
        let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
        let (log, _guard) = Log::at("trace");
        service.get("/v1/search?q=embarrassing").await;
        service.send(Method::GET, "/v1/search", &[("authorization", "Bearer sd_live_wrong_secretive")]).await;
        let key = &service.key;
        for path in [
            format!("/v1/software/{key}"),
            format!("/{key}"),
            format!("/v1/search?q={key}"),
            format!("/v1/search?{key}=1"),
            format!("/v1/software?api_key={key}"),
            format!("/v1/software/{}", key.replace('_', "%5F")),
            format!("/v1/search?q={}", key.replace('_', "%5f")),
            format!("/v1/search?{}=1", key.replace('_', "%5f")),
        ] {
            let answer = service.get(&path).await;
            let secret = key.rsplit('_').next().expect("a secret");
            assert!(answer.status == 200 || !answer.text().contains(secret), "{answer:?}");
        }
        service.get(&format!("/v1/software/{}", key.replace('_', "%255F"))).await;
        service.get_with("/v1/software", &[("x-request-id", key), ("origin", key)]).await;
        service.send(Method::from_bytes(key.as_bytes()).expect("a token"), "/v1/software", &[]).await;
        let text = log.text();
        assert_eq!(text.contains("embarrassing"), log_queries, "{text}");
        let secret = key.rsplit('_').next().expect("a secret");
        assert!(!text.contains(secret) && !text.contains("secretive"), "{text}");
    }
}

#[tokio::test]
async fn a_failure_is_logged_once_and_a_callers_mistake_is_not_logged() {
    let routes = Router::new().route("/panic", get(async || -> &'static str { panic!("out of paper") }));
    let service = Setup { routes, ..Setup::default() }.start();
    let (log, _guard) = Log::at("software_directory::http::access=off,info");
    service.send(Method::GET, "/panic", &[("x-request-id", "p-1")]).await;
    service.send(Method::GET, "/nowhere", &[]).await;
    service.get("/v1/software?limit=0").await;
    let text = log.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("ERROR") && text.contains("p-1") && text.contains("out of paper"), "{text}");
}
