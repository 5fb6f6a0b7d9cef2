//! Browser sessions: their tokens, and the file that servers with the same key file share.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use software_directory::key::file::{self, NewKey};
use software_directory::key::{KeyStore, SESSION_LIFETIME};
use tempfile::TempDir;

use super::{key_file, named, now};

const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// How far servers' clocks may differ.
const SKEW: SignedDuration = SignedDuration::from_mins(1);
const MAX_ENDED: usize = 10_000;

/// A folder with a key file, and the ids of its keys.
struct Place {
    _folder: TempDir,
    keys: PathBuf,
    secret: PathBuf,
    id: String,
    other_id: String,
}

impl Place {
    fn new() -> Self {
        let (folder, keys) = key_file();
        let create = |new: NewKey| file::create(&keys, new, now(), |_| Ok(())).expect("created").0.id().to_owned();
        let (id, other_id) = (create(named("a")), create(named("b")));
        Self { secret: folder.path().join("sessions/secret.json"), _folder: folder, keys, id, other_id }
    }

    fn server(&self) -> Arc<KeyStore> {
        Arc::new(KeyStore::open(&self.keys).expect("valid"))
    }

    fn open(&self, server: &KeyStore) -> String {
        server.open_session(&self.id, now()).expect("a secret").expect("a session")
    }
}

fn is_open(server: &KeyStore, token: &str) -> bool {
    server.resume_session(token, now()).is_some()
}

fn end(server: &Arc<KeyStore>, tokens: Vec<String>, now: Timestamp) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(Arc::clone(server).end_sessions(tokens, now)).expect("ended");
}

/// How many ended sessions are stored.
fn ended(secret: &Path) -> usize {
    let content: serde_json::Value = serde_json::from_slice(&fs::read(secret).expect("a file")).expect("JSON");
    content["ended"].as_object().expect("an object").len()
}

#[test]
fn a_session_lasts_seven_days() {
    let (place, end) = (Place::new(), now() + SESSION_LIFETIME);
    let server = place.server();
    let token = place.open(&server);
    let resumed = |at| server.resume_session(&token, at).map(|grant| grant.id.to_string());
    assert_eq!(SESSION_LIFETIME, SignedDuration::from_hours(168));
    assert_eq!((resumed(now()), resumed(end - SECOND)), (Some(place.id.clone()), Some(place.id.clone())));
    assert_eq!(resumed(end), None);
    assert!(resumed(now() - SKEW).is_some(), "from a server whose clock is slightly fast");
    assert_eq!(resumed(now() - SKEW - SECOND), None, "its expiry is too far away");
}

#[test]
fn an_altered_token_is_rejected() {
    let place = Place::new();
    let server = place.server();
    let token = place.open(&server);
    let parts: Vec<_> = token.split('.').collect();
    let [id, session, expires, mac] = parts[..] else { panic!("{token}") };
    let later = expires.parse::<i64>().expect("seconds") + 1;
    assert!(is_open(&server, &token));
    for altered in [
        format!("{id}.{session}.{later}.{mac}"),
        format!("{}.{session}.{expires}.{mac}", place.other_id),
        format!("{id}.0{session}.{expires}.{mac}"),
        format!("{id}.{session}.{expires}."),
        format!("{id}.{expires}.{mac}"),
        format!("{token}0"),
        token[..token.len() - 1].to_owned(),
        "...".to_owned(),
        String::new(),
    ] {
        assert!(!is_open(&server, &altered), "{altered}");
    }
}

#[test]
fn nobody_can_sign_a_token_with_the_key_file_alone() {
    let place = Place::new();
    let server = place.server();
    let content: serde_json::Value = serde_json::from_slice(&fs::read(&place.keys).expect("a file")).expect("JSON");
    let digest = hex::decode(content["keys"][0]["sha256"].as_str().expect("a hash")).expect("hexadecimal");
    let signed = format!("{}.0.{}", place.id, (now() + SESSION_LIFETIME).as_second());
    let forged = |secret: &str| {
        let key = blake3::derive_key("software-directory session", secret.as_bytes());
        format!("{signed}.{}", blake3::keyed_hash(&key, &[&digest, signed.as_bytes()].concat()).to_hex())
    };
    assert!(!is_open(&server, &forged("")), "before there's a secret");
    place.open(&server);
    assert!(!is_open(&server, &forged("")));
    let content: serde_json::Value = serde_json::from_slice(&fs::read(&place.secret).expect("a file")).expect("JSON");
    assert!(is_open(&server, &forged(content["secret"].as_str().expect("a secret"))), "the form is right");
}

#[test]
fn a_session_ends_with_its_key_even_if_another_key_has_the_same_id() {
    let place = Place::new();
    let server = place.server();
    let token = place.open(&server);
    let text = fs::read_to_string(&place.keys).expect("readable");
    let mut content: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    content["keys"][0]["sha256"] = "0".repeat(64).into();
    for (changed, is_valid) in [(content.to_string(), false), (text, true), ("{\"keys\": []}".to_owned(), false)] {
        fs::write(&place.keys, changed).expect("written");
        server.reload_if_changed();
        assert_eq!(is_open(&server, &token), is_valid);
    }
}

