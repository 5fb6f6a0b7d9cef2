//! Counts queries without hits in memory, within limits.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::normal;

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
pub struct EmptyQueries(Mutex<HashMap<Box<str>, QueryCount>>);

#[derive(Debug)]
struct QueryCount {
    count: u32,
    first_day: Date,
    last_day: Date,
    /// When this process last counted the query.
    counted_at: Option<Instant>,
}

impl QueryCount {
    const fn rank(&self) -> (u32, Date) {
        (self.count, self.last_day)
    }
}

impl EmptyQueries {
    /// Resumes from saved counts. Drops queries that wouldn't be counted now.
    pub fn of(kept: Vec<EmptyQuery>) -> Self {
        let entry = |kept: EmptyQuery| {
            let EmptyQuery { query, count, first_day, last_day } = kept;
            Some((normal(&query)?.into(), QueryCount { count, first_day, last_day, counted_at: None }))
        };
        Self(Mutex::new(kept.into_iter().filter_map(entry).take(MAX_QUERIES).collect()))
    }

    /// Counts a query without hits, unless it may be personal or was counted recently.
    pub fn count(&self, query: &str, now: Instant, day: Date) {
        let Some(query) = normal(query) else { return };
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get_mut(&*query) {
            if entry.counted_at.is_none_or(|at| now.saturating_duration_since(at) >= ONCE_IN) {
                entry.count = entry.count.saturating_add(1);
                (entry.last_day, entry.counted_at) = (day.max(entry.last_day), Some(now));
            }
            return;
        }
        if entries.len() >= MAX_QUERIES {
            let mut ranks: Vec<_> = entries.values().map(QueryCount::rank).collect();
            let (_, median, _) = ranks.select_nth_unstable(MAX_QUERIES / 2);
            let median = *median;
            entries.retain(|_, entry| entry.rank() > median);
        }
        let entry = QueryCount { count: 1, first_day: day, last_day: day, counted_at: Some(now) };
        entries.insert(query.into(), entry);
    }

    /// The queries counted often enough to be reported, highest count first.
    pub fn frequent(&self) -> Vec<EmptyQuery> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let frequent = entries.iter().filter(|(_, entry)| entry.count >= MIN_COUNT).map(|(query, entry)| EmptyQuery {
            query: query.to_string(),
            count: entry.count,
            first_day: entry.first_day,
            last_day: entry.last_day,
        });
        let mut queries: Vec<_> = frequent.collect();
        drop(entries);
        queries.sort_by(|a, b| (Reverse(a.count), &a.query).cmp(&(Reverse(b.count), &b.query)));
        queries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

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
}
