//! `/v1/exports` and the downloads.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use software_directory::http::HttpConfig;
use software_directory::update::Directory;
use tower::ServiceExt as _;

use crate::api::fixture;
use crate::api::service::{Service, Setup};

#[tokio::test]
async fn exports_are_listed_with_licence_and_counts() {
    let answer = Service::with_directory().get("/v1/exports").await.json();
    assert_eq!(answer["pagination"]["total"], 2);
    let tools = &answer["data"][1];
    assert_eq!((tools["id"].as_str(), tools["software_count"].as_u64()), (Some("tools"), Some(fixture::PRODUCTS - 1)));
    assert_eq!(tools["license"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(tools["size_bytes"], fixture::tools_document().len());
}

#[tokio::test]
async fn an_export_comes_back_byte_for_byte() {
    let service = Service::with_directory();
    for path in ["/v1/exports/tools", "/v1/exports/tools?format=json", "/v1/exports/tools/"] {
        let answer = service.get(path).await;
        assert_eq!(answer.text(), fixture::tools_document(), "{path}");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("link"), "<https://creativecommons.org/licenses/by/4.0/>; rel=\"license\"");
    }
}

#[tokio::test]
async fn download_is_sent_as_stored_or_decompressed_but_never_compressed_for_a_request() {
    let service = Service::with_directory();
    let document = fixture::tools_document();
    for accepted in ["zstd", "gzip, br, zstd", "*"] {
        let answer = service.get_with("/v1/exports/tools", &[("accept-encoding", accepted)]).await;
        assert_eq!(answer.header("content-encoding"), "zstd", "{accepted}");
        assert_eq!(answer.header("content-length"), answer.body.len().to_string());
        assert_eq!(zstd::decode_all(&answer.body[..]).expect("zstd"), document.as_bytes());
    }
    for accepted in ["br", "gzip, deflate", "identity", "zstd;q=0, gzip"] {
        let answer = service.get_with("/v1/exports/tools", &[("accept-encoding", accepted)]).await;
        assert_eq!((answer.header("content-encoding"), answer.text()), ("", document.as_str()), "{accepted}");
        assert_eq!(answer.header("content-length"), document.len().to_string());
        assert_eq!(answer.header("vary"), "Authorization, Accept-Encoding, Origin");
    }
    let lines = service.get_with("/v1/exports/tools?format=ndjson", &[("accept-encoding", "zstd, br")]).await;
    assert_eq!(lines.header("content-encoding"), "");
}

/// A service with an export of slightly more than three MiB.
fn large(config: HttpConfig, rate: u64) -> (Service, String) {
    let record = |number: usize| {
        json!({
            "id": format!("large-{number}"), "name": format!("Large {number}"), "url": "https://large.example/",
            "evidence_status": "pending-review", "appendix": [number.to_string().repeat(1 << 19), number.to_string().repeat(1 << 19)]
        })
    };
    let software: Vec<_> = (0..3).map(record).collect();
    let document = json!({"name": "Large", "license": "https://example.org/", "software": software}).to_string();
    let directory = Arc::new(Directory::default());
    directory.publish(fixture::snapshot(&[("large", &document)]));
    (Setup { directory, config, rate, ..Setup::default() }.start(), document)
}

/// How much of the quota is left.
fn remaining(header: &str) -> &str {
    header.split(';').find_map(|part| part.strip_prefix("r=")).expect("a number")
}

#[tokio::test]
async fn each_mib_or_part_of_a_mib_counts_as_a_request() {
    let (service, document) = large(HttpConfig::default(), 10);
    let head = service.send(Method::HEAD, "/v1/exports/large", &[("authorization", &service.bearer())]).await;
    assert_eq!((remaining(head.header("ratelimit")), head.body.len()), ("9", 0));
    assert_eq!(head.header("content-length"), document.len().to_string());
    let answer = service.get("/v1/exports/large").await;
    assert_eq!((remaining(answer.header("ratelimit")), answer.text() == document), ("5", true));
    let unchanged = service.get_with("/v1/exports/large", &[("if-none-match", answer.header("etag"))]).await;
    assert_eq!((unchanged.status.as_u16(), remaining(unchanged.header("ratelimit"))), (304, "5"));
    let unchanged = service.get_with("/v1/exports/large", &[("if-none-match", "*")]).await;
    assert_eq!((unchanged.status.as_u16(), remaining(unchanged.header("ratelimit"))), (304, "4"));
    let lines = service.get("/v1/exports/large?format=ndjson").await;
    assert_eq!((remaining(lines.header("ratelimit")), lines.text().lines().count()), ("0", 3));
}

#[tokio::test]
async fn download_larger_than_the_quota_is_sent_and_paid_off_afterwards() {
    let (service, document) = large(HttpConfig::default(), 1);
    let answer = service.get("/v1/exports/large").await;
    assert_eq!((answer.status.as_u16(), answer.text() == document), (200, true));
    let refused = service.get("/v1/exports/large").await;
    assert_eq!(refused.problem(), (429, "rate_limited".to_owned()));
    // At one request per minute, the next download is allowed after four minutes.
    let wait = refused.json()["retry_after_seconds"].as_u64().expect("seconds");
    assert!((230..=240).contains(&wait), "{wait}");
}

#[tokio::test]
async fn downloads_over_the_limits_are_refused_until_one_ends() {
    let begin = async |service: &Service| {
        let request = Request::get("/v1/exports/large").header("host", "x").header("authorization", service.bearer());
        let Ok(response) = service.app.clone().oneshot(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(response.status(), 200);
        response.into_body()
    };
    for (max, per_key, status, code) in [(1, 4, 503, "overloaded"), (32, 1, 429, "rate_limited")] {
        let config = HttpConfig { max_downloads: max, max_downloads_per_key: per_key, ..HttpConfig::default() };
        let (service, document) = large(config, 20);
        let mut slow = begin(&service).await;
        let first = slow.frame().await.expect("a frame").expect("a block").into_data().expect("data");
        assert!(first.len() < document.len());
        for path in ["/v1/exports/large", "/v1/exports/large?format=ndjson"] {
            let refused = service.get(path).await;
            assert_eq!(refused.problem(), (status, code.to_owned()), "{path}");
            assert_eq!(refused.header("retry-after"), "5");
            assert_eq!(remaining(refused.header("ratelimit")), "16", "a refused download costs nothing");
        }
        assert_eq!(service.get("/v1/exports").await.status, 200);
        let rest = slow.collect().await.expect("whole").to_bytes();
        assert_eq!(first.len() + rest.len(), document.len());
        let second = begin(&service).await;
        assert_eq!(service.get("/v1/exports/large").await.status, status);
        drop(second);
        assert_eq!(service.get("/v1/exports/large").await.status, 200);
    }
}

#[tokio::test]
async fn export_has_its_hash_and_modification_time() {
    let service = Service::with_directory();
    let listed = service.get("/v1/exports").await.json();
    let tools = &listed["data"][1];
    assert_eq!(tools["sha256"], hex::encode(Sha256::digest(fixture::tools_document())));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tools.json");
    std::fs::write(&path, fixture::tools_document()).expect("written");
    let second = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_900);
    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(second)).expect("a time");
    let directory = Directory::default();
    directory.publish(fixture::snapshot_of(folder.path()));
    let service = Setup { directory: Arc::new(directory), ..Setup::default() }.start();
    assert_eq!(service.get("/v1/exports").await.json()["data"][0]["changed_at"], "2023-11-14T22:13:20Z");
}

