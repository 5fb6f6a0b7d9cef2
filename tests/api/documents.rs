//! Documents that don't need a key.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use software_directory::http::problem::ErrorCode;
use software_directory::http::{HttpConfig, PublicUrl};
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{BROWSER, Service, Setup};

#[tokio::test]
async fn documents_need_no_key_and_are_cached_by_tag() {
    let service = Service::empty();
    for (path, content_type, contains) in [
        ("/docs", "text/html; charset=utf-8", "/openapi.json"),
        ("/docs/errors", "text/html; charset=utf-8", "rate_limited"),
        ("/docs/errors/", "text/html; charset=utf-8", "rate_limited"),
        ("/openapi.json", "application/json", "\"openapi\": \"3.1.0\""),
        ("/schemas/export.json", "application/schema+json", software_directory::export::schema()),
    ] {
        let answer = service.send(Method::GET, path, &[]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), content_type);
        assert!(answer.text().contains(contains), "{path}");
        let again = service.send(Method::GET, path, &[("if-none-match", answer.header("etag"))]).await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
        assert!(!again.headers.contains_key("content-length"), "{path}: a 304 has no body, not even an empty one");
    }
}

#[tokio::test]
async fn the_example_shows_the_response_to_its_own_request() {
    let service = Service::with_directory();
    let page = service.visit("/docs").await;
    let text = page.text().replace("&#38;", "&").replace("&amp;", "&").replace("&quot;", "\"").replace("&#34;", "\"");
    let (_, command) = text.split_once("</span>/v1/search?").expect("a request");
    let (query, rest) = command.split_once('\'').expect("its end");
    let (_, response) = rest.split_once("The response\"><code>").expect("a response");
    let shown: Value = serde_json::from_str(response.split_once("</code>").expect("its end").0).expect("JSON");
    let sent = service.get(&format!("/v1/search?{query}")).await.json();
    assert_eq!(shown, sent);
    assert!(sent["pagination"]["total"].as_u64() > Some(0), "{query}");
    let closed = service.send(Method::GET, "/docs", &[]).await;
    assert!(closed.text().contains("/v1/search?q=hedgehg+incidents&amp;"), "the recorded search: {}", closed.text());
}

#[tokio::test]
async fn every_error_code_has_its_own_section() {
    let page = Service::empty().send(Method::GET, "/docs/errors", &[]).await;
    for code in ErrorCode::ALL {
        assert!(page.text().contains(&format!("<section id=\"{}\">", code.as_str())), "{code:?}");
        assert!(!code.cause().is_empty() && !code.cure().is_empty(), "{code:?}");
    }
}

#[tokio::test]
async fn a_public_url_makes_links_absolute() {
    let public_url = Some(PublicUrl::parse("https://example.org/directory").expect("an address"));
    let config = HttpConfig { public_url, ..HttpConfig::default() };
    let service = Setup { config, ..Setup::default() }.start();
    let document = service.send(Method::GET, "/openapi.json", &[]).await.json();
    assert_eq!(document["servers"][0]["url"], "https://example.org/directory");
    let problem = service.send(Method::GET, "/nowhere", &[]).await.json();
    assert_eq!(problem["type"], "https://example.org/directory/docs/errors#route_not_found");
    let docs = service.send(Method::GET, "/docs", &[]).await;
    assert!(docs.text().contains("href=\"/directory/openapi.json\""));
}

