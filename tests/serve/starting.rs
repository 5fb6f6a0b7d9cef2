//! Starting and stopping.

use std::fs;

use http::Request;
use serde_json::Value;

use crate::common::process::{Server, export, folder_with, run, text, write};
use crate::common::request::send;
use crate::common::until::until;

#[test]
fn the_first_line_is_the_address_and_the_development_key_works() {
    let folder = folder_with(&["a", "b"]);
    let server = Server::start(folder.path(), &[]);
    assert!(server.first_line.starts_with("Listening on http://127.0.0.1:"), "{}", server.first_line);
    assert!(!server.address.ends_with(":0"), "a real port");
    assert!(server.key().starts_with("sd_dev_"), "{}", server.announced);
    let (status, body) = server.get("/v1/software");
    assert_eq!((status, &body["pagination"]["total"]), (200, &Value::from(2)));
    let key = server.key();
    assert_eq!(server.terminate().0, Some(0));
    assert_eq!(Server::start(folder.path(), &["--index", "elsewhere"]).key(), key, "the same after a restart");
    let names =
        |of: &str| fs::read_dir(folder.path().join(of)).expect("a folder").map(|entry| entry.expect("one").file_name());
    assert!(names("").any(|name| name == "development-key"), "beside the key file that there could be");
    assert!(names("index").all(|name| name != "development-key"), "the index gets copied");
}

#[test]
fn a_missing_key_file_exits_with_2_and_names_the_command_to_run() {
    let folder = folder_with(&["a"]);
    let output = run(folder.path(), &["--listen", "127.0.0.1:0", "--keys", "k.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("software-directory keys create --name \"…\" --keys k.json"), "{output:?}");
}

#[test]
fn invalid_page_settings_exit_with_2() {
    let folder = folder_with(&["a"]);
    for (option, value, says) in [
        ("--site-title", "two\nlines", "hidden character \\n"),
        ("--site-title", &"x".repeat(81), "the maximum is 80"),
        ("--site-introduction", "bell\u{7}", "hidden character \\u{7}"),
        ("--site-introduction", &"x".repeat(601), "the maximum is 600"),
        ("--public-page", "none", "`300/min`"),
    ] {
        let done = run(folder.path(), &[option, value]);
        let error = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{option}: {error}");
        assert!(error.contains(option) && error.contains(says), "{error}");
    }
}

