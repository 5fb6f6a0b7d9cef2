//! The service under test with its own key, and its responses.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use software_directory::http::{self, AppState, HttpConfig};
use software_directory::key::file::{self, NewKey};
use software_directory::key::{KeyStore, Rate};
use software_directory::update::Directory;
use tempfile::TempDir;
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;

use crate::api::fixture;

/// What browsers send in `Accept`.
pub(crate) const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

/// A service and a key for it.
pub(crate) struct Service {
    pub(crate) app: BoxCloneSyncService<Request, Response, Infallible>,
    /// The service on the metrics listener.
    pub(crate) metrics: Router,
    pub(crate) directory: Arc<Directory>,
    pub(crate) keys: Arc<KeyStore>,
    pub(crate) key: String,
    folder: TempDir,
}

/// How a service under test differs from the default.
pub(crate) struct Setup {
    pub(crate) directory: Arc<Directory>,
    pub(crate) config: HttpConfig,
    /// Requests per minute.
    pub(crate) rate: u64,
    pub(crate) origins: &'static [&'static str],
    pub(crate) expires: Option<&'static str>,
    /// Additional routes.
    pub(crate) routes: Router<Arc<AppState>>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            directory: Arc::default(),
            config: HttpConfig::default(),
            rate: 100_000,
            origins: &[],
            expires: None,
            routes: Router::new(),
        }
    }
}

impl Setup {
    pub(crate) fn start(self) -> Service {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.json");
        let new = NewKey {
            name: "tests".to_owned(),
            expires: self.expires.map(|date| date.parse().expect("a date")),
            rate: Rate::new(self.rate).expect("a rate"),
            origins: self.origins.iter().map(|origin| origin.parse().expect("an origin")).collect(),
        };
        let (key, _) = file::create(&path, new, Timestamp::now(), |_| Ok(())).expect("a key");
        let keys = Arc::new(KeyStore::open(&path).expect("a key file"));
        let state =
            AppState::new(Arc::clone(&self.directory), None, Arc::clone(&keys), self.config).expect("the state");
        let metrics = http::metrics_service(Arc::clone(&state));
        let app = BoxCloneSyncService::new(http::service_with(state, self.routes));
        Service { app, metrics, directory: self.directory, keys, key: key.expose().to_owned(), folder }
    }
}

impl Service {
    /// A service that has nothing to serve yet.
    pub(crate) fn empty() -> Self {
        Setup::default().start()
    }

    /// A service with the small directory.
    pub(crate) fn with_directory() -> Self {
        Setup { directory: fixture::directory(), ..Setup::default() }.start()
    }

    /// The key file.
    pub(crate) fn key_file(&self) -> std::path::PathBuf {
        self.folder.path().join("keys.json")
    }

    /// Sends `GET` with the key.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[("authorization", &self.bearer())]).await
    }

    /// Sends `GET` with the key and other headers.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let bearer = self.bearer();
        let headers: Vec<_> = headers.iter().copied().chain([("authorization", bearer.as_str())]).collect();
        self.send(Method::GET, path, &headers).await
    }

    /// Signs in and returns the session cookie.
    pub(crate) async fn session(&self) -> String {
        let form = format!("key={}", self.key);
        let answer = self.post("/sign-in", &form, &[]).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        answer.header("set-cookie").split(';').next().expect("a cookie").to_owned()
    }

    /// Sends a form.
    pub(crate) async fn post(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::post(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.call(request.body(Body::from(form.to_owned())).expect("a request")).await
    }

    /// Visits a page with a session.
    pub(crate) async fn visit(&self, path: &str) -> Answer {
        self.visit_with(path, &[]).await
    }

    /// Visits a page with a session and other headers.
    pub(crate) async fn visit_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let cookie = self.session().await;
        let headers: Vec<_> = headers.iter().copied().chain([("cookie", cookie.as_str()), BROWSER]).collect();
        self.send(Method::GET, path, &headers).await
    }

    /// Sends a request with only these headers.
    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send_from(None, method, path, headers).await
    }

    /// Sends a request from this peer address.
    pub(crate) async fn send_from(
        &self,
        peer: Option<SocketAddr>,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(peer) = peer {
            request = request.extension(ConnectInfo(peer));
        }
        self.call(request.body(Body::empty()).expect("a request")).await
    }

    /// Sends any request.
    pub(crate) async fn call(&self, request: Request) -> Answer {
        let Ok(response) = self.app.clone().oneshot(request).await;
        Answer::read(response).await
    }

    /// Sends a request to the metrics listener.
    pub(crate) async fn send_to_metrics(&self, method: Method, path: &str) -> Answer {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).expect("a request");
        let Ok(response) = self.metrics.clone().oneshot(request).await;
        Answer::read(response).await
    }

    /// The value of `Authorization`.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.key)
    }
}

/// A response that has been read completely.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    async fn read(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Self { status: parts.status, headers: parts.headers, body }
    }

    /// A header, or an empty string if it's missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The status and error code, after checking that this is a well-formed problem document.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let problem = self.json();
        let text = |name: &str| problem[name].as_str().unwrap_or_else(|| panic!("no {name}: {problem}")).to_owned();
        let code = text("code");
        assert_eq!(problem["status"], self.status.as_u16());
        assert!(text("type").ends_with(&format!("/docs/errors#{code}")), "{problem}");
        assert_eq!(text("request_id"), self.header("x-request-id"));
        assert!(!text("title").is_empty() && !text("detail").is_empty());
        let retry_after = problem["retry_after_seconds"].as_u64().map(|seconds| seconds.to_string());
        assert_eq!(retry_after.unwrap_or_default(), self.header("retry-after"));
        (self.status.as_u16(), code)
    }
}