#[tokio::test]
async fn nothing_can_be_read_under_another_host_name_without_a_key() {
    let public_url = Some(PublicUrl::parse("https://example.org/directory").expect("an address"));
    let config = HttpConfig { public_url, ..HttpConfig::default() };
    let service = Setup { config, ..Setup::default() }.start();
    let without = Setup::default().start();
    for path in ["/", "/openapi.json", "/feed.atom", "/feed.json", "/nowhere", "/mcp"] {
        let get = async |service: &Service, host| service.send(Method::GET, path, &[("host", host)]).await;
        let foreign = get(&service, "rebound.example:8080").await;
        assert_eq!(foreign.problem(), (403, "host_not_allowed".to_owned()), "{path}");
        for own in ["example.org", "localhost:8080", "127.0.0.1", "[::1]:8080"] {
            assert_ne!(get(&service, own).await.status, 403, "{path} at {own}");
        }
        assert_ne!(get(&without, "rebound.example:8080").await.status, 403, "{path} without a public address");
    }
    for path in ["/healthz", "/readyz"] {
        assert_ne!(service.send(Method::GET, path, &[("host", "pod.internal")]).await.status, 403, "{path}");
    }
    let without_key = service.send(Method::GET, "/v1/software", &[("host", "rebound.example:8080")]).await;
    assert_eq!(without_key.problem(), (401, "missing_api_key".to_owned()), "a key comes first");
    let with_key = service.get_with("/v1/categories", &[("host", "directory.internal")]).await;
    assert_ne!(with_key.status, 403, "a program with a key may use an internal host name");
}

#[tokio::test]
async fn for_a_wrong_url_browsers_get_a_page_and_programs_a_problem() {
    let public_url = Some(PublicUrl::parse("https://example.org/directory").expect("an address"));
    let config = HttpConfig { public_url, site_title: "A & B <i>".to_owned(), ..HttpConfig::default() };
    let service = Setup { config, ..Setup::default() }.start();
    for path in ["/no/such/page", "/nowhere/", "/v1x"] {
        let page = service.send(Method::GET, path, &[BROWSER, ("if-none-match", "*")]).await;
        assert_eq!((page.status.as_u16(), page.header("content-type")), (404, "text/html; charset=utf-8"), "{path}");
        assert!(page.text().contains("<title>Page not found · A &amp; B &lt;i&gt;</title>"), "{}", page.text());
        assert!(page.text().contains("href=\"/directory/\"") && !page.text().contains("{{"), "{}", page.text());
        assert!(page.header("content-security-policy").contains("default-src 'none'"));
        assert_eq!(page.header("etag"), "");
        assert!(!page.header("x-request-id").is_empty());
        let problem = service.send(Method::GET, path, &[("accept", "*/*")]).await;
        assert_eq!(problem.problem(), (404, "route_not_found".to_owned()));
        for answer in [page, problem] {
            let vary: Vec<_> =
                answer.headers.get_all("vary").iter().map(|value| value.to_str().expect("ASCII")).collect();
            assert!(vary.join(", ").split(", ").any(|name| name == "Accept"), "{vary:?}");
        }
    }
    let bearer = service.bearer();
    for path in ["/v1", "/v1/nowhere", "/v1/software/nowhere"] {
        let answer = service.send(Method::GET, path, &[BROWSER, ("authorization", &bearer)]).await;
        assert_ne!(answer.problem().1, "", "{path}");
        assert!(!answer.header("vary").split(", ").any(|name| name == "Accept"), "{path}");
    }
}

#[tokio::test]
async fn title_and_introduction_are_plain_text_on_every_page() {
    let config = HttpConfig {
        site_title: "Tools & <b>\"more\"</b> {{base}}".to_owned(),
        site_introduction: Some("What we use, <script>, {{site}}".to_owned()),
        ..HttpConfig::default()
    };
    let service = Setup { config, ..Setup::default() }.start();
    service.directory.publish(fixture::snapshot(&[("extra", &fixture::extra_document())]));
    let title = "Tools &amp; &lt;b&gt;&quot;more&quot;&lt;/b&gt; {{base}}";
    for (path, window) in
        [("/", ""), ("/glossary", "Glossary · "), ("/docs", "Getting started · "), ("/docs/errors", "Errors · ")]
    {
        let page = service.visit(path).await;
        assert!(page.text().contains(&format!("<title>{window}{title}</title>")), "{path}: {}", page.text());
        assert!(page.text().contains(&format!("<bdi>{title}</bdi>")), "{path}: the header");
        assert!(!page.text().contains("Software Directory"), "{path}");
    }
    let page = service.visit("/").await;
    let introduction = "What we use, &lt;script&gt;, {{site}}";
    for part in
        [format!("<meta name=\"description\" content=\"{introduction}\">"), format!("<bdi>{introduction}</bdi>")]
    {
        assert!(page.text().contains(&part), "{}", page.text());
    }
    assert!(service.send(Method::GET, "/llms.txt", &[]).await.text().starts_with("# Tools & <b>"));
    let usual = Service::with_directory().visit("/").await;
    assert!(usual.text().contains("<title>Software Directory</title>"));
    assert!(usual.text().contains("content=\"Find software, compare products"), "{}", usual.text());
}

