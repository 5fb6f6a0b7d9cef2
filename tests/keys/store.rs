//! The key store: authentication, and reloading the key file.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use proptest::prelude::*;
use software_directory::key::file::{self, NewKey};
use software_directory::key::{ApiKey, AuthError, KeyKind, KeyStore, watch};

use super::{at, key_file, named, now};

fn accepted_id(store: &KeyStore, key: &ApiKey) -> Result<String, AuthError> {
    store.authenticate(key.expose(), now).map(|grant| grant.id.to_string())
}

/// Replaces the file the way editors do.
fn replace(path: &Path, content: &str) {
    let next = path.with_extension("next");
    fs::write(&next, content).expect("written");
    fs::rename(next, path).expect("renamed");
}

#[test]
fn a_key_in_the_file_is_accepted_and_others_are_not() {
    let (_folder, path) = key_file();
    let keys: Vec<_> =
        ["a", "b"].map(|name| file::create(&path, named(name), now(), |_| Ok(())).expect("created").0).into();
    let store = KeyStore::open(&path).expect("valid");
    for key in &keys {
        let grant = store.authenticate(key.expose(), now).expect("accepted");
        assert_eq!(&*grant.id, key.id());
        assert_eq!(grant.spend(Instant::now()).expect("a limit").limit, 600);
    }
}

#[test]
fn an_empty_key_counts_as_missing_and_anything_else_as_invalid() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::open(&path).expect("valid");
    assert_eq!(store.authenticate("", now).unwrap_err(), AuthError::Missing);
    let whole = key.expose();
    let stranger = ApiKey::generate(KeyKind::Live).expect("random numbers");
    let development = ApiKey::generate(KeyKind::Development).expect("random numbers");
    let spaced = format!(" {whole}");
    let text = fs::read_to_string(&path).expect("readable");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let hash = file["keys"][0]["sha256"].as_str().expect("a hash");
    for wrong in
        ["x", " ", key.id(), stranger.expose(), development.expose(), &spaced, hash, &whole[1..], &whole.to_uppercase()]
    {
        assert_eq!(store.authenticate(wrong, now).unwrap_err(), AuthError::Invalid, "{wrong}");
    }
}

#[test]
fn a_known_id_with_a_different_secret_is_invalid() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::open(&path).expect("valid");
    // A well-formed key with the other key's id and a correct checksum.
    let body = format!("sd_live_{}_{}", key.id(), "A".repeat(22));
    let mut crc = flate2::Crc::new();
    crc.update(body.as_bytes());
    let mut rest = crc.sum();
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut checksum = Vec::new();
    for _ in 0..6 {
        checksum.insert(0, digits[(rest % 62) as usize]);
        rest /= 62;
    }
    let forged = body + std::str::from_utf8(&checksum).expect("ASCII");
    assert!(ApiKey::parse(&forged).is_ok());
    assert_eq!(store.authenticate(&forged, now).unwrap_err(), AuthError::Invalid);
}

