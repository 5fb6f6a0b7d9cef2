//! Calendar dates, in the form that exports use.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A date that exists in the (proleptic Gregorian) calendar, `YYYY-MM-DD`.
///
/// Stored as `year * 10_000 + month * 100 + day`, so that numbers sort like dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct CalendarDate(u32);

impl TryFrom<u32> for CalendarDate {
    type Error = &'static str;

    /// Checks a stored number, which may be damaged.
    fn try_from(number: u32) -> Result<Self, &'static str> {
        let parts = (i16::try_from(number / 10_000), i8::try_from(number / 100 % 100), i8::try_from(number % 100));
        let (Ok(year), Ok(month), Ok(day)) = parts else { return Err("it isn't a date") };
        jiff::civil::Date::new(year, month, day).map(Self::from).map_err(|_| "it isn't a date")
    }
}

impl CalendarDate {
    /// Whether a string has the form `YYYY-MM-DD` (four, two and two ASCII digits). The date may
    /// not exist.
    pub fn has_form(text: &str) -> bool {
        let is_right = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
        text.len() == 10 && text.bytes().enumerate().all(is_right)
    }

    /// Parses `YYYY-MM-DD`. `None` for any other form, or for a date that doesn't exist, such as
    /// 2025-02-30.
    pub fn parse(text: &str) -> Option<Self> {
        let date: jiff::civil::Date = Some(text).filter(|text| Self::has_form(text))?.parse().ok()?;
        Some(date.into())
    }

    /// From 0 to 9999.
    pub const fn year(self) -> u32 {
        self.0 / 10_000
    }

    /// From 1 to 4.
    pub const fn quarter(self) -> u32 {
        (self.0 / 100 % 100 - 1) / 3 + 1
    }

    /// The number of full years until another date; 0 if that date is earlier.
    pub const fn full_years_until(self, later: Self) -> u32 {
        later.0.saturating_sub(self.0) / 10_000
    }
}

impl From<jiff::civil::Date> for CalendarDate {
    fn from(date: jiff::civil::Date) -> Self {
        Self(
            u32::from(date.year().unsigned_abs()) * 10_000
                + u32::from(date.month().unsigned_abs()) * 100
                + u32::from(date.day().unsigned_abs()),
        )
    }
}

impl fmt::Display for CalendarDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0 / 10_000, self.0 / 100 % 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::CalendarDate;

    #[test]
    fn only_days_that_exist_are_dates() {
        assert_eq!(CalendarDate::parse("2024-02-29").map(|d| d.to_string()).as_deref(), Some("2024-02-29"));
        for wrong in ["2025-02-29", "2025-13-01", "2025-1-01", "2025-01-01 ", "٢٠٢٥-01-01", ""] {
            assert_eq!(CalendarDate::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_year_is_complete_on_its_anniversary() {
        let day = |text| CalendarDate::parse(text).expect("a date");
        let until = |later| day("2024-02-29").full_years_until(day(later));
        assert_eq!(["2025-02-28", "2025-03-01", "2024-12-31", "2023-01-01"].map(until), [0, 1, 0, 0]);
        assert_eq!(["2025-03-31", "2025-04-01", "2025-12-31"].map(|text| day(text).quarter()), [1, 2, 4]);
    }

    #[test]
    fn dates_sort_like_days() {
        let day = |text| CalendarDate::parse(text).expect("a date");
        assert!(day("2024-12-31") < day("2025-01-01"));
        assert!(day("2025-01-31") < day("2025-02-01"));
    }
}
