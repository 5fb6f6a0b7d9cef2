//! Queries without hits: counted while a server runs, kept in a file, and reported with the nearest
//! terms in a directory.
//!
//! ```text
//! a search without hits ─▶ normal form ─▶ EmptyQueries ─▶ file ─▶ propose ─▶ synonyms
//! ```
//!
//! Nothing about the caller is stored with a query: no key, no address, and no time except for the
//! days when the query was first and last counted. Queries that may contain personal data or a
//! secret aren't counted, and rare queries never leave the server's memory.

mod propose;

pub use propose::{NearKind, NearTerm, Proposal, Proposer, Synonym, synonyms};

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::text::printable::has_hidden;

/// Queries counted less often aren't reported or written, because they may come from a single
/// person.
pub const MIN_COUNT: u32 = 3;

/// Maximum number of distinct queries counted. Beyond that, the rarer half is removed.
const MAX_QUERIES: usize = 10_000;

/// Within this time, a query is counted only once, so that a single visitor repeating it doesn't
/// make it look frequent.
const ONCE_IN: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyQuery {
    /// The query in normal form.
    pub query: String,
    pub count: u32,
    /// The day of the first count, UTC.
    pub first_day: Date,
    /// The day of the last count, UTC.
    pub last_day: Date,
}

/// Counts queries without hits; shared by all requests.
#[derive(Debug, Default)]
pub struct EmptyQueries(Mutex<HashMap<String, QueryCount>>);

#[derive(Debug)]
struct QueryCount {
    query: EmptyQuery,
    /// When this process last counted the query.
    counted_at: Option<Instant>,
}

impl QueryCount {
    const fn rank(&self) -> (u32, Date) {
        (self.query.count, self.query.last_day)
    }
}

impl EmptyQueries {
    /// Resumes from saved counts. Drops queries that wouldn't be counted now.
    pub fn of(kept: Vec<EmptyQuery>) -> Self {
        let entry = |kept: EmptyQuery| {
            let query = normal(&kept.query)?;
            Some((query.clone(), QueryCount { query: EmptyQuery { query, ..kept }, counted_at: None }))
        };
        Self(Mutex::new(kept.into_iter().filter_map(entry).take(MAX_QUERIES).collect()))
    }

    /// Counts a query without hits, unless it may be personal or was counted recently.
    pub fn count(&self, query: &str, now: Instant, day: Date) {
        let Some(query) = normal(query) else { return };
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get_mut(&*query) {
            if entry.counted_at.is_none_or(|at| now.saturating_duration_since(at) >= ONCE_IN) {
                entry.query.count = entry.query.count.saturating_add(1);
                (entry.query.last_day, entry.counted_at) = (day.max(entry.query.last_day), Some(now));
            }
            return;
        }
        if entries.len() >= MAX_QUERIES {
            let mut ranks: Vec<_> = entries.values().map(QueryCount::rank).collect();
            let (_, median, _) = ranks.select_nth_unstable(MAX_QUERIES / 2);
            let median = *median;
            entries.retain(|_, entry| entry.rank() > median);
        }
        let counted = EmptyQuery { query: query.clone(), count: 1, first_day: day, last_day: day };
        entries.insert(query, QueryCount { query: counted, counted_at: Some(now) });
    }

    /// The queries counted often enough to be reported, highest count first.
    pub fn frequent(&self) -> Vec<EmptyQuery> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = entries.values().map(|entry| &entry.query);
        let mut queries: Vec<_> = counted.filter(|query| query.count >= MIN_COUNT).cloned().collect();
        drop(entries);
        queries.sort_by(|a, b| (Reverse(a.count), &a.query).cmp(&(Reverse(b.count), &b.query)));
        queries
    }
}

/// The file's format. Other formats are rejected.
const FORMAT: u32 = 1;
/// Maximum size of a file in bytes, which is more than enough for the maximum number of queries.
const MAX_BYTES: u64 = 8 << 20;