#[tokio::test]
async fn export_that_is_not_a_file_has_no_modification_time() {
    let listed = Service::with_directory().get("/v1/exports").await.json();
    assert_eq!(listed["data"][1]["changed_at"], json!(null));
}

#[tokio::test]
async fn interrupted_download_resumes_where_it_stopped() {
    let service = Service::with_directory();
    let document = fixture::tools_document().into_bytes();
    for coding in ["identity", "zstd"] {
        let whole = service.get_with("/v1/exports/tools", &[("accept-encoding", coding)]).await;
        assert_eq!(whole.header("accept-ranges"), "bytes");
        let (tag, length) = (whole.header("etag").to_owned(), whole.body.len());
        assert!(tag.starts_with('"'), "strong, as its bytes are always the same: {tag}");
        let mut joined = Vec::new();
        for (range, content_range) in [
            ("bytes=0-99".to_owned(), format!("bytes 0-99/{length}")),
            (format!("bytes=100-{}", length - 51), format!("bytes 100-{}/{length}", length - 51)),
            ("bytes=-50".to_owned(), format!("bytes {}-{}/{length}", length - 50, length - 1)),
        ] {
            let headers = [("accept-encoding", coding), ("range", &range), ("if-range", &tag)];
            let part = service.get_with("/v1/exports/tools", &headers).await;
            assert_eq!((part.status.as_u16(), part.header("content-range")), (206, content_range.as_str()));
            assert_eq!(part.header("content-length"), part.body.len().to_string());
            assert_eq!(part.header("etag"), tag);
            joined.extend_from_slice(&part.body);
        }
        assert!(joined == whole.body, "{coding}");
    }
    let beyond = service.get_with("/v1/exports/tools", &[("range", &format!("bytes={}-", document.len()))]).await;
    assert_eq!(beyond.problem(), (416, "range_not_satisfiable".to_owned()));
    assert_eq!(beyond.header("content-range"), format!("bytes */{}", document.len()));
}

