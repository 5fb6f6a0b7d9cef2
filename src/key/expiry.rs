//! When a key expires.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit};
use serde::{Serialize, Serializer};

/// The last moment at which a key is valid, as it was written: the end of a day in UTC, or an exact
/// time, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// Until the end of this day, UTC.
    Day(Date),
    /// Up to and including this moment.
    Time(Timestamp),
}

/// An invalid expiry; the message says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a date or a time; write a date such as `2027-01-31` (valid until the end of that day, UTC) or a time \
     such as `2027-01-31T12:00:00Z`; the command line also accepts a duration from now, such as `90d`"
)]
pub struct ExpiryError(String);

/// The maximum duration from now: a thousand years.
const MAX_HOURS: i64 = 1000 * 366 * 24;

impl Expiry {
    /// Parses anything that [`str::parse`] accepts, or a duration from now: hours (`12h`), days
    /// (`90d`) or weeks (`4w`). Days and weeks run to the end of the last day, UTC.
    pub fn parse_from(text: &str, now: Timestamp) -> Result<Self, ExpiryError> {
        let wrong = || ExpiryError(text.to_owned());
        let split = text.split_at_checked(text.len().saturating_sub(1)).filter(|(digits, _)| is_number(digits));
        let Some((digits, unit)) = split else { return text.parse() };
        let count: i64 = digits.parse().map_err(|_| wrong())?;
        let hours = match unit {
            "h" => count,
            "d" => count.checked_mul(24).ok_or_else(wrong)?,
            "w" => count.checked_mul(24 * 7).ok_or_else(wrong)?,
            _ => return text.parse(),
        };
        if hours > MAX_HOURS {
            return Err(wrong());
        }
        let last = now.checked_add(SignedDuration::from_hours(hours)).map_err(|_| wrong())?;
        let last = last.round(Unit::Second).map_err(|_| wrong())?;
        Ok(if unit == "h" { Self::Time(last) } else { Self::Day(last.to_zoned(TimeZone::UTC).date()) })
    }

    pub fn is_past(self, now: Timestamp) -> bool {
        match self {
            Self::Time(last) => now > last,
            Self::Day(_) => self.end().is_some_and(|end| now >= end),
        }
    }

    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        match (self.end(), other.end()) {
            (Some(end), Some(other_end)) if end <= other_end => self,
            (Some(_), None) => self,
            _ => other,
        }
    }

    /// The moment when a key expires; `None` for the calendar's last day.
    fn end(self) -> Option<Timestamp> {
        match self {
            Self::Time(last) => Some(last),
            Self::Day(day) => Some(day.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp()),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl FromStr for Expiry {
    type Err = ExpiryError;

    fn from_str(text: &str) -> Result<Self, ExpiryError> {
        let wrong = || ExpiryError(text.to_owned());
        // jiff accepts more forms of ISO 8601 than promised here, so the shape is checked first.
        if text.len() == "2027-01-31".len() && crate::record::CalendarDate::parse(text).is_some() {
            return text.parse().map(Self::Day).map_err(|_| wrong());
        }
        let zoned = text.ends_with(['Z', 'z']) || matches!(text.as_bytes().iter().rev().nth(5), Some(b'+' | b'-'));
        if zoned && text.as_bytes().get(10).is_some_and(|byte| b"Tt ".contains(byte)) {
            return text.parse().map(Self::Time).map_err(|_| wrong());
        }
        Err(wrong())
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => day.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::Expiry;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_duration_from_now_is_in_hours_days_or_weeks() {
        let now = at("2026-12-31T23:30:00.5Z");
        for (text, expiry) in
            [("90d", "2027-03-31"), ("4w", "2027-01-28"), ("1h", "2027-01-01T00:30:01Z"), ("2027-01-31", "2027-01-31")]
        {
            assert_eq!(Expiry::parse_from(text, now).map(|expiry| expiry.to_string()), Ok(expiry.to_owned()), "{text}");
        }
        for wrong in ["d", "90", "-1d", "1.5d", "90x", "9999999999999999999d", "999999999999999d", "90D"] {
            assert!(Expiry::parse_from(wrong, now).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_earlier_expiry_is_the_one_that_ends_first() {
        let expiry = |text: &str| text.parse::<Expiry>().expect("an expiry");
        let (day, in_it, after) =
            (expiry("2027-01-31"), expiry("2027-01-31T12:00:00Z"), expiry("2027-02-01T00:00:01Z"));
        for (one, other, first) in
            [(day, in_it, in_it), (in_it, day, in_it), (day, after, day), (expiry("9999-12-31"), day, day)]
        {
            assert_eq!(one.earlier(other), first);
        }
    }

    #[test]
    fn an_exact_time_is_shown_in_utc() {
        let expiry: Expiry = "2027-01-31T12:00:00+02:00".parse().expect("a time");
        assert_eq!(expiry.to_string(), "2027-01-31T10:00:00Z");
    }

    #[test]
    fn a_key_that_expires_on_the_calendars_last_day_never_expires() {
        let expiry: Expiry = "9999-12-31".parse().expect("a day");
        assert!(!expiry.is_past(Timestamp::MAX));
    }

    #[test]
    fn an_invalid_date_is_rejected_with_a_valid_example() {
        for wrong in
            ["2027-02-30", "31.01.2027", "2027-01-31T12:00:00", "2027-01-31T12:00", "tomorrow", "", "2027", "20270131"]
        {
            let error = wrong.parse::<Expiry>().expect_err(wrong);
            assert!(error.to_string().contains("`2027-01-31`"), "{error}");
        }
    }
}
