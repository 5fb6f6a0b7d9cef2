//! `keys create | list | rotate | revoke`: the key file from the command line.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use jiff::Timestamp;

use super::{Failure, print_error, print_note};
use crate::cli::{KeysArgs, KeysCommand, ListFormat};
use crate::key::file::{self, KeyFile, KeyFileError, KeyRecord, NewKey};
use crate::key::{ApiKey, Expiry, OriginError};
use crate::text::printable::printable;

pub(super) fn run(args: KeysArgs) -> ExitCode {
    let path = args.keys.clone();
    let done = match args.command {
        KeysCommand::Create { name, expires, rate, origin } => {
            new_key(&name, expires.as_deref(), &rate, &origin, Timestamp::now()).and_then(|new| create(&args.keys, new))
        }
        KeysCommand::List { format } => list(&args.keys, format, Timestamp::now()),
        KeysCommand::Rotate { id, overlap } => rotate(&args.keys, &id, &overlap, Timestamp::now()),
        KeysCommand::Revoke { id } => revoke(&args.keys, &id),
    };
    if let Some(warning) = file::exposure(&path) {
        print_note(&format!("warning: {}", printable(&warning)));
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The report of a key file has several lines.
        Err(failure) => {
            print_error(&failure.text);
            ExitCode::from(failure.code)
        }
    }
}

fn wrong_file(error: &KeyFileError) -> Failure {
    Failure { text: error.report(), code: 1 }
}

fn not_printed(error: &io::Error) -> Failure {
    Failure { text: format!("can't write to standard output: {error}"), code: 1 }
}

fn new_key(
    name: &str,
    expires: Option<&str>,
    rate: &str,
    origins: &[String],
    now: Timestamp,
) -> Result<NewKey, Failure> {
    let usage = |option: &str, error: &dyn std::fmt::Display| Failure::usage(format!("--{option}: {error}"));
    let new = NewKey {
        name: name.trim().to_owned(),
        expires: expires
            .map(|text| Expiry::parse_from(text, now))
            .transpose()
            .map_err(|error| usage("expires", &error))?,
        rate: rate.parse().map_err(|error| usage("rate", &error))?,
        origins: origins
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()
            .map_err(|error: OriginError| usage("origin", &error))?,
    };
    new.check_name().map_err(|error| usage("name", &format!("the name {error}")))?;
    match new.expires {
        Some(expiry) if expiry.is_past(now) => {
            Err(usage("expires", &format!("{expiry} is in the past, so the key would never be valid")))
        }
        _ => Ok(new),
    }
}

fn create(path: &Path, new: NewKey) -> Result<(), Failure> {
    check_kept()?;
    let (_, record) = file::create(path, new, Timestamp::now(), show).map_err(|error| wrong_file(&error))?;
    let expires = record.expires.map_or_else(|| "never expires".to_owned(), |expiry| format!("expires {expiry}"));
    print_note(&format!(
        "Key {} for {} is in {}: {}, {expires}. It won't be shown again; keep it safe.",
        record.id,
        printable(&record.name),
        path.display(),
        record.rate
    ));
    Ok(())
}

/// Prints only the key to standard output, so that `KEY=$(software-directory keys create …)` works.
fn show(key: &ApiKey) -> io::Result<()> {
    writeln!(io::stdout(), "{}", key.expose()).and_then(|()| io::stdout().flush())
}

fn rotate(path: &Path, id: &str, overlap: &str, now: Timestamp) -> Result<(), Failure> {
    let old_expires =
        Expiry::parse_from(overlap, now).map_err(|error| Failure::usage(format!("--overlap: {error}")))?;
    check_kept()?;
    let key = ApiKey::parse(id);
    let id = key.as_ref().map_or(id, ApiKey::id);
    let known = KeyFile::read(path).map_err(|error| wrong_file(&error))?;
    let expiry = known.keys().iter().find(|key| *key.id == *id).and_then(|key| key.expires);
    if let Some(expiry) = expiry.filter(|expiry| expiry.is_past(now)) {
        let text =
            format!("the key {id} expired on {expiry}, and its successor would have the same expiry; use keys create");
        return Err(Failure::usage(text));
    }
    let (new, old) = file::rotate(path, id, old_expires, now, show).map_err(|error| wrong_file(&error))?;
    let expires = old.expires.map_or_else(|| "never".to_owned(), |expiry| expiry.to_string());
    print_note(&format!(
        "Key {} for {} replaces {}, which is valid until {expires}. It won't be shown again; keep it safe.",
        new.id,
        printable(&new.name),
        old.id
    ));
    Ok(())
}

