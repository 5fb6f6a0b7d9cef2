//! `software-directory keys`, using the real binary.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};
use software_directory::key::file::KeyFile;
use software_directory::key::{ApiKey, KeyKind, KeyStore};

use super::key_file;

fn keys(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_software-directory"));
    command.arg("keys").args(arguments).current_dir(folder).env_remove("SOFTWARE_DIRECTORY_KEYS");
    command.output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn create_prints_only_the_key_and_the_key_is_accepted() {
    let (folder, path) = key_file();
    let output = keys(folder.path(), &["create", "--name", "Example Ltd"]);
    assert_eq!(output.status.code(), Some(0));
    let printed = text(&output.stdout).strip_suffix('\n').expect("one line");
    let key = ApiKey::parse(printed).expect("a key");
    assert_eq!(key.kind(), KeyKind::Live);
    let store = KeyStore::open(&path).expect("valid");
    let grant = store.authenticate(printed, Timestamp::now).expect("accepted");
    assert_eq!(grant.rate.per_minute(), Some(600));
    let hint = text(&output.stderr);
    assert!(hint.contains(key.id()) && hint.contains("keys.json"), "{hint}");
    let secret = printed.rsplit_once('_').expect("a secret").1;
    assert!(!hint.contains(secret), "{hint}");
}

#[test]
fn create_accepts_expiry_rate_and_origins() {
    let (folder, _) = key_file();
    let arguments = [
        "create",
        "--name",
        "a",
        "--expires",
        "2999-12-31",
        "--rate",
        "10/min",
        "--origin",
        "https://Example.org:443",
        "--origin",
        "http://localhost:3000",
        "--keys",
        "other.json",
    ];
    assert_eq!(keys(folder.path(), &arguments).status.code(), Some(0));
    let file = KeyFile::read(&folder.path().join("other.json")).expect("valid");
    let key = &file.keys()[0];
    assert_eq!(key.expires.map(|expiry| expiry.to_string()).as_deref(), Some("2999-12-31"));
    assert_eq!(key.rate.per_minute(), Some(10));
    let origins: Vec<_> = key.origins.iter().map(ToString::to_string).collect();
    assert_eq!(origins, ["https://example.org", "http://localhost:3000"]);
}

#[test]
fn create_accepts_a_number_of_days_and_list_prints_json() {
    let (folder, path) = key_file();
    let made = keys(folder.path(), &["create", "--name", "a", "--rate", "none", "--expires", "90d"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let key = KeyFile::read(&path).expect("valid").keys()[0].clone();
    let days = |days: i64| (Timestamp::now().to_zoned(TimeZone::UTC).date() + days.days()).to_string();
    let expires = key.expires.expect("an expiry").to_string();
    assert!([days(89), days(90)].contains(&expires), "midnight may have passed: {expires}");
    let store = KeyStore::open(&path).expect("valid");
    let grant = store.authenticate(text(&made.stdout).trim_end(), Timestamp::now).expect("accepted");
    assert_eq!(grant.spend(Instant::now()), None, "no limit");
    let listed = keys(folder.path(), &["list", "--format", "json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let expected = json!([{
        "id": &*key.id, "name": "a", "created_at": key.created_at.to_string(), "expires_at": expires, "is_expired": false,
        "rate_per_minute": null, "origins": []
    }]);
    assert_eq!(listed, expected);
}

#[test]
fn an_invalid_value_is_a_usage_error_that_names_the_option() {
    let (folder, path) = key_file();
    for (option, value) in [
        ("--expires", "tomorrow"),
        ("--expires", "2020-01-01"),
        ("--rate", "0"),
        ("--rate", "1000000001/min"),
        ("--origin", "*"),
        ("--origin", "https://example.org/app"),
        ("--name", " "),
        ("--name", "a\nb"),
    ] {
        let mut arguments = vec!["create", option, value];
        if option != "--name" {
            arguments.extend(["--name", "a"]);
        }
        let output = keys(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{option} {value:?}");
        assert!(output.stdout.is_empty() && text(&output.stderr).contains(option), "{}", text(&output.stderr));
        assert!(!path.exists());
    }
}

#[test]
fn list_shows_a_table_without_hashes_and_marks_expired_keys() {
    let (folder, path) = key_file();
    let key = |id: &str, name: &str, digit: &str, expires: &str| {
        format!(
            r#"{{"id":"{id}","name":"{name}","sha256":"{}","created_at":"2026-01-31T09:30:00Z","expires_at":{expires}}}"#,
            digit.repeat(64)
        )
    };
    let (long, short) = (key("Aaaaaaaa", "A long name", "1", "null"), key("Bbbbbbbb", "B", "2", "\"2020-01-31\""));
    fs::write(&path, format!("{{\"keys\":[{long},{short}]}}")).expect("written");
    let output = keys(folder.path(), &["list"]);
    assert_eq!(output.status.code(), Some(0));
    let expected = "\
ID        NAME         CREATED               EXPIRES               RATE     ORIGINS
Aaaaaaaa  A long name  2026-01-31T09:30:00Z  never                 600/min  any
Bbbbbbbb  B            2026-01-31T09:30:00Z  2020-01-31 (expired)  600/min  any
";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn revoke_removes_a_key_given_its_id_or_the_whole_key() {
    let (folder, path) = key_file();
    for give in [|key: &ApiKey| key.id().to_owned(), |key: &ApiKey| key.expose().to_owned()] {
        let made = keys(folder.path(), &["create", "--name", "a"]);
        let key = ApiKey::parse(text(&made.stdout).trim_end()).expect("a key");
        assert_eq!(keys(folder.path(), &["revoke", &give(&key)]).status.code(), Some(0));
        assert!(KeyFile::read(&path).expect("valid").keys().is_empty());
    }
}

#[test]
fn rotate_adds_a_successor_with_the_same_rights_and_keeps_the_old_key_for_a_while() {
    let (folder, path) = key_file();
    let made = keys(
        folder.path(),
        &["create", "--name", "a", "--rate", "10", "--origin", "https://example.org", "--expires", "2999-12-31"],
    );
    let old = ApiKey::parse(text(&made.stdout).trim_end()).expect("a key");
    let rotated = keys(folder.path(), &["rotate", old.id(), "--overlap", "2998-01-31"]);
    assert_eq!(rotated.status.code(), Some(0), "{}", text(&rotated.stderr));
    let new = ApiKey::parse(text(&rotated.stdout).strip_suffix('\n').expect("one line")).expect("a key");
    let file = KeyFile::read(&path).expect("valid");
    let [before, after] = file.keys() else { panic!("two keys") };
    assert_eq!((&*before.id, &*after.id), (old.id(), new.id()));
    assert_eq!((&before.name, before.rate, &before.origins), (&after.name, after.rate, &after.origins));
    let expires = [before, after].map(|key| key.expires.map(|expiry| expiry.to_string()).unwrap_or_default());
    assert_eq!(expires, ["2998-01-31", "2999-12-31"]);
    let store = KeyStore::open(&path).expect("valid");
    for key in [&old, &new] {
        assert!(store.authenticate(key.expose(), Timestamp::now).is_ok(), "both are valid");
    }
    let week = keys(folder.path(), &["rotate", new.id()]);
    let within = Timestamp::now().to_zoned(TimeZone::UTC).date() + 8.days();
    let new = KeyFile::read(&path).expect("valid").keys()[1].clone();
    assert!(new.expires.is_some_and(|expiry| expiry.to_string() < within.to_string()), "{}", text(&week.stderr));
    assert_eq!(keys(folder.path(), &["rotate", "nothing"]).status.code(), Some(1));
    assert_eq!(keys(folder.path(), &["rotate", &new.id, "--overlap", "soon"]).status.code(), Some(2));
}

#[test]
fn revoking_an_unknown_id_fails_and_lists_the_nearest_ids() {
    let (folder, path) = key_file();
    let made = keys(folder.path(), &["create", "--name", "a"]);
    let key = ApiKey::parse(text(&made.stdout).trim_end()).expect("a key");
    let output = keys(folder.path(), &["revoke", "nothing"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains("`nothing`") && error.contains(key.id()), "{error}");
    assert_eq!(KeyFile::read(&path).expect("valid").keys().len(), 1);
}

#[test]
fn without_a_key_file_list_and_revoke_fail_and_say_which_command_to_run() {
    let (folder, _) = key_file();
    for arguments in [&["list"][..], &["revoke", "Aaaaaaaa"]] {
        let output = keys(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("software-directory keys create --name"), "{}", text(&output.stderr));
    }
}

#[test]
fn an_invalid_key_file_is_explained_finding_by_finding() {
    let (folder, path) = key_file();
    fs::write(&path, "{\"keys\": [{}]}").expect("written");
    let output = keys(folder.path(), &["list"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains("keys.json is not valid:\n  /keys/0/id is missing\n  /keys/0/name is missing\n"), "{error}");
}

#[test]
fn the_key_file_can_be_set_in_the_environment() {
    let (folder, _) = key_file();
    let mut command = Command::new(env!("CARGO_BIN_EXE_software-directory"));
    command
        .args(["keys", "create", "--name", "a"])
        .current_dir(folder.path())
        .env("SOFTWARE_DIRECTORY_KEYS", "env.json");
    assert!(command.output().expect("the binary runs").status.success());
    assert!(folder.path().join("env.json").exists());
}

#[test]
fn key_that_cannot_be_printed_is_not_created() {
    use std::process::Stdio;
    let (folder, path) = key_file();
    let create = |out: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_software-directory"));
        command.args(["keys", "create", "--name", "a", "--keys", "keys.json"]).current_dir(folder.path()).stdout(out);
        command.stderr(Stdio::piped()).output().expect("the binary runs")
    };
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let mut closed = Command::new("sh");
    closed.args([
        "-c",
        "exec \"$0\" keys create --name a --keys keys.json >&-",
        env!("CARGO_BIN_EXE_software-directory"),
    ]);
    let closed = closed.current_dir(folder.path()).output().expect("the binary runs");
    for output in [create(full.into()), create(Stdio::null()), closed] {
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("no key was created"), "{}", text(&output.stderr));
        assert!(!path.exists());
    }
}

#[test]
fn key_file_that_others_can_read_or_change_causes_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = key_file();
    fs::write(&path, "{\"keys\":[]}").expect("written");
    for (mode, warning) in [
        (0o600, None),
        (0o640, None),
        (0o644, Some("read by every account on this machine (mode 0644); run: chmod g-w,o-rwx keys.json")),
        (0o660, Some("changed by its group")),
        (0o666, Some("changed by every account")),
    ] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("changed");
        let output = keys(folder.path(), &["list", "--keys", "keys.json"]);
        assert_eq!(output.status.code(), Some(0));
        let printed = text(&output.stderr);
        assert_eq!(printed.contains("warning: "), warning.is_some(), "{mode:o}: {printed}");
        assert!(warning.is_none_or(|warning| printed.contains(warning)), "{mode:o}: {printed}");
    }
}

#[test]
fn list_escapes_bidirectional_formatting() {
    let (folder, path) = key_file();
    let made = keys(folder.path(), &["create", "--name", "a\u{202e}b"]);
    assert!(made.status.success() && path.exists());
    let listed = keys(folder.path(), &["list"]);
    for shown in [text(&made.stderr), text(&listed.stdout)] {
        assert!(shown.contains(r"a\u{202e}b") && !shown.contains('\u{202e}'), "{shown}");
    }
}