#[derive(Debug, thiserror::Error)]
pub enum QueryFileError {
    #[error("it isn't a regular file; specify a different one")]
    NotAFile,
    #[error("the file can't be read")]
    Unreadable(#[from] io::Error),
    #[error(
        "the file is larger than {MAX_BYTES} bytes, so it can't have been written by a server; specify a different one"
    )]
    TooLarge,
    #[error(
        "the file doesn't contain queries without hits as written by `serve --empty-queries FILE`; specify a different one"
    )]
    Other(#[from] serde_json::Error),
    #[error("the file has format {0}, but this version only reads format {FORMAT}; specify a different one")]
    Format(u32),
}

#[derive(Serialize, Deserialize)]
struct QueryFile {
    format: u32,
    queries: Vec<EmptyQuery>,
}

/// Reads a file; `None` if it doesn't exist.
pub fn read(path: &Path) -> Result<Option<Vec<EmptyQuery>>, QueryFileError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(QueryFileError::TooLarge);
    }
    let QueryFile { format, queries } = serde_json::from_slice(&bytes)?;
    if format != FORMAT {
        return Err(QueryFileError::Format(format));
    }
    // The file may have been edited by hand, so a query may be as long as the file.
    Ok(Some(queries.into_iter().filter(|of| normal(&of.query).is_some()).collect()))
}

pub fn to_json(queries: &[EmptyQuery]) -> Result<Vec<u8>, QueryFileError> {
    let mut text = serde_json::to_vec_pretty(&QueryFile { format: FORMAT, queries: queries.to_vec() })?;
    text.push(b'\n');
    Ok(text)
}

/// Maximum length in characters. Real queries are shorter; pasted text is often longer.
const MAX_CHARACTERS: usize = 64;
const MAX_WORDS: usize = 8;
const MAX_WORD_CHARACTERS: usize = 40;
/// A query with this many digits may contain a telephone number, a full date of birth or a customer
/// number, and isn't counted.
const PRIVATE_DIGITS: usize = 7;
/// A run of letters and digits with this many characters may be a secret.
const SECRET_CHARACTERS: usize = 12;

/// Converts a query to lower case with single spaces. `None` if it isn't counted because it's empty
/// or long, or contains an e-mail or web address, an IP address, many digits, or something that
/// looks like a key or a password.
pub fn normal(query: &str) -> Option<String> {
    if query.chars().nth(2 * MAX_CHARACTERS).is_some() {
        return None;
    }
    let words: Vec<&str> = query.split_whitespace().collect();
    let normal = words.join(" ").to_lowercase();
    let is_counted = !normal.is_empty()
        && words.len() <= MAX_WORDS
        && normal.chars().count() <= MAX_CHARACTERS
        && !has_hidden(&normal)
        && !words.iter().any(|word| is_private(word))
        && !has_many_digits(&normal);
    is_counted.then_some(normal)
}

fn is_private(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.contains('@')
        || word.contains("://")
        || word.to_lowercase().contains("sd_")
        || word.chars().count() > MAX_WORD_CHARACTERS
        || bare.parse::<IpAddr>().is_ok()
        || word.split(|c: char| !c.is_alphanumeric()).any(is_secret)
}

fn is_secret(run: &str) -> bool {
    let digits = run.chars().filter(char::is_ascii_digit).count();
    let letters = run.chars().filter(|c| c.is_alphabetic()).count();
    let is_start = |(a, b): &(char, char)| a.is_lowercase() && b.is_uppercase();
    let capitals_within = run.chars().zip(run.chars().skip(1)).filter(is_start).count();
    run.chars().count() >= SECRET_CHARACTERS && ((digits >= 2 && letters >= 2) || capitals_within >= 3)
}