#[test]
fn a_key_is_valid_through_its_expiry_date_or_time() {
    let (_folder, path) = key_file();
    let with_expiry = |text: &str| NewKey { expires: Some(text.parse().expect("an expiry")), ..named("a") };
    let (by_day, _) = file::create(&path, with_expiry("2027-01-31"), now(), |_| Ok(())).expect("created");
    let (by_time, _) = file::create(&path, with_expiry("2027-01-31T12:00:00Z"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::open(&path).expect("valid");
    for (key, last, first_refused) in [
        (by_day, "2027-01-31T23:59:59.999999999Z", "2027-02-01T00:00:00Z"),
        (by_time, "2027-01-31T12:00:00Z", "2027-01-31T12:00:00.000000001Z"),
    ] {
        assert!(store.authenticate(key.expose(), || at(last)).is_ok());
        assert_eq!(store.authenticate(key.expose(), || at(first_refused)).unwrap_err(), AuthError::Expired);
    }
}

#[test]
fn an_empty_key_file_refuses_everyone() {
    let (_folder, path) = key_file();
    fs::write(&path, "{\"keys\": []}").expect("written");
    let store = KeyStore::open(&path).expect("valid");
    let stranger = ApiKey::generate(KeyKind::Live).expect("random numbers");
    assert!(store.is_empty());
    assert_eq!(accepted_id(&store, &stranger).unwrap_err(), AuthError::Invalid);
}

#[test]
fn no_store_is_opened_with_a_missing_or_broken_key_file() {
    let (_folder, path) = key_file();
    assert!(KeyStore::open(&path).unwrap_err().is_missing());
    for broken in ["", "{", "{}", "{\"keys\": [{}]}"] {
        fs::write(&path, broken).expect("written");
        assert!(KeyStore::open(&path).is_err(), "{broken}");
    }
}

#[test]
fn a_reload_adds_new_keys_and_drops_revoked_ones() {
    let (_folder, path) = key_file();
    let (old, _) = file::create(&path, named("old"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::open(&path).expect("valid");
    let (new, _) = file::create(&path, named("new"), now(), |_| Ok(())).expect("created");
    file::revoke(&path, old.id()).expect("revoked");
    assert!(accepted_id(&store, &old).is_ok() && accepted_id(&store, &new).is_err());
    store.reload_if_changed();
    assert_eq!(accepted_id(&store, &old).unwrap_err(), AuthError::Invalid);
    assert_eq!(accepted_id(&store, &new).as_deref(), Ok(new.id()));
}

#[test]
fn a_broken_or_vanished_file_keeps_the_last_good_set_until_it_is_repaired() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let good = fs::read_to_string(&path).expect("readable");
    let store = KeyStore::open(&path).expect("valid");
    let stranger = ApiKey::generate(KeyKind::Live).expect("random numbers");
    for (broken, said) in
        [("", "line 1"), ("{\"keys\": 1}", "invalid type"), ("{\"keys\": [{}]}", "/keys/0/id is missing")]
    {
        replace(&path, broken);
        for _ in 0..2 {
            store.reload_if_changed();
            assert!(store.problem().is_some_and(|problem| problem.contains(said)), "{:?}", store.problem());
            assert!(accepted_id(&store, &key).is_ok());
            assert!(accepted_id(&store, &stranger).is_err() && store.authenticate("", now).is_err());
        }
        replace(&path, &good);
        store.reload_if_changed();
        assert_eq!(store.problem(), None);
    }
    fs::remove_file(&path).expect("removed");
    store.reload_if_changed();
    assert!(store.problem().is_some_and(|problem| problem.contains("there is no key file")));
    assert!(accepted_id(&store, &key).is_ok());
    fs::write(&path, "{\"keys\": []}").expect("written");
    store.reload_if_changed();
    assert_eq!((store.problem(), accepted_id(&store, &key).unwrap_err()), (None, AuthError::Invalid));
}

#[test]
fn a_change_is_noticed_even_if_size_and_modification_time_stay_the_same() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    let set_time = || fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(long_ago));
    set_time().expect("a time");
    let store = KeyStore::open(&path).expect("valid");
    let text = fs::read_to_string(&path).expect("readable");
    let digest_start = text.find("\"sha256\": \"").expect("a hash") + "\"sha256\": \"".len();
    let mut other = text.clone();
    other.replace_range(digest_start..digest_start + 64, &"0".repeat(64));
    fs::write(&path, &other).expect("written");
    set_time().expect("a time");
    store.reload_if_changed();
    assert_eq!(accepted_id(&store, &key).unwrap_err(), AuthError::Invalid);
}

#[test]
fn used_quota_survives_a_reload_and_a_changed_rate() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, NewKey { rate: "5".parse().expect("a rate"), ..named("a") }, now(), |_| Ok(()))
        .expect("created");
    let store = KeyStore::open(&path).expect("valid");
    let moment = Instant::now();
    let spend = || store.authenticate(key.expose(), now).expect("accepted").spend(moment).expect("a limit");
    assert_eq!((spend().remaining, spend().remaining), (4, 3));
    file::create(&path, named("b"), now(), |_| Ok(())).expect("created");
    store.reload_if_changed();
    assert_eq!((store.len(), spend().remaining), (2, 2));
    let text = fs::read_to_string(&path).expect("readable");
    replace(&path, &text.replace("\"rate_per_minute\": 5", "\"rate_per_minute\": 3"));
    store.reload_if_changed();
    // Three fifths of a minute's quota are spent.
    assert_eq!((spend().remaining, spend().allowed), (0, false));
}