#[test]
fn a_key_with_origins_opens_no_sessions_and_ends_those_it_has() {
    let place = Place::new();
    let server = place.server();
    let token = place.open(&server);
    let text = fs::read_to_string(&place.keys).expect("readable");
    fs::write(&place.keys, text.replace("\"origins\": []", "\"origins\": [\"https://example.org\"]")).expect("written");
    server.reload_if_changed();
    assert!(!is_open(&server, &token));
    assert_eq!(server.open_session(&place.id, now()).expect("a secret"), None);
}

#[test]
fn servers_with_the_same_key_file_share_the_secret_and_sign_outs() {
    let place = Place::new();
    let (one, other) = (place.server(), place.server());
    assert!(!place.secret.exists(), "created when it's needed");
    let (kept, over) = (place.open(&one), place.open(&other));
    one.reload_if_changed();
    assert!(is_open(&one, &over), "the second server found the first one's secret");
    end(&other, vec![over.clone()], now());
    assert!(is_open(&one, &over), "not read again yet");
    one.reload_if_changed();
    for server in [&one, &other, &place.server()] {
        assert!(is_open(server, &kept) && !is_open(server, &over));
    }
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!((mode(&place.secret), mode(place.secret.parent().expect("a folder"))), (0o600, 0o700));
}

#[test]
fn deleting_the_secret_ends_all_sessions_even_during_a_sign_out() {
    for is_noticed in [true, false] {
        let place = Place::new();
        let server = place.server();
        let (old, other) = (place.open(&server), place.open(&server));
        fs::remove_file(&place.secret).expect("removed");
        if is_noticed {
            server.reload_if_changed();
        } else {
            end(&server, vec![other], now());
        }
        let new = place.open(&server);
        assert!(!is_open(&server, &old) && is_open(&server, &new));
        assert!(is_open(&place.server(), &new), "stored");
    }
}

#[test]
fn without_a_writable_folder_sessions_are_kept_in_memory() {
    let place = Place::new();
    let in_the_way = place.secret.parent().expect("a folder");
    fs::write(in_the_way, "").expect("written");
    let server = place.server();
    let (kept, over) = (place.open(&server), place.open(&server));
    end(&server, vec![over.clone()], now());
    server.reload_if_changed();
    assert!(is_open(&server, &kept) && !is_open(&server, &over));
    assert!(!is_open(&place.server(), &kept));
    fs::remove_file(in_the_way).expect("removed");
    end(&server, vec![place.open(&server)], now());
    let restarted = place.server();
    assert!(is_open(&restarted, &kept) && !is_open(&restarted, &over), "stored as soon as possible");
}

#[test]
fn an_invalid_secret_is_neither_used_nor_replaced() {
    for content in ["", "{", "{}", r#"{"secret": ""}"#, r#"{"secret": "short"}"#] {
        let place = Place::new();
        let server = place.server();
        let (kept, over) = (place.open(&server), place.open(&server));
        fs::write(&place.secret, content).expect("written");
        server.reload_if_changed();
        end(&server, vec![over.clone()], now());
        assert!(is_open(&server, &kept) && !is_open(&server, &over), "the last good secret stays: {content}");
        let started = place.server();
        assert!(is_open(&started, &place.open(&started)) && !is_open(&started, &kept));
        assert_eq!(fs::read_to_string(&place.secret).expect("a file"), content);
    }
}

#[test]
fn ended_sessions_are_forgotten_once_no_server_would_accept_them() {
    let place = Place::new();
    let server = place.server();
    end(&server, vec![place.open(&server)], now());
    for (at, count) in [(now() + SESSION_LIFETIME + SKEW - SECOND, 1), (now() + SESSION_LIFETIME + SKEW, 0)] {
        end(&server, Vec::new(), at);
        assert_eq!(ended(&place.secret), count);
    }
}

#[test]
fn too_many_sign_outs_with_one_key_only_end_its_own_older_sessions() {
    let place = Place::new();
    let server = place.server();
    let open_at = |id: &str, at| server.open_session(id, at).expect("a secret").expect("a session");
    let (victims, victims_other) = (open_at(&place.other_id, now()), open_at(&place.other_id, now()));
    end(&server, vec![victims.clone()], now());
    let (older, newer) = (open_at(&place.id, now()), open_at(&place.id, now() + SECOND));
    end(&server, (1..MAX_ENDED).map(|_| place.open(&server)).collect(), now());
    assert_eq!(ended(&place.secret), MAX_ENDED);
    assert!(is_open(&server, &older));
    end(&server, vec![place.open(&server)], now());
    assert_eq!(ended(&place.secret), 2);
    for server in [&server, &place.server()] {
        assert!(!is_open(server, &victims) && is_open(server, &victims_other));
        assert!(!is_open(server, &older) && is_open(server, &newer));
    }
}