/// Whether there are many digits in a row, ignoring the separators in telephone numbers and dates.
fn has_many_digits(text: &str) -> bool {
    let mut digits = 0;
    for c in text.chars() {
        if c.is_numeric() {
            digits += 1;
        } else if !matches!(c, ' ' | '.' | '-' | '/' | '(' | ')' | '+') {
            digits = 0;
        }
        if digits >= PRIVATE_DIGITS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    /// Counts a query `times` times, far enough apart that each one counts.
    fn count(queries: &EmptyQueries, query: &str, times: u32, start: Instant) {
        for time in 0..times {
            queries.count(query, start + ONCE_IN * time, date(2026, 11, 20));
        }
    }

    fn counts(queries: &EmptyQueries) -> Vec<(String, u32)> {
        queries.frequent().into_iter().map(|query| (query.query, query.count)).collect()
    }

    #[test]
    fn only_frequent_queries_are_reported_and_spellings_are_merged() {
        let (queries, now) = (EmptyQueries::default(), Instant::now());
        count(&queries, "rare", MIN_COUNT - 1, now);
        count(&queries, "Lone  Worker", 2, now);
        count(&queries, "lone worker", 2, now + ONCE_IN * 2);
        assert_eq!(counts(&queries), [("lone worker".to_owned(), 4)]);
        count(&queries, "rare", 1, now + ONCE_IN * 2);
        assert_eq!(counts(&queries).len(), 2);
    }

    #[test]
    fn repetitions_within_a_short_time_count_once() {
        let (queries, now) = (EmptyQueries::default(), Instant::now());
        for second in 0..599 {
            queries.count("again", now + Duration::from_secs(second), date(2026, 11, 20));
        }
        assert_eq!(counts(&queries), []);
        count(&queries, "again", 2, now + ONCE_IN);
        assert_eq!(counts(&queries), [("again".to_owned(), 3)]);
    }

    #[test]
    fn counting_resumes_from_saved_counts() {
        let (first_day, last_day) = (date(2026, 10, 1), date(2026, 11, 2));
        let kept = EmptyQuery { query: "ladder".into(), count: 7, first_day, last_day };
        let personal = EmptyQuery { query: "jo@example.org".into(), ..kept.clone() };
        let queries = EmptyQueries::of(vec![kept.clone(), personal]);
        queries.count("Ladder", Instant::now(), date(2026, 11, 20));
        assert_eq!(queries.frequent(), [EmptyQuery { count: 8, last_day: date(2026, 11, 20), ..kept }]);
    }

    #[test]
    fn a_flood_of_rare_queries_does_not_evict_frequent_ones() {
        let (queries, now) = (EmptyQueries::default(), Instant::now());
        count(&queries, "ladder", 5, now);
        for number in 0..3 * MAX_QUERIES {
            queries.count(&format!("flood {}", letters(number)), now, date(2026, 11, 20));
        }
        assert!(queries.0.lock().expect("no panic").len() <= MAX_QUERIES);
        assert_eq!(counts(&queries), [("ladder".to_owned(), 5)]);
    }

    fn letters(mut number: usize) -> String {
        let mut letters = String::new();
        for _ in 0..6 {
            letters.push(char::from(b'a' + u8::try_from(number % 26).expect("a letter")));
            number /= 26;
        }
        letters
    }

    #[test]
    fn queries_are_counted_in_normal_form() {
        for (query, form) in [
            ("  Lone\tWorker  ", "lone worker"),
            ("ISO 45001:2018", "iso 45001:2018"),
            ("ISO 9001 and ISO 14001", "iso 9001 and iso 14001"),
            ("\"Permit-to-Work\" -paper", "\"permit-to-work\" -paper"),
            ("Arbeitsschutzmanagementsystem", "arbeitsschutzmanagementsystem"),
            ("c++ 2024", "c++ 2024"),
            ("安全", "安全"),
        ] {
            assert_eq!(normal(query).as_deref(), Some(form));
        }
    }

    #[test]
    fn queries_that_may_be_personal_or_secret_are_not_counted() {
        for private in [
            "jo@example.org",
            "mail jo @ example.org",
            "+49 (170) 123-4567",
            "0170 1234567",
            "born 24.11.1980",
            "order 4711000123",
            "10.0.0.1",
            "[fe80::1]",
            "https://intranet.example/?token=x",
            "sd_live_abc",
            "aB3dE5fG7hI9",
            "correctHorseBatteryStaple",
            "550e8400-e29b-41d4-a716-446655440000",
            "a\u{202e}b",
            "",
            "one two three four five six seven eight nine",
            &"word ".repeat(8).replace("word", "wordwordword"),
            &"a".repeat(41),
        ] {
            assert_eq!(normal(private), None, "{private}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_short_and_normalising_it_again_changes_nothing(query in "\\PC{0,80}") {
            if let Some(form) = normal(&query) {
                prop_assert!(form.chars().count() <= MAX_CHARACTERS && !form.contains('@'));
                prop_assert!(normal(&form).is_none_or(|again| again == form));
            }
        }
    }
}