#[tokio::test]
async fn range_of_another_version_or_form_gets_the_whole_export() {
    let service = Service::with_directory();
    let whole = fixture::tools_document();
    let other = service.get_with("/v1/exports/tools", &[("accept-encoding", "zstd")]).await.header("etag").to_owned();
    for headers in [
        [("range", "bytes=0-9"), ("if-range", "\"another\"")],
        [("range", "bytes=0-9"), ("if-range", &other)],
        [("range", "bytes=0-9"), ("if-range", "Tue, 24 Nov 2026 10:00:00 GMT")],
        [("range", "bytes=0-9,20-29"), ("x-a", "several")],
        [("range", "lines=0-9"), ("x-a", "another unit")],
        [("range", "bytes=9-0"), ("x-a", "not a range")],
    ] {
        let answer = service.get_with("/v1/exports/tools", &headers).await;
        assert_eq!((answer.status.as_u16(), answer.text() == whole), (200, true), "{headers:?}");
    }
    let lines = service.get_with("/v1/exports/tools?format=ndjson", &[("range", "bytes=0-9")]).await;
    assert_eq!((lines.status.as_u16(), lines.header("accept-ranges")), (200, ""));
}

#[tokio::test]
async fn a_range_costs_what_has_to_be_read_for_it() {
    let (service, document) = large(HttpConfig::default(), 6);
    let part = |range: String, coding: &'static str| {
        let service = &service;
        async move {
            let answer = service.get_with("/v1/exports/large", &[("range", &range), ("accept-encoding", coding)]).await;
            assert_eq!(answer.status, 206);
            remaining(answer.header("ratelimit")).to_owned()
        }
    };
    assert_eq!(part("bytes=0-9".to_owned(), "identity").await, "5");
    // Every decompressed MiB counts. There are four, the last of which is incomplete.
    assert_eq!(part(format!("bytes={}-", document.len() - 1), "identity").await, "1");
    assert_eq!(part("bytes=0-9".to_owned(), "zstd").await, "0");
}

#[tokio::test]
async fn download_has_a_file_name() {
    let service = Service::with_directory();
    let name = async |path: &str| service.get(path).await.header("content-disposition").to_owned();
    assert_eq!(name("/v1/exports/tools").await, "attachment; filename=\"tools.json\"");
    assert_eq!(name("/v1/exports/tools?format=ndjson").await, "attachment; filename=\"tools.ndjson\"");
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("a \"ü\"", &fixture::extra_document())]));
    let service = Setup { directory: Arc::new(directory), ..Setup::default() }.start();
    let odd = service.get("/v1/exports/a%20%22%C3%BC%22").await;
    assert_eq!(
        odd.header("content-disposition"),
        "attachment; filename=\"a____.json\"; filename*=UTF-8''a%20%22%C3%BC%22.json"
    );
}

#[tokio::test]
async fn ndjson_has_one_record_per_line_with_its_licence() {
    let answer = Service::with_directory().get("/v1/exports/tools?format=ndjson").await;
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let records: Vec<serde_json::Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!(records.len() as u64, fixture::PRODUCTS - 1);
    for record in records {
        assert_eq!(record["export"]["license"], "https://creativecommons.org/licenses/by/4.0/");
    }
}

#[tokio::test]
async fn an_unknown_export_is_not_found() {
    let answer = Service::with_directory().get("/v1/exports/nowhere").await;
    assert_eq!(answer.problem(), (404, "export_not_found".to_owned()));
}
