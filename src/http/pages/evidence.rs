//! How well a record's claims are backed up, and as of when.

use std::borrow::Cow;

use askama::Template;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

use super::language::Texts;
use crate::catalogue::resource::SoftwareItem;
use crate::record::EvidenceStatus;

/// Evidence older than this many days counts as old.
const OLD_DAYS: i32 = 365;

/// How long ago a day was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Recent,
    Old,
    /// Later than tomorrow in UTC. Tomorrow's date is valid, as it may already be tomorrow
    /// further east.
    Future,
}

/// Today, in UTC.
pub(in crate::http) fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// `None` if there's no such day.
pub(super) fn age(day: &str, today: Date) -> Option<Age> {
    let day: Date = day.get(..10)?.parse().ok()?;
    let days = day.until(today).ok()?.get_days();
    Some(match days {
        ..-1 => Age::Future,
        _ if days > OLD_DAYS => Age::Old,
        _ => Age::Recent,
    })
}

/// The badge in a list row or a comparison column.
#[derive(Debug, Template)]
#[template(path = "parts/badge.html")]
pub(super) struct Badge<'a> {
    t: &'static Texts,
    label: Cow<'a, str>,
    is_reviewed: bool,
    day: Option<&'a str>,
    age: Option<Age>,
}

impl<'a> Badge<'a> {
    /// `None` for a record awaiting its first review: without a date, the badge adds nothing to a
    /// row.
    pub(super) fn new(t: &'static Texts, item: &'a SoftwareItem<'_>) -> Option<Self> {
        let day = item.evidence_checked_on.as_deref();
        let is_pending = item.evidence_status == EvidenceStatus::PendingReview.as_str();
        if is_pending && day.is_none() {
            return None;
        }
        let is_reviewed = item.evidence_status == EvidenceStatus::VendorSourcesReviewed.as_str();
        let age = day.and_then(|day| age(day, today()));
        Some(Self { t, label: label(t, &item.evidence_status), is_reviewed, day, age })
    }

    fn is_old(&self) -> bool {
        self.age.is_some_and(|age| age != Age::Recent)
    }
}

/// A status in words. Unknown statuses are returned unchanged, since more may be added.
pub(super) fn label<'s>(t: &'static Texts, status: &'s str) -> Cow<'s, str> {
    let known = EvidenceStatus::ALL.into_iter().find(|known| known.as_str() == status);
    known.map_or(Cow::Borrowed(status), |known| match known {
        EvidenceStatus::VendorSourcesReviewed => t.sources_reviewed.into(),
        EvidenceStatus::PendingReview => t.pending_review.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_old_after_a_year_and_a_future_date_is_a_mistake() {
        let today = "2026-03-01".parse().expect("a day");
        for (day, of) in [
            ("2026-03-01", Some(Age::Recent)),
            ("2026-03-02", Some(Age::Recent)),
            ("2026-03-03", Some(Age::Future)),
            ("2025-03-01", Some(Age::Recent)),
            ("2025-02-28", Some(Age::Old)),
            ("2025-02-30", None),
            ("2025", None),
            ("päß", None),
        ] {
            assert_eq!(age(day, today), of, "{day}");
        }
    }
}