/// Refuses to make a key that would be lost.
fn check_kept() -> Result<(), Failure> {
    if !is_discarded() {
        return Ok(());
    }
    let text = "no key was created: standard output is closed or /dev/null, so the key would be lost; \
                send it to a terminal, a file or a pipe";
    Err(Failure { text: text.to_owned(), code: 1 })
}

/// Whether standard output is `/dev/null`. That's also the case if it's closed, because the
/// standard library opens `/dev/null` in its place at startup, so writing never fails.
fn is_discarded() -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from);
    let Ok(stdout) = stdout.and_then(|file| file.metadata()) else { return true };
    let null = std::fs::metadata("/dev/null");
    stdout.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == stdout.rdev())
}

fn list(path: &Path, format: ListFormat, now: Timestamp) -> Result<(), Failure> {
    let file = KeyFile::read(path).map_err(|error| wrong_file(&error))?;
    if format == ListFormat::Json {
        let keys: Vec<_> = file.keys().iter().map(|key| listed(key, now)).collect();
        // An array of objects can always be serialised.
        let json = serde_json::to_string_pretty(&keys).unwrap_or_default();
        return writeln!(io::stdout(), "{json}").map_err(|error| not_printed(&error));
    }
    let header = ["ID", "NAME", "CREATED", "EXPIRES", "RATE", "ORIGINS"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header).chain(file.keys().iter().map(|key| row(key, now))).collect();
    io::stdout().write_all(table(&rows).as_bytes()).map_err(|error| not_printed(&error))?;
    if file.keys().is_empty() {
        print_note(&format!("There are no keys in {}; all requests are rejected.", path.display()));
    }
    Ok(())
}

/// A key as JSON, without its hash. `rate_per_minute` is `null` if there's no limit.
fn listed(key: &KeyRecord, now: Timestamp) -> serde_json::Value {
    let origins: Vec<_> = key.origins.iter().map(ToString::to_string).collect();
    serde_json::json!({
        "id": key.id,
        "name": key.name,
        "created_at": key.created_at.to_string(),
        "expires_at": key.expires.map(|expiry| expiry.to_string()),
        "is_expired": key.expires.is_some_and(|expiry| expiry.is_past(now)),
        "rate_per_minute": key.rate.per_minute(),
        "origins": origins,
    })
}

fn row(key: &KeyRecord, now: Timestamp) -> [String; 6] {
    let expires = match key.expires {
        None => "never".to_owned(),
        Some(expiry) if expiry.is_past(now) => format!("{expiry} (expired)"),
        Some(expiry) => expiry.to_string(),
    };
    let origins: Vec<_> = key.origins.iter().map(ToString::to_string).collect();
    let origins = if origins.is_empty() { "any".to_owned() } else { origins.join(" ") };
    [
        key.id.to_string(),
        printable(&key.name).into_owned(),
        key.created_at.to_string(),
        expires,
        key.rate.to_string(),
        origins,
    ]
}

/// Columns as wide as their widest cell, two spaces apart.
fn table(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect::<Vec<_>>().concat()
}

fn revoke(path: &Path, id: &str) -> Result<(), Failure> {
    // The whole key is also accepted instead of its id.
    let key = ApiKey::parse(id);
    let id = key.as_ref().map_or(id, ApiKey::id);
    let key = file::revoke(path, id).map_err(|error| wrong_file(&error))?;
    print_note(&format!(
        "Key {} for {} has been revoked; a running server will reject it within two seconds.",
        key.id,
        printable(&key.name)
    ));
    Ok(())
}
