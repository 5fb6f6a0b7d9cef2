//! Turns a key file's content into keys, or into a list of everything that's wrong with it.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{KeyFile, KeyFileError, KeyFinding, KeyRecord, digest_from_hexadecimal};
use crate::key::format::{self, ID_LENGTH};
use crate::key::quota::UNLIMITED;
use crate::key::{Expiry, Origin, Rate};

const PROPERTIES: [&str; 7] = ["id", "name", "sha256", "created_at", "expires_at", "rate_per_minute", "origins"];
/// The maximum length of a key's name, in characters.
pub(super) const MAX_NAME_LENGTH: usize = 200;

/// The document's shape only. Deserializing into a type lets serde report an error's line and
/// column, and reject duplicate properties.
#[derive(Deserialize)]
#[serde(expecting = "an object such as {\"keys\": []}")]
struct Document {
    keys: Vec<Entry>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(expecting = "a key: an object with `id`, `name`, `sha256` and `created_at`")]
struct Entry {
    id: Option<Value>,
    name: Option<Value>,
    sha256: Option<Value>,
    created_at: Option<Value>,
    expires_at: Option<Value>,
    rate_per_minute: Option<Value>,
    origins: Option<Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

pub(super) fn check(path: &Path, content: &[u8]) -> Result<KeyFile, KeyFileError> {
    let document: Document = serde_json::from_slice(content).map_err(|error| KeyFileError::Syntax {
        path: path.to_owned(),
        // serde quotes what it found, which may be a key.
        reason: format::without_keys(&error.to_string()),
    })?;
    let mut findings = Vec::new();
    let keys: Vec<_> = document
        .keys
        .into_iter()
        .enumerate()
        .map(|(at, entry)| check_entry(entry, &mut Findings { pointer: format!("/keys/{at}"), found: &mut findings }))
        .collect();
    find_duplicates(&keys, &mut findings);
    // A key that is missing here has already produced a finding.
    if findings.is_empty() {
        Ok(KeyFile { keys: keys.into_iter().flatten().collect(), other: document.other })
    } else {
        Err(KeyFileError::Invalid { path: path.to_owned(), findings })
    }
}

/// One key's problems.
struct Findings<'a> {
    pointer: String,
    found: &'a mut Vec<KeyFinding>,
}

impl Findings<'_> {
    fn add(&mut self, property: &str, message: impl AsRef<str>) {
        let message = format::without_keys(message.as_ref());
        self.found.push(KeyFinding { pointer: format!("{}/{property}", self.pointer), message });
    }

    /// The value of a required property, which must be a string in the right form.
    fn text<T>(
        &mut self,
        property: &str,
        value: Option<&Value>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let read = match value {
            None => Err("is missing".to_owned()),
            Some(Value::String(text)) => read(text),
            Some(other) => Err(format!("must be a string, not {other}")),
        };
        read.map_err(|message| self.add(property, message)).ok()
    }
}

fn check_entry(entry: Entry, findings: &mut Findings<'_>) -> Option<KeyRecord> {
    for name in entry.other.keys() {
        // If `expires_at` is misspelled, the key must not end up without an expiry. Other unknown
        // properties are the operator's own.
        if let Some(meant) = misspelled(name) {
            findings.add(
                &name.replace('~', "~0").replace('/', "~1"),
                format!("is not a property of a key; write `{meant}`"),
            );
        }
    }
    let id = findings.text("id", entry.id.as_ref(), read_id);
    let name = findings.text("name", entry.name.as_ref(), |text| check_name(text).map(|()| text.into()));
    let digest = findings.text("sha256", entry.sha256.as_ref(), |text| {
        digest_from_hexadecimal(text).ok_or_else(|| "must be 64 hexadecimal digits".to_owned())
    });
    let created_at = findings.text("created_at", entry.created_at.as_ref(), |text| {
        text.parse().map_err(|_| format!("must be a time such as 2026-01-31T09:30:00Z, not `{text}`"))
    });
    let expires = match &entry.expires_at {
        None => Some(None),
        value => findings
            .text("expires_at", value.as_ref(), |text| text.parse::<Expiry>().map_err(|error| error.to_string()))
            .map(Some),
    };
    let rate = match &entry.rate_per_minute {
        None => Some(Rate::DEFAULT),
        Some(value) => {
            let is_unlimited = value.as_str() == Some(UNLIMITED);
            let rate = if is_unlimited { Some(Rate::UNLIMITED) } else { value.as_u64().and_then(Rate::new) };
            if rate.is_none() {
                findings.add(
                    "rate_per_minute",
                    format!("must be a whole number from 1 to {}, or \"{UNLIMITED}\", not {value}", Rate::MAX),
                );
            }
            rate
        }
    };
    let origins = check_origins(entry.origins.as_ref(), findings);
    Some(KeyRecord {
        id: id?,
        name: name?,
        digest: digest?,
        created_at: created_at?,
        expires: expires?,
        rate: rate?,
        origins: origins?,
        other: entry.other,
    })
}

