//! The key file: what is valid, how errors are reported, and that changes don't lose anything.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use software_directory::key::ApiKey;
use software_directory::key::file::{self, KeyFile, KeyFileError};

use super::{key_file, named, now};

fn valid_key() -> Value {
    json!({
        "id": "k3Yp0aZ9", "name": "Example Ltd", "sha256": "0".repeat(64), "created_at": "2026-01-31T09:30:00Z",
        "expires_at": "2027-01-31", "rate_per_minute": 100, "origins": ["https://example.org"],
    })
}

fn parse(document: &Value) -> Result<KeyFile, KeyFileError> {
    KeyFile::parse(Path::new("keys.json"), document.to_string().as_bytes())
}

/// Pointers and messages of the errors in a file with these keys.
fn findings(keys: &Value) -> Vec<(String, String)> {
    match parse(&json!({ "keys": keys })) {
        Err(KeyFileError::Invalid { findings, .. }) => findings.into_iter().map(|f| (f.pointer, f.message)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_complete_key_is_read() {
    let file = parse(&json!({ "keys": [valid_key()] })).expect("valid");
    let [key] = file.keys() else { panic!("one key") };
    assert_eq!((&*key.id, &*key.name, key.rate.per_minute()), ("k3Yp0aZ9", "Example Ltd", Some(100)));
    assert_eq!(key.expires.map(|expiry| expiry.to_string()).as_deref(), Some("2027-01-31"));
    assert_eq!(key.origins[0].as_str(), "https://example.org");
}

#[test]
fn expiry_rate_and_origins_are_optional() {
    let mut key = valid_key();
    for optional in ["expires_at", "rate_per_minute", "origins"] {
        key.as_object_mut().expect("an object").remove(optional);
    }
    let file = parse(&json!({ "keys": [key] })).expect("valid");
    let key = &file.keys()[0];
    assert_eq!((key.expires, key.rate.per_minute(), key.origins.len()), (None, Some(600), 0));
}

#[test]
fn each_invalid_property_is_reported_with_its_position() {
    for (property, wrong, said) in [
        ("id", json!("short"), "8 letters and digits"),
        ("id", json!("k3Yp0aZ-"), "8 letters and digits"),
        ("id", json!(12_345_678), "must be a string"),
        ("name", json!("  "), "must not be empty"),
        ("name", json!("a\nb"), "line breaks"),
        ("name", json!("n".repeat(201)), "200"),
        ("sha256", json!("0".repeat(63)), "64 hexadecimal digits"),
        ("sha256", json!("g".repeat(64)), "64 hexadecimal digits"),
        ("sha256", json!("é".repeat(32)), "64 hexadecimal digits"),
        ("created_at", json!("yesterday"), "2026-01-31T09:30:00Z"),
        ("expires_at", json!("2027-02-30"), "2027-01-31"),
        ("expires_at", json!(0), "must be a string"),
        ("rate_per_minute", json!(0), "from 1 to 1000000"),
        ("rate_per_minute", json!(1.5), "from 1 to 1000000"),
        ("rate_per_minute", json!("600"), "from 1 to 1000000"),
        ("origins", json!("https://example.org"), "array"),
    ] {
        let mut key = valid_key();
        key[property] = wrong;
        let findings = findings(&json!([valid_key_with_id("Aaaaaaaa"), key]));
        let [(pointer, message)] = &findings[..] else { panic!("one finding for {property}: {findings:?}") };
        assert_eq!(*pointer, format!("/keys/1/{property}"));
        assert!(message.contains(said), "{message}");
    }
}

fn valid_key_with_id(id: &str) -> Value {
    let mut key = valid_key();
    key["id"] = json!(id);
    key["sha256"] = json!("1".repeat(64));
    key
}

#[test]
fn all_errors_are_reported_at_once() {
    let findings = findings(&json!([{}, { "id": "?", "origins": ["*", "https://example.org", "x"] }]));
    let pointers: Vec<_> = findings.iter().map(|(pointer, _)| pointer.as_str()).collect();
    let missing = ["id", "name", "sha256", "created_at"].map(|property| format!("/keys/0/{property}"));
    assert_eq!(pointers[..4], missing);
    for pointer in ["/keys/1/id", "/keys/1/name", "/keys/1/origins/0", "/keys/1/origins/2"] {
        assert!(pointers.contains(&pointer), "{pointer} in {pointers:?}");
    }
    assert!(!pointers.contains(&"/keys/1/origins/1"));
}

#[test]
fn a_misspelled_property_is_refused_but_an_unrelated_one_is_not() {
    for (misspelled, meant) in
        [("expires", "expires_at"), ("expiresAt", "expires_at"), ("origin", "origins"), ("rate", "rate_per_minute")]
    {
        let mut key = valid_key();
        key[misspelled] = json!("2020-01-01");
        let findings = findings(&json!([key]));
        assert_eq!(findings[0].0, format!("/keys/0/{misspelled}"));
        assert!(findings[0].1.contains(&format!("`{meant}`")), "{}", findings[0].1);
    }
    for foreign in ["note", "contact", "team", "ticket"] {
        let mut key = valid_key();
        key[foreign] = json!("x");
        assert!(parse(&json!({ "keys": [key] })).is_ok(), "{foreign}");
    }
}

#[test]
fn a_duplicate_id_or_hash_is_refused_with_both_positions() {
    let same_id = findings(&json!([valid_key(), valid_key_with_id("k3Yp0aZ9")]));
    assert_eq!(same_id[0].0, "/keys/1/id");
    assert!(same_id[0].1.contains("/keys/0"));
    let mut key = valid_key();
    key["id"] = json!("Bbbbbbbb");
    let same_hash = findings(&json!([valid_key(), key]));
    assert_eq!(same_hash[0].0, "/keys/1/sha256");
}

#[test]
fn malformed_key_file_is_rejected_with_line_and_column() {
    for (content, said) in [
        ("", "line 1 column 0"),
        ("[]", "an object such as {\"keys\": []}"),
        ("{}", "missing field `keys`"),
        ("{\"keys\": {}}", "line 1 column"),
        ("{\"keys\": null}", "line 1 column"),
        ("{\"keys\": [1]}", "expected a key"),
        ("{\"keys\": [],\n \"keys\": []}", "duplicate field `keys` at line 2"),
        (
            "{\"keys\": [{\"expires_at\": null,\n \"expires_at\": \"2020-01-01\"}]}",
            "duplicate field `expires_at` at line 2",
        ),
        ("{\"keys\": []} trailing", "line 1 column 14"),
        ("\u{feff}{\"keys\": []}", "line 1 column 1"),
    ] {
        let error = KeyFile::parse(Path::new("my/keys.json"), content.as_bytes()).expect_err(content).with_causes();
        assert!(error.contains("my/keys.json") && error.contains(said), "{error}");
    }
}

#[test]
fn an_empty_list_is_a_valid_file() {
    assert!(parse(&json!({ "keys": [] })).expect("valid").keys().is_empty());
}

#[test]
fn no_message_quotes_a_key_that_was_written_into_the_file() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let whole = key.expose();
    for document in [
        json!({ "keys": [whole] }),
        json!({ "keys": whole }),
        json!({ "keys": [{ "id": whole, "name": [whole], "sha256": whole, "created_at": whole, "expires_at": whole,
                           "rate_per_minute": whole, "origins": [whole, { "o": whole }] }] }),
        json!({ "keys": [{ "id": "x", "rate_per_minute": { "x": whole }, "origins": whole }] }),
    ] {
        let error = parse(&document).expect_err("invalid");
        let secret = whole.rsplit_once('_').expect("a secret").1;
        for text in [error.with_causes(), error.report(), format!("{error:?}")] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn the_file_contains_only_the_hash_of_a_created_key() {
    let (_folder, path) = key_file();
    let (key, record) = file::create(&path, named("Example Ltd"), now(), |_| Ok(())).expect("created");
    let text = fs::read_to_string(&path).expect("readable");
    let secret = key.expose().rsplit_once('_').expect("a secret").1;
    assert!(!text.contains(secret) && !text.contains(key.expose()));
    assert_eq!(KeyFile::read(&path).expect("valid").keys(), std::slice::from_ref(&record));
    assert_eq!((record.digest, &*record.id), (key.digest(), key.id()));
}

#[test]
fn unknown_properties_survive_a_change() {
    let (_folder, path) = key_file();
    let mut key = valid_key();
    key["contact"] = json!({ "mail": "a@example.org" });
    fs::write(&path, json!({ "owner": "ops", "keys": [key] }).to_string()).expect("written");
    let (made, _) = file::create(&path, named("b"), now(), |_| Ok(())).expect("created");
    file::revoke(&path, made.id()).expect("revoked");
    let after: Value = serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
    assert_eq!(after, json!({ "owner": "ops", "keys": [key] }));
}

#[test]
fn keys_created_at_the_same_moment_are_all_kept() {
    let (_folder, path) = key_file();
    let keys: Vec<ApiKey> = std::thread::scope(|scope| {
        let create = |thread: usize| {
            let path = &path;
            move || {
                let each =
                    |at| file::create(path, named(&format!("{thread}-{at}")), now(), |_| Ok(())).expect("created").0;
                (0..5).map(each).collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(create(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let file = KeyFile::read(&path).expect("valid");
    assert_eq!(file.keys().len(), 40);
    for key in keys {
        assert!(file.keys().iter().any(|record| record.digest == key.digest()), "{key}");
    }
}

#[test]
fn a_change_leaves_an_invalid_file_alone() {
    let (_folder, path) = key_file();
    fs::write(&path, "{\"keys\": [{}]}").expect("written");
    assert!(matches!(file::create(&path, named("a"), now(), |_| Ok(())), Err(KeyFileError::Invalid { .. })));
    assert!(matches!(file::revoke(&path, "k3Yp0aZ9"), Err(KeyFileError::Invalid { .. })));
    assert_eq!(fs::read_to_string(&path).expect("readable"), "{\"keys\": [{}]}");
}

#[test]
fn a_missing_folder_is_named_in_the_error() {
    let (folder, _) = key_file();
    let error =
        file::create(&folder.path().join("none/keys.json"), named("a"), now(), |_| Ok(())).expect_err("no folder");
    assert!(matches!(&error, KeyFileError::NoFolder { folder, .. } if folder.ends_with("none")), "{error}");
}

#[test]
fn revoking_without_a_key_file_creates_no_file() {
    let (folder, path) = key_file();
    assert!(file::revoke(&path, "k3Yp0aZ9").expect_err("no file").is_missing());
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
}

#[test]
fn a_change_leaves_only_the_file_and_its_lock_behind() {
    let (folder, path) = key_file();
    file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).expect("readable").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, [".keys.json.lock", "keys.json"]);
}

mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_an_existing_file_keeps_its_mode() {
        let (_folder, path) = key_file();
        file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        file::create(&path, named("b"), now(), |_| Ok(())).expect("created");
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn a_change_follows_a_link_to_the_key_file() {
        let (folder, path) = key_file();
        let link = folder.path().join("link.json");
        file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
        symlink(&path, &link).expect("a link");
        file::create(&link, named("b"), now(), |_| Ok(())).expect("created");
        assert!(link.is_symlink());
        assert_eq!(KeyFile::read(&path).expect("valid").keys().len(), 2);
    }
}

#[test]
fn the_next_change_sweeps_leftovers_of_a_killed_change_and_nothing_else() {
    let (folder, path) = key_file();
    let others = [".keys.json.other.tmp", ".keys.json.x.AbCd1234.tmp", "keys.json.AbCd1234.tmp", ".keys.json.lock"];
    for name in others.iter().chain(&[".keys.json.AbCd1234.tmp"]) {
        std::fs::write(folder.path().join(name), "").expect("written");
    }
    file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let left = |name: &str| folder.path().join(name).exists();
    assert!(!left(".keys.json.AbCd1234.tmp"));
    assert!(others.iter().all(|name| left(name)));
}

#[test]
fn key_is_printed_before_it_is_active_and_not_created_if_that_fails() {
    let (folder, path) = key_file();
    let mut shown = None;
    let (key, _) = file::create(&path, named("a"), now(), |key| {
        // If the process were killed here, it would leave no valid key behind.
        assert!(!path.exists());
        shown = Some(key.expose().to_owned());
        Ok(())
    })
    .expect("created");
    assert_eq!(shown.as_deref(), Some(key.expose()));
    let before = std::fs::read(&path).expect("read");
    let error = file::create(&path, named("b"), now(), |_| Err(std::io::ErrorKind::BrokenPipe.into()));
    assert!(matches!(error, Err(KeyFileError::NotShown(_))), "{error:?}");
    assert_eq!(std::fs::read(&path).expect("read"), before);
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 2, "the file and its lock file");
}
