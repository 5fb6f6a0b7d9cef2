//! `software-directory preview`: what its pages and responses show about a candidate.

use std::fs;
use std::path::Path;

use http::{HeaderMap, HeaderValue, Request};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::process::{Server, export, folder_with, run, text};
use crate::common::request::send;
use crate::common::until::until;

/// A folder with published products and a candidate.
fn folder(published: &[&str], candidate: &str) -> TempDir {
    let folder = folder_with(published);
    fs::create_dir(folder.path().join("next")).expect("a folder");
    replace(folder.path(), "next", candidate);
    folder
}

fn replace(folder: &Path, set: &str, text: &str) {
    fs::write(folder.join(set).join(".next"), text).expect("written");
    fs::rename(folder.join(set).join(".next"), folder.join(set).join("tools.json")).expect("renamed");
}

/// A response's status, headers and body, with a session if there's a cookie.
fn get(server: &Server, path: &str, cookie: Option<&str>) -> (u16, HeaderMap, String) {
    let mut request = Request::get(format!("{}{path}", server.address)).header("Accept", "text/html");
    if let Some(cookie) = cookie {
        request = request.header("Cookie", cookie);
    }
    let response = send(request, "").expect("a response");
    (response.status().as_u16(), response.headers().clone(), response.into_body())
}

/// Signs in and returns the session's cookie.
fn session(server: &Server) -> String {
    let request = Request::post(format!("{}/sign-in", server.address));
    let response = send(request, &format!("key={}", server.key())).expect("a response");
    let cookie = response.headers()["set-cookie"].to_str().expect("ASCII");
    cookie.split(';').next().expect("a cookie").to_owned()
}

/// Waits until the status describes the current files and contains this message. Returns the
/// status.
fn status(server: &Server, message: &str) -> Value {
    let cookie = session(server);
    until(message, || {
        let (code, _, body) = get(server, "/preview/status", Some(&cookie));
        let status: Value = serde_json::from_str(&body).expect("JSON");
        let is_it = status["message"].as_str().is_some_and(|text| text.contains(message));
        (code == 200 && status["is_busy"] == false && is_it).then_some(status)
    })
}

fn report(server: &Server) -> String {
    get(server, "/preview", Some(&session(server))).2
}

#[test]
fn a_candidate_is_marked_as_a_preview_and_compared() {
    let next = export(&["b", "c"]).replace("Tool c", "Tool <c>");
    let folder = folder(&["a", "b"], &next);
    let server = Server::start(folder.path(), &["preview", "next"]);
    let first = status(&server, "1 product added, 1 removed, 0 changed; in tools.");
    assert_eq!(first["has_problem"], false);
    assert_eq!(server.get("/v1/software").1["pagination"]["total"], 2);
    let report = report(&server);
    assert!(report.contains("Changes from <bdi>data</bdi> to <bdi>next</bdi>"), "{report}");
    assert!(report.contains("Tool &lt;c&gt;") && !report.contains("<c>"), "{report}");
    let cookie = session(&server);
    for path in ["/", "/categories", "/docs", "/preview", "/healthz", "/preview/status"] {
        let (code, headers, body) = get(&server, path, Some(&cookie));
        assert_eq!((code, headers.get("x-preview").map(HeaderValue::as_bytes)), (200, Some(&b"true"[..])), "{path}");
        let is_page = headers["content-type"].as_bytes().starts_with(b"text/html");
        assert_eq!(
            body.contains("<strong>Preview</strong> <span>of <bdi>next</bdi>, not published"),
            is_page,
            "{path}"
        );
    }
    replace(folder.path(), "data", &next);
    let published = status(&server, "Nothing changed.");
    assert_ne!(published["version"], first["version"], "the page is reloaded");
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(!folder.path().join("index").exists(), "a preview shouldn't write anything");
}