fn read_id(text: &str) -> Result<Box<str>, String> {
    if text.len() == ID_LENGTH && format::is_base62(text) {
        Ok(text.into())
    } else {
        Err(format!("must be the {ID_LENGTH} letters and digits after `sd_live_`, not `{text}`"))
    }
}

/// Checks that a name is suitable for lists and logs.
pub(super) fn check_name(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("must not be empty; say whose key it is".to_owned())
    } else if text.chars().count() > MAX_NAME_LENGTH {
        Err(format!("must have at most {MAX_NAME_LENGTH} characters"))
    } else if text.chars().any(char::is_control) {
        Err("must not contain line breaks or other control characters".to_owned())
    } else {
        Ok(())
    }
}

fn check_origins(value: Option<&Value>, findings: &mut Findings<'_>) -> Option<Vec<Origin>> {
    match value {
        None => Some(Vec::new()),
        Some(Value::Array(origins)) => {
            let read = |(at, value): (usize, &Value)| {
                findings.text(&format!("origins/{at}"), Some(value), |text| {
                    text.parse().map_err(|error: crate::key::OriginError| error.to_string())
                })
            };
            // Parse all origins first, so that every invalid one is reported, not just the first.
            let read: Vec<Option<Origin>> = origins.iter().enumerate().map(read).collect();
            read.into_iter().collect()
        }
        Some(other) => {
            findings
                .add("origins", format!("must be an array of origins such as \"https://example.org\", not {other}"));
            None
        }
    }
}

/// The property that a misspelled name was probably meant to be.
fn misspelled(name: &str) -> Option<&'static str> {
    let bare = |name: &str| name.to_ascii_lowercase().replace(['_', '-', ' '], "");
    let written = bare(name);
    match written.as_str() {
        "expires" | "expiry" | "expiresat" | "expiration" | "validuntil" | "notafter" => return Some("expires_at"),
        "rate" | "ratelimit" | "limit" | "perminute" => return Some("rate_per_minute"),
        "hash" | "digest" | "key" | "secret" => return Some("sha256"),
        "alloworigins" | "allowedorigins" => return Some("origins"),
        _ => {}
    }
    // Changing two letters can turn a short name into another word (`note`, `name`).
    PROPERTIES.into_iter().find(|known| {
        let allowed = if known.len() >= 6 { 2 } else { usize::from(known.len() > 2) };
        strsim::osa_distance(&written, &bare(known)) <= allowed
    })
}

fn find_duplicates(keys: &[Option<KeyRecord>], findings: &mut Vec<KeyFinding>) {
    let mut ids = HashMap::new();
    let mut digests = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        let Some(key) = key else { continue };
        if let Some(first) = ids.insert(&key.id, at) {
            findings.push(KeyFinding {
                pointer: format!("/keys/{at}/id"),
                message: format!("`{}` is also the id of /keys/{first}; remove one of the two", key.id),
            });
        } else if let Some(first) = digests.insert(key.digest, at) {
            findings.push(KeyFinding {
                pointer: format!("/keys/{at}/sha256"),
                message: format!("is also the hash of /keys/{first}; remove one of the two"),
            });
        }
    }
}
