//! Exports that must be signed with a trusted key. The files in `signed/` were made with minisign:
//! `minisign -G -W -p minisign.pub -s key`, then `minisign -S -s key -m one.json`. `one.other.minisig`
//! is a signature of `one.json` with another key.

use std::fs;
use std::path::Path;

use http::Request;
use tempfile::TempDir;

use crate::common::index_copy::copy_index;
use crate::common::process::{Server, run, text, write};
use crate::common::request::send;
use crate::common::until::until;

const ONE: &str = include_str!("signed/one.json");
const TWO: &str = include_str!("signed/two.json");
const OF_ONE: &str = include_str!("signed/one.json.minisig");
const OF_TWO: &str = include_str!("signed/two.json.minisig");
const BY_ANOTHER: &str = include_str!("signed/one.other.minisig");

fn key() -> &'static str {
    include_str!("signed/minisign.pub").lines().nth(1).expect("a key")
}

fn key_id() -> &'static str {
    include_str!("signed/minisign.pub").lines().next().and_then(|line| line.split(' ').next_back()).expect("an id")
}

fn folder(export: &str, signature: Option<&str>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    write(folder.path(), export);
    if let Some(signature) = signature {
        sign(folder.path(), signature);
    }
    folder
}

fn sign(folder: &Path, signature: &str) {
    fs::write(folder.join("data/next"), signature).expect("written");
    fs::rename(folder.join("data/next"), folder.join("data/tools.json.minisig")).expect("renamed");
}

/// A response's status and text.
fn get(server: &Server, path: &str) -> (u16, String) {
    let request = Request::get(format!("{}{path}", server.address));
    let request = request.header("Authorization", format!("Bearer {}", server.key()));
    let response = send(request, "").expect("an answer");
    (response.status().as_u16(), response.into_body())
}

#[test]
fn check_accepts_only_exports_that_are_signed_with_a_trusted_key() {
    for (export, signature, code, message) in [
        (ONE, Some(OF_ONE), 0, ""),
        (ONE, None, 2, "error[unsigned]: the export isn't signed: there is no `tools.json.minisig` beside it"),
        (TWO, Some(OF_ONE), 2, "error[invalid_signature]: `tools.json.minisig` isn't a signature of this content"),
        (ONE, Some(BY_ANOTHER), 2, "error[invalid_signature]: it's signed with the key "),
        (ONE, Some("x"), 2, "error[invalid_signature]: `tools.json.minisig` isn't a minisign signature"),
        (ONE, Some(&OF_ONE.replace("file:one", "file:two")), 2, "error[invalid_signature]: "),
        (ONE, Some(&"x".repeat(17_000)), 2, "can't be read: it has more than 16384 bytes"),
    ] {
        let folder = folder(export, signature);
        let checked = run(folder.path(), &["check", "--trusted-key", key()]);
        let report = text(&checked.stdout);
        assert_eq!(checked.status.code(), Some(code), "{report}");
        assert!(report.contains(message), "{message}: {report}");
        assert!(run(folder.path(), &["check"]).status.success(), "nothing is trusted, so nothing is checked");
    }
    let folder = folder(ONE, Some(OF_ONE));
    let refused = run(folder.path(), &["check", "--trusted-key", "RWnonsense"]);
    assert!(text(&refused.stderr).contains("write a minisign public key"), "{refused:?}");
}

#[test]
fn a_server_waits_for_the_signature_and_serves_it() {
    let folder = folder(ONE, Some(OF_ONE));
    let server = Server::start(folder.path(), &["serve", "--data", "data", "--trusted-key", key()]);
    let (_, exports) = server.get("/v1/exports");
    assert_eq!(exports["data"][0]["signed_by"], key_id());
    assert_eq!(get(&server, "/v1/exports/tools"), (200, ONE.to_owned()));
    assert_eq!(get(&server, "/v1/exports/tools.minisig"), (200, OF_ONE.to_owned()));
    assert_eq!(server.get("/v1/exports/other.minisig").1["code"], "export_not_found");

    write(folder.path(), TWO);
    until("the altered export is rejected", || (server.reasons() == ["exports_invalid"]).then_some(()));
    assert_eq!(get(&server, "/v1/exports/tools").1, ONE);
    sign(folder.path(), OF_TWO);
    until("the signed export is served", || (get(&server, "/v1/exports/tools").1 == TWO).then_some(()));
    assert_eq!(get(&server, "/v1/exports/tools.minisig").1, OF_TWO);
    assert!(server.reasons().is_empty());

    let changed = run(folder.path(), &["set", "data/tools.json", "a", "tagline=New"]);
    let warned = text(&changed.stderr);
    assert!(warned.contains("The signature data/tools.json.minisig is no longer valid"), "{warned}");
    until("the changed export is rejected", || (server.reasons() == ["exports_invalid"]).then_some(()));
    drop(server);

    let replica = tempfile::tempdir().expect("a folder");
    copy_index(&folder.path().join("index"), replica.path());
    let index = replica.path().to_str().expect("text");
    let server = Server::start(replica.path(), &["serve", "--data", "none", "--index", index]);
    assert_eq!(get(&server, "/v1/exports/tools.minisig"), (200, OF_TWO.to_owned()));
}

#[test]
fn a_generation_of_exports_that_nobody_checked_is_not_served_once_keys_are_trusted() {
    let folder = folder(ONE, Some(BY_ANOTHER));
    assert!(run(folder.path(), &["--reindex"]).status.success());
    let refused = run(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--trusted-key", key()]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    sign(folder.path(), OF_ONE);
    let server = Server::start(folder.path(), &["serve", "--trusted-key", key()]);
    assert_eq!(server.get("/v1/exports").1["data"][0]["signed_by"], key_id());
    drop(server);
    let server = Server::start(folder.path(), &["serve"]);
    assert_eq!(server.get("/v1/exports").1["data"][0]["signed_by"], serde_json::Value::Null);
    assert_eq!(server.get("/v1/exports/tools.minisig").1["code"], "signature_not_found");
}