#[tokio::test]
async fn long_documents_are_compressed_as_the_caller_prefers() {
    let service = Service::empty();
    let plain = service.send(Method::GET, "/openapi.json", &[]).await;
    for encoding in ["gzip", "zstd"] {
        let answer = service.send(Method::GET, "/openapi.json", &[("accept-encoding", encoding)]).await;
        assert_eq!(answer.header("content-encoding"), encoding);
        assert!(answer.header("vary").to_lowercase().contains("accept-encoding"), "{encoding}");
        assert!(answer.body.len() < plain.body.len() / 4, "{encoding}: {} bytes", answer.body.len());
    }
    let zstd = service.send(Method::GET, "/openapi.json", &[("accept-encoding", "zstd")]).await;
    assert_eq!(zstd::decode_all(&zstd.body[..]).expect("zstd"), plain.body);
    for refused in ["identity", "identity;q=0", "*;q=0"] {
        let answer = service.send(Method::GET, "/openapi.json", &[("accept-encoding", refused)]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, ""), "{refused}");
        assert!(answer.header("vary").to_lowercase().contains("accept-encoding"), "{refused}");
    }
    let short = service.send(Method::GET, "/healthz", &[("accept-encoding", "gzip")]).await;
    assert_eq!(short.header("content-encoding"), "");
}

#[tokio::test]
async fn compressed_document_has_one_coding_a_length_and_a_tag() {
    let service = Service::empty();
    let accepted = [("accept-encoding", "gzip")];
    let answer = service.send(Method::GET, "/docs", &accepted).await;
    assert_eq!(answer.headers.get_all("content-encoding").iter().collect::<Vec<_>>(), ["gzip"]);
    assert_eq!(answer.header("content-length"), answer.body.len().to_string());
    let head = service.send(Method::HEAD, "/docs", &accepted).await;
    assert_eq!((head.header("content-length"), head.body.len()), (answer.header("content-length"), 0));
    let tagged = [accepted[0], ("if-none-match", answer.header("etag"))];
    let again = service.send(Method::GET, "/docs", &tagged).await;
    assert_eq!((again.status.as_u16(), again.header("content-encoding")), (304, ""));
}

/// The API's bodies are compressed on the threads that serve connections.
#[tokio::test]
async fn large_api_body_is_not_compressed() {
    let record = |id: &str, bytes: usize| {
        json!({
            "id": id, "name": id, "url": "https://a.example/", "evidence_status": "pending-review",
            "description": "word ".repeat(bytes / 5)
        })
    };
    let document = json!({
        "name": "Texts", "license": "https://example.org/",
        "software": [record("moderate", 100 * 1024), record("large", 200 * 1024)]
    });
    let directory = Arc::new(Directory::default());
    directory.publish(fixture::snapshot(&[("texts", &document.to_string())]));
    let service = Setup { directory, ..Setup::default() }.start();
    for (id, coding) in [("moderate", "gzip"), ("large", "")] {
        let answer = service.get_with(&format!("/v1/software/{id}"), &[("accept-encoding", "gzip")]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, coding), "{id}");
    }
}
