//! How well a record's claims are backed up, and as of when.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use askama::Template;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

use super::language::Texts;
use super::links;
use crate::catalogue::resource::{EvidenceResource, SoftwareDetail, SoftwareItem};
use crate::record::{EvidenceStatus, claim};

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

/// The sources of single claims, numbered as the page's template mentions them.
#[derive(Debug, Template)]
#[template(path = "parts/citations.html")]
pub(super) struct Citations<'a> {
    t: &'static Texts,
    /// What's said of each source: when it was checked, and what it says.
    cited: RefCell<Vec<Vec<&'a EvidenceResource<'a>>>>,
}

/// The numbers after a claim, which link to its sources.
#[derive(Debug, Template)]
#[template(path = "parts/marks.html")]
pub(super) struct Marks {
    t: &'static Texts,
    numbers: BTreeSet<usize>,
}

impl<'a> Citations<'a> {
    pub(super) fn new(t: &'static Texts) -> Self {
        Self { t, cited: RefCell::default() }
    }

    pub(super) fn marks(&self, product: &'a SoftwareDetail<'_>, property: &str) -> Marks {
        let mut cited = self.cited.borrow_mut();
        let of_claim = product.detail.evidence.iter().filter(|(of, _)| claim(of) == property);
        let number = |source: &'a EvidenceResource<'_>| {
            let is_same = |of: &Vec<&EvidenceResource<'_>>| of.iter().any(|of| of.source == source.source);
            let at = cited.iter().position(is_same).unwrap_or(cited.len());
            match cited.get_mut(at) {
                Some(of) if of.contains(&source) => {}
                Some(of) => of.push(source),
                None => cited.push(vec![source]),
            }
            at + 1
        };
        let numbers: BTreeSet<_> = of_claim.flat_map(|(_, sources)| sources).map(number).collect();
        Marks { t: self.t, numbers }
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
