//! The section on the age of evidence.

use super::document::{Block, Cell, Histogram, Section, Table};
use crate::record::{CalendarDate, Software};

/// Periods of up to this many quarters are shown in quarters, longer ones in years.
const MAX_QUARTERS: u32 = 12;

/// Maximum number of years that get their own bar; earlier years share one.
const MAX_YEARS: u32 = 20;

/// The ages of all checks, and the number of products without a check.
pub(super) fn section(software: &[&Software], day: CalendarDate) -> Section {
    let stated: Vec<_> = software.iter().filter_map(|software| software.evidence_checked_on.as_deref()).collect();
    let days: Vec<_> = stated.iter().filter_map(|text| CalendarDate::parse(text)).collect();
    let past: Vec<_> = days.iter().copied().filter(|checked| *checked <= day).collect();
    let aged = |years: std::ops::Range<u32>| {
        past.iter().filter(|checked| years.contains(&checked.full_years_until(day))).count()
    };
    let always = [
        ("less than a year", aged(0..1)),
        ("1 to 2 years", aged(1..2)),
        ("2 to 3 years", aged(2..3)),
        ("3 years or more", aged(3..u32::MAX)),
        ("no date given", software.len() - stated.len()),
    ];
    let rare =
        [("a date after this report's", days.len() - past.len()), ("not a calendar date", stated.len() - days.len())];
    let all = always.into_iter().chain(rare.into_iter().filter(|(_, count)| *count > 0));
    let rows = all.map(|(age, count)| vec![Cell::text(age), Cell::Part(count, software.len())]);
    let mut blocks = vec![Block::Table(Table::new(&["Age of the check", "Products"], rows))];
    blocks.extend(histogram(&past, day).map(Block::Histogram));
    Section { title: "Age of evidence", blocks }
}

/// The bars from the first check to the report's day; `None` if there are no checks.
fn histogram(checks: &[CalendarDate], day: CalendarDate) -> Option<Histogram> {
    let first = *checks.iter().min()?;
    let quarter = |day: CalendarDate| day.year() * 4 + day.quarter() - 1;
    let count = |is_in: &dyn Fn(CalendarDate) -> bool| checks.iter().filter(|checked| is_in(**checked)).count();
    if quarter(day) - quarter(first) < MAX_QUARTERS {
        let bars = (quarter(first)..=quarter(day)).map(|number| {
            (format!("{} Q{}", number / 4, number % 4 + 1), count(&|checked| quarter(checked) == number))
        });
        return Some(Histogram { period: "quarter", bars: bars.collect() });
    }
    let from = first.year().max(day.year().saturating_sub(MAX_YEARS - 1));
    let earlier = count(&|checked| checked.year() < from);
    let earlier = (earlier > 0).then(|| (format!("before {from}"), earlier));
    let years = (from..=day.year()).map(|year| (year.to_string(), count(&|checked| checked.year() == year)));
    Some(Histogram { period: "year", bars: earlier.into_iter().chain(years).collect() })
}

#[cfg(test)]
mod tests {
    use super::histogram;
    use crate::record::CalendarDate;

    fn bars(checks: &[&str], day: &str) -> Vec<(String, usize)> {
        let day_of = |text: &str| CalendarDate::parse(text).expect("a day");
        let checks: Vec<_> = checks.iter().map(|text| day_of(text)).collect();
        histogram(&checks, day_of(day)).map(|histogram| histogram.bars).unwrap_or_default()
    }

    #[test]
    fn long_periods_are_shown_in_years_and_early_years_share_a_bar() {
        assert!(bars(&[], "2026-11-24").is_empty());
        assert_eq!(bars(&["2026-09-30", "2026-07-01"], "2026-11-24"), [("2026 Q3".into(), 2), ("2026 Q4".into(), 0)]);
        assert_eq!(bars(&["2024-01-01"], "2026-12-31").len(), 12);
        assert_eq!(bars(&["2023-12-31"], "2026-12-31").len(), 4);
        let long = bars(&["0001-01-01", "2006-12-31", "2007-01-01"], "2026-12-31");
        assert_eq!((long.len(), &long[..2]), (21, &[("before 2007".into(), 2), ("2007".into(), 1)][..]));
    }
}