#[test]
fn a_new_key_works_immediately_and_unknown_ids_cause_at_most_ten_reads_a_second() {
    let (_folder, path) = key_file();
    let (first, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::open(&path).expect("valid");
    let unknown = ApiKey::generate(KeyKind::Live).expect("random numbers");
    let start = Instant::now();
    assert!(!store.look_for(first.expose(), start), "there's no need to look for a known id");
    let (second, _) = file::create(&path, named("b"), now(), |_| Ok(())).expect("created");
    assert_eq!(accepted_id(&store, &second), Err(AuthError::Invalid), "the file hasn't been read again yet");
    assert!(store.look_for(second.expose(), start));
    assert!(accepted_id(&store, &second).is_ok());
    let looks = (0..1000).filter(|ms| store.look_for(unknown.expose(), start + Duration::from_millis(*ms))).count();
    assert_eq!(looks, 9, "one read every 100 ms; the first was for the new key");
}

#[test]
fn development_key_stops_working_once_a_key_file_appears() {
    let (_folder, path) = key_file();
    let development = ApiKey::generate(KeyKind::Development).expect("random numbers");
    let store = KeyStore::development(&development, &path);
    store.reload_if_changed();
    assert_eq!(store.problem(), None);
    let grant = store.authenticate(development.expose(), now).expect("accepted");
    assert_eq!(grant.spend(Instant::now()).expect("a limit").limit, 60_000);
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    store.reload_if_changed();
    assert!(accepted_id(&store, &key).is_ok());
    assert_eq!(accepted_id(&store, &development), Err(AuthError::Invalid));
    fs::remove_file(&path).expect("removed");
    store.reload_if_changed();
    assert!(store.problem().is_some() && accepted_id(&store, &key).is_ok());
    assert_eq!(accepted_id(&store, &development), Err(AuthError::Invalid));
}

#[test]
fn development_key_also_stops_working_if_the_key_file_is_invalid() {
    let write = |path: &Path| fs::write(path, "{").expect("written");
    let link = |path: &Path| std::os::unix::fs::symlink("/nowhere/at/all", path).expect("a link");
    for make in [&write as &dyn Fn(&Path), &link] {
        let (_folder, path) = key_file();
        let development = ApiKey::generate(KeyKind::Development).expect("random numbers");
        let store = KeyStore::development(&development, &path);
        make(&path);
        store.reload_if_changed();
        assert!(store.problem().is_some() && store.is_empty());
        assert_eq!(accepted_id(&store, &development), Err(AuthError::Invalid));
        fs::remove_file(&path).expect("removed");
        store.reload_if_changed();
        assert_eq!(accepted_id(&store, &development), Err(AuthError::Invalid), "the development key mustn't come back");
        let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
        store.reload_if_changed();
        assert!(accepted_id(&store, &key).is_ok() && store.problem().is_none());
    }
}

#[test]
fn a_key_with_origins_works_only_from_those_origins() {
    let (_folder, path) = key_file();
    let origins = vec!["https://example.org".parse().expect("an origin")];
    let (limited, _) = file::create(&path, NewKey { origins, ..named("a") }, now(), |_| Ok(())).expect("created");
    let (open, _) = file::create(&path, named("b"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::open(&path).expect("valid");
    let allows = |key: &ApiKey, origin| store.authenticate(key.expose(), now).expect("accepted").allows_origin(origin);
    assert!(allows(&limited, "https://example.org") && !allows(&limited, "https://example.com"));
    assert!(!allows(&limited, "null"));
    assert!(allows(&open, "https://example.com"));
}

#[test]
fn printing_the_store_shows_no_secrets() {
    let (_folder, path) = key_file();
    let development = ApiKey::generate(KeyKind::Development).expect("random numbers");
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let store = KeyStore::development(&development, &path);
    store.reload_if_changed();
    let grant = store.authenticate(key.expose(), now).expect("accepted");
    for shown in [format!("{store:?}"), format!("{grant:?}")] {
        for key in [&development, &key] {
            let secret = key.expose().rsplit_once('_').expect("a secret").1;
            assert!(!shown.contains(&secret[..22]), "{shown}");
        }
    }
}

#[tokio::test]
async fn the_watcher_picks_up_a_revoked_key_and_stops_at_shutdown() {
    let (_folder, path) = key_file();
    let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let store = Arc::new(KeyStore::open(&path).expect("valid"));
    file::revoke(&path, key.id()).expect("revoked");
    let refused = async {
        while accepted_id(&store, &key).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    // The timeout only stops a test that would otherwise hang.
    tokio::time::timeout(Duration::from_mins(1), watch(Arc::clone(&store), || (), refused)).await.expect("refused");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_key_with_a_wrong_character_is_accepted(at in 0..45_usize, with in any::<char>()) {
        let (_folder, path) = key_file();
        let (key, _) = file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
        let store = KeyStore::open(&path).expect("valid");
        let mut characters: Vec<char> = key.expose().chars().collect();
        prop_assume!(characters[at] != with);
        characters[at] = with;
        let wrong: String = characters.into_iter().collect();
        prop_assert_eq!(store.authenticate(&wrong, now).unwrap_err(), AuthError::Invalid);
    }
}

/// A log that tests can read.
#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn key_file_readable_by_others_is_warned_about_once_per_start_and_mode_change() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = key_file();
    file::create(&path, named("a"), now(), |_| Ok(())).expect("created");
    let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("changed");
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    tracing::subscriber::with_default(subscriber, || {
        set_mode(0o644);
        let store = KeyStore::open(&path).expect("valid");
        store.reload_if_changed();
        set_mode(0o666);
        store.reload_if_changed();
        store.reload_if_changed();
        set_mode(0o600);
        store.reload_if_changed();
    });
    let text = String::from_utf8(log.0.lock().expect("not poisoned").clone()).expect("text");
    assert_eq!(text.matches("WARN").count(), 2, "{text}");
    assert!(text.contains("(mode 0644); run: chmod") && text.contains("changed by every account"), "{text}");
}