#[test]
fn preview_needs_its_key_and_serves_only_this_machine() {
    let folder = folder(&["a"], &export(&["b"]));
    fs::write(folder.path().join("keys.json"), "not a key file").expect("written");
    let server = Server::start(folder.path(), &["preview", "next"]);
    for (path, refused) in [("/preview", 303), ("/preview/status", 401), ("/v1/software", 401), ("/software/b", 303)] {
        let (code, _, body) = get(&server, path, None);
        assert_eq!(code, refused, "{path}");
        assert!(!body.contains("Tool b"), "{body}");
    }
    let output = run(folder.path(), &["preview", "next", "--listen", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("other machines could reach it"), "{output:?}");
}

#[test]
fn preview_waits_for_a_candidate_that_was_never_valid() {
    let folder = folder(&["a"], "{");
    let server = Server::start(folder.path(), &["preview", "next"]);
    let first = status(&server, "1 error: there has been no valid state yet.");
    assert_eq!(first["has_problem"], true);
    let cookie = session(&server);
    let (code, _, page) = get(&server, "/categories", Some(&cookie));
    assert_eq!(code, 503);
    assert!(page.contains("id=\"preview-report\""), "{page}");
    let shown = report(&server);
    assert!(shown.contains("next/tools.json:1:"), "{shown}");
    replace(folder.path(), "next", &export(&["a", "b"]));
    status(&server, "1 product added, 0 removed, 0 changed");
    assert_eq!(get(&server, "/categories", Some(&cookie)).0, 200);
    fs::remove_file(folder.path().join("next/tools.json")).expect("removed");
    status(&server, "The candidate can’t be served: still showing the last valid state.");
    assert!(!report(&server).contains("next/tools.json:1:"), "the findings should reflect the current state");
}

#[test]
fn the_last_valid_state_stays_visible_next_to_the_errors() {
    // The valid state also has a warning.
    let valid =
        export(&["a", "b"]).replace("\"id\": \"b\",", "\"id\": \"b\", \"evidence_checked_on\": \"2999-01-01\",");
    let folder = folder(&["a"], &valid);
    let server = Server::start(folder.path(), &["preview", "next"]);
    let first = status(&server, "1 product added");
    assert!(report(&server).contains("<h2>1 warning</h2>"));
    replace(folder.path(), "next", &export(&["a", "b", "c"]).replace("https://c.example/", "<nowhere>"));
    let broken = status(&server, "1 error: still showing the last valid state.");
    assert_ne!(broken["version"], first["version"]);
    assert_eq!(server.get("/v1/software").1["pagination"]["total"], 2);
    let report = report(&server);
    assert!(report.contains("&lt;nowhere&gt;") && !report.contains("<nowhere>"), "{report}");
    assert!(report.contains("Added: </span>"), "the valid state's changes: {report}");
    replace(folder.path(), "next", &valid);
    assert_eq!(status(&server, "1 product added")["version"], first["version"], "that state has returned");
    assert!(!self::report(&server).contains("nowhere"), "the earlier findings should be gone");
}

#[test]
fn valid_records_of_a_candidate_are_shown_if_requested() {
    let folder = folder(&["a"], &export(&["a", "b", "c"]).replace("https://c.example/", "nowhere"));
    let server = Server::start(folder.path(), &["preview", "next", "--skip-invalid", "--id-prefix", "tools=t:"]);
    let shown = status(&server, "1 error: showing only the valid records.");
    assert_eq!(shown["has_problem"], true);
    let ids = server.get("/v1/software").1;
    assert_eq!((&ids["data"][0]["id"], &ids["pagination"]["total"]), (&"t:a".into(), &2.into()));
    let report = report(&server);
    assert!(report.contains("1 product added, 0 removed, 0 changed"), "the prefix applies to both sides: {report}");
}

#[test]
fn published_exports_that_cannot_be_read_are_named() {
    let folder = folder(&["a"], &export(&["a"]));
    let server = Server::start(folder.path(), &["preview", "next", "--against", "gone"]);
    status(&server, "gone doesn't exist; specify an export file");
    assert_eq!(server.get("/v1/software").1["pagination"]["total"], 1);
    for (candidate, cause) in
        [("nowhere", "the candidate nowhere can't be read"), ("keys.txt", "keys.txt is not a folder")]
    {
        fs::write(folder.path().join("keys.txt"), "").expect("written");
        let output = run(folder.path(), &["preview", candidate]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(cause), "{output:?}");
    }
}