#[test]
fn other_machines_need_keys() {
    let folder = folder_with(&["a"]);
    let output = run(folder.path(), &["--listen", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("software-directory keys create"), "{output:?}");
    assert!(output.stdout.is_empty(), "it never listened");
}

#[test]
fn callers_through_a_proxy_need_keys() {
    let folder = folder_with(&["a"]);
    for option in [["--trusted-proxy", "127.0.0.1/32"], ["--public-url", "https://api.example.org"]] {
        let output = run(folder.path(), &["--listen", "127.0.0.1:0", option[0], option[1]]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("software-directory keys create"), "{output:?}");
        assert!(output.stdout.is_empty(), "it never listened");
        assert!(!folder.path().join("development-key").exists(), "none is created");
    }
}

#[test]
fn invalid_or_missing_exports_at_first_start_exit_with_2() {
    let folder = folder_with(&["a"]);
    write(folder.path(), "{\n  oops\n}");
    let output = run(folder.path(), &["--listen", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("data/tools.json:2:3"), "{}", text(&output.stderr));
    fs::remove_file(folder.path().join("data/tools.json")).expect("removed");
    let output = run(folder.path(), &["--listen", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no export file in the folder data"), "{output:?}");
    let output = run(folder.path(), &["--listen", "127.0.0.1:0", "--data", "elsewhere"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_missing_data_folder_exits_with_2_even_with_an_index() {
    let folder = folder_with(&["a"]);
    assert_eq!(run(folder.path(), &["--reindex"]).status.code(), Some(0));
    fs::rename(folder.path().join("data"), folder.path().join("moved")).expect("renamed");
    for arguments in [&["--data", "data"][..], &["--data", "data", "--reindex"], &["--data", "moved/tools.json"]] {
        let output = run(folder.path(), &[&["--listen", "127.0.0.1:0"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = text(&output.stderr);
        assert!(error.contains(arguments[1]) && error.contains("--data"), "{error}");
        assert!(output.stdout.is_empty(), "nothing is served");
    }
}

#[test]
fn a_port_in_use_is_an_error_that_names_the_option() {
    let folder = folder_with(&["a"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    for (arguments, option) in [
        (vec!["--listen", &port], "--listen"),
        (vec!["--listen", "127.0.0.1:0", "--metrics-listen", &port], "--metrics-listen"),
    ] {
        let output = run(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error = text(&output.stderr);
        assert!(error.contains(&format!("choose another one with {option}")), "{error}");
    }
}

#[test]
fn outside_a_checkout_the_built_in_directory_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path(), &["--index", "none"]);
    let (_, body) = server.get("/v1/exports");
    let ids: Vec<_> = body["data"].as_array().expect("an array").iter().map(|export| &export["id"]).collect();
    assert_eq!(ids, ["demo", "qhse", "software-terms"]);
    assert_eq!(server.terminate().0, Some(0));
}

#[test]
fn demo_records_are_served_only_without_a_data_folder_or_a_key_file() {
    let folder = folder_with(&["a"]);
    fs::create_dir(folder.path().join("demo")).expect("a folder");
    let demo = folder.path().join("demo/demo.json");
    fs::write(&demo, include_str!("../../demo/demo.json")).expect("written");
    let exports = |arguments: &[&str]| {
        let server = Server::start(folder.path(), arguments);
        let (_, body) = server.get("/v1/exports");
        let ids = body["data"].as_array().expect("an array").iter().map(|export| export["id"].to_string()).collect();
        assert_eq!(server.terminate().0, Some(0));
        let ids: Vec<String> = ids;
        ids.join(" ")
    };
    assert_eq!(exports(&[]), r#""demo" "tools""#, "built in another process");
    assert_eq!(exports(&["--index", "none"]), r#""demo" "tools""#);
    assert_eq!(exports(&["--data", "data", "--index", "none"]), r#""tools""#);
    let search = run(folder.path(), &["search", "hedgehog"]);
    assert!(text(&search.stdout).contains("demo-hedgehog-ehs"), "{search:?}");
    fs::remove_file(demo).expect("removed");
    assert_eq!(exports(&["--index", "none"]), r#""tools""#);
}

#[test]
fn a_server_waiting_for_its_index_can_be_stopped() {
    let folder = folder_with(&["a"]);
    fs::create_dir(folder.path().join("index")).expect("a folder");
    let lock = fs::File::create(folder.path().join("index/LOCK")).expect("a file");
    lock.lock().expect("locked");
    write(folder.path(), &export(&["a"]).replace("\"id\"", "\"rating\": 9, \"id\""));
    let server = Server::spawn(folder.path(), &[]);
    // Exports are read after the signal handlers are installed. The index is written once the lock
    // is acquired, which never happens.
    until("the exports to be read", || server.stderr().contains("rating_out_of_range").then_some(()));
    assert_eq!(server.terminate().0, Some(0));
}

#[test]
fn metrics_have_their_own_listener_before_there_is_anything_to_serve() {
    let folder = folder_with(&["a"]);
    fs::create_dir(folder.path().join("index")).expect("a folder");
    let lock = fs::File::create(folder.path().join("index/LOCK")).expect("a file");
    lock.lock().expect("locked");
    let server = Server::spawn(folder.path(), &["--metrics-listen", "127.0.0.1:0"]);
    let address = until("the log to contain the metrics' address", || {
        let errors = server.stderr();
        let line = errors.lines().find(|line| line.contains("/metrics"))?;
        Some(line.split_once("address=")?.1.split_whitespace().next().expect("an address").to_owned())
    });
    let ask = |path: &str| {
        let answer = send(Request::get(format!("http://{address}{path}")), "").expect("a response");
        (answer.status().as_u16(), answer.into_body())
    };
    let (status, text) = ask("/metrics");
    assert_eq!(status, 200);
    assert!(text.contains("software_directory_generation_records 0\n"), "{text}");
    assert_eq!(ask("/healthz").0, 404, "the service itself listens on another port");
    drop(lock);
    until("the generation is reported", || {
        ask("/metrics").1.contains("software_directory_generation_records 1\n").then_some(())
    });
    let text = ask("/metrics").1;
    assert!(text.contains("software_directory_reloads_total{outcome=\"published\"} 1\n"), "{text}");
    assert!(text.contains("software_directory_last_reload_success 1\n"), "{text}");
    assert_eq!(server.terminate().0, Some(0));
}

#[test]
fn with_json_logs_every_line_is_an_object_including_findings_and_the_last_message() {
    let is_object = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object());
    let folder = folder_with(&["a", "b"]);
    let server = Server::start(folder.path(), &["--log-format", "json"]);
    write(folder.path(), "{\n  oops\n}");
    until("the finding is logged", || server.stderr().contains("tools.json").then_some(()));
    let (code, errors) = server.terminate();
    assert_eq!(code, Some(0));
    assert!(errors.lines().all(is_object), "{errors}");
    fs::remove_dir_all(folder.path().join("index")).expect("removed");
    let output = run(folder.path(), &["--listen", "127.0.0.1:0", "--log-format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(!errors.is_empty() && errors.lines().all(is_object), "{errors}");
}

#[test]
fn the_log_lists_the_first_findings_of_each_kind_and_counts_the_rest() {
    let folder = folder_with(&["a"]);
    let twice = "\"k\": 1, ".repeat(151);
    let export = format!(r#"{{{twice}"name": "N", "license": "https://example.org/", "software": []}}"#);
    write(folder.path(), &export);
    let output = run(folder.path(), &["--index", "none", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let log = text(&output.stderr);
    assert_eq!(log.matches("is used twice in one object\"").count(), 20, "{log}");
    assert!(log.contains("and 130 more of this kind"), "{log}");
}

#[test]
fn the_operators_prefix_is_passed_to_the_build_process() {
    let folder = folder_with(&["a", "b"]);
    let name =
        fs::read_dir(folder.path().join("data")).expect("a folder").next().expect("an export").expect("an entry");
    let export = name.path().file_stem().expect("a name").to_string_lossy().into_owned();
    let option = format!("{export}=x:");
    let server = Server::start(folder.path(), &["--id-prefix", &option, "--id-prefix", "none=y:"]);
    for path in ["/v1/software/x:a", "/v1/software/x%3Aa", "/v1/software/x%3Aa/similar", "/v1/reviews/x%3Aa"] {
        assert_eq!(server.get(path).0, 200, "{path}");
    }
    assert_eq!(server.get("/v1/software/a").0, 404);
    assert_eq!(server.get("/v1/software?id=x:a").1["pagination"]["total"], 1);
    let (_, exports) = server.get("/v1/exports");
    assert_eq!(exports["data"][0]["id_prefix"], "x:");
    let (_, download) = server.get(&format!("/v1/exports/{export}"));
    assert_eq!(download["software"][0]["id"], "a", "as in the file");
    let log = server.terminate().1;
    assert!(log.contains("`none`, which doesn't exist"), "{log}");
}
