//! Queries without hits: what a server records about them, and what `software-directory queries`
//! proposes.

use std::fs;
use std::path::Path;

use http::Request;
use serde_json::{Value, json};

use crate::common::process::{Server, folder_with, run, text, write};
use crate::common::request::send;

/// Writes a file with these queries, each counted three times.
fn kept(folder: &Path, queries: &[&str]) {
    let query = |query: &&str| json!({"query": query, "count": 3, "first_day": "2026-01-02", "last_day": "2026-01-03"});
    let document = json!({"format": 1, "queries": queries.iter().map(query).collect::<Vec<_>>()});
    fs::write(folder.join("queries.json"), document.to_string()).expect("written");
}

/// The queries in the file with their counts.
fn counted(folder: &Path) -> Vec<(String, u64)> {
    let document: Value =
        serde_json::from_slice(&fs::read(folder.join("queries.json")).expect("a file")).expect("JSON");
    let queries = document["queries"].as_array().expect("an array").iter();
    queries
        .map(|of| (of["query"].as_str().expect("a string").to_owned(), of["count"].as_u64().expect("a number")))
        .collect()
}

/// Calls the assistants' search tool.
fn call(server: &Server, q: &str) -> Value {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_software", "arguments": {"q": q}},
    });
    let request = Request::post(format!("{}/mcp", server.address))
        .header("Authorization", format!("Bearer {}", server.key()))
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream");
    let response = send(request, &body.to_string()).expect("a response");
    assert_eq!(response.status(), 200);
    serde_json::from_str(response.body()).expect("JSON")
}

#[test]
fn queries_without_hits_over_http_and_from_assistants_are_counted_and_saved() {
    let folder = folder_with(&["a"]);
    let all = ["assistant zzz", "filtered zzz", "http zzz", "tool", "typed zzz"];
    kept(folder.path(), &all);
    let server = Server::start(folder.path(), &["--empty-queries", "queries.json"]);
    for (path, total) in [
        ("/v1/search?q=HTTP++zzz", 0),
        ("/v1/search?q=rare+zzz", 0),
        ("/v1/search?q=tool", 1),
        ("/v1/search?q=filtered+zzz&min_rating=4", 0),
        ("/v1/search?q=typed+zzz&prefix=always", 0),
    ] {
        let (status, body) = server.get(path);
        assert_eq!((status, body["pagination"]["total"].as_u64()), (200, Some(total)), "{path}");
    }
    let answer = call(&server, "Assistant zzz");
    assert_eq!(answer["result"]["structuredContent"]["total"], 0, "{answer}");
    let key = server.key();
    assert_eq!(server.terminate().0, Some(0));
    let counts = counted(folder.path());
    let expected = all.map(|query| (query.to_owned(), if query.starts_with(['a', 'h']) { 4 } else { 3 }));
    let mut sorted = counts.clone();
    sorted.sort();
    assert_eq!(sorted, expected);
    let text = fs::read_to_string(folder.path().join("queries.json")).expect("text");
    for private in [&*key, "127.0.0.1", "rare"] {
        assert!(!text.contains(private), "{text}");
    }
}

#[test]
fn nothing_is_written_unless_requested_and_other_files_are_left_alone() {
    let folder = folder_with(&["a"]);
    fs::write(folder.path().join("queries.json"), r#"{"name": "Tools"}"#).expect("written");
    let output = run(folder.path(), &["--listen", "127.0.0.1:0", "--empty-queries", "queries.json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("doesn't contain queries without hits"), "{output:?}");
    assert_eq!(fs::read(folder.path().join("queries.json")).expect("a file"), br#"{"name": "Tools"}"#);
    let server = Server::start(folder.path(), &["--empty-queries", ""]);
    server.get("/v1/search?q=zzz");
    assert_eq!(server.terminate().0, Some(0));
    let names: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names.len(), 4, "only the index and the development key have been added: {names:?}");
}

#[test]
fn report_lists_near_matches_and_proposes_synonyms() {
    let folder = folder_with(&["a"]);
    let export = json!({
        "name": "Tools", "license": "https://example.org/licence",
        "categories": [{"name": "Permit to work", "description": "Written clearance, as tagging has it"}],
        "software": [{
            "id": "a", "name": "Alpha", "tagline": "Isolation of lines", "url": "https://a.example/", "category": "Permit to work",
            "evidence_status": "pending-review",
        }],
        "glossary": [{"term": "Isolation", "definition": "Making a machine safe", "synonyms": ["lockout"]}],
    });
    write(folder.path(), &export.to_string());
    kept(folder.path(), &["alpha", "isolationxyz", "qqqqqqqq", "machine", "\u{1b}[31mred"]);
    let report = run(folder.path(), &["queries", "queries.json", "--index", "none"]);
    assert_eq!(report.status.code(), Some(0), "{report:?}");
    let shown = text(&report.stdout);
    for line in [
        "     3  alpha  2026-01-02 to 2026-01-03\n        finds 1 product now\n",
        "        near: Isolation  glossary term with these words in its definition, 1 product\n",
        "     3  qqqqqqqq  2026-01-02 to 2026-01-03\n        no close match\n",
        "  \"synonyms\": [\n    {\"from\":[\"isolationxyz\",\"machine\"],\"to\":\"Isolation\"}\n  ]\n",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let json = run(folder.path(), &["queries", "queries.json", "--index", "none", "--format", "json", "--limit", "1"]);
    let document: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&document["queries"][0]["query"], &document["queries"][0]["found"]), (&json!("alpha"), &json!(1)));
    let missing = run(folder.path(), &["queries", "none.json"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("serve --empty-queries none.json"), "{missing:?}");
}

#[test]
fn a_query_that_was_never_counted_is_left_out() {
    let folder = folder_with(&["a"]);
    kept(folder.path(), &[&"x".repeat(100_000), "qqqqqqqq"]);
    let report = run(folder.path(), &["queries", "queries.json", "--index", "none", "--format", "json"]);
    assert_eq!(report.status.code(), Some(0), "{report:?}");
    let document: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let queries: Vec<_> = document["queries"].as_array().expect("an array").iter().map(|of| &of["query"]).collect();
    assert_eq!(queries, ["qqqqqqqq"]);
}

#[test]
fn a_named_pipe_is_rejected_as_a_query_file() {
    let folder = folder_with(&["a"]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("queries.json")).status();
    assert!(made.expect("mkfifo").success());
    let refused = run(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--empty-queries", "queries.json"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(
        text(&refused.stderr).contains("queries.json: it isn't a regular file; specify a different one"),
        "{refused:?}"
    );
}
