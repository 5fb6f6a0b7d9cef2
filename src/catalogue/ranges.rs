//! The ranges used for counting numbers and dates: a few round ones that cover all values, each
//! written in filter syntax.

use std::collections::BTreeSet;

use crate::record::{AttributeType, CalendarDate};

/// The maximum number of ranges for numbers. If there are fewer distinct numbers, each is counted
/// separately.
const MOST: usize = 8;

/// The maximum number of date ranges, one per year.
const MOST_YEARS: usize = 100;

/// If the ratio of the largest number to the smallest positive one is at least this, ranges grow
/// with the numbers.
const WIDE: f64 = 50.0;

/// The maximum number of decimals in a range's upper end.
const DECIMALS: usize = 6;

/// The ranges for an attribute's values, given in ascending order. Text and booleans have none.
pub(super) fn ranges<'v>(kind: AttributeType, values: impl Iterator<Item = &'v str>) -> Vec<Box<str>> {
    match kind {
        AttributeType::Text | AttributeType::Boolean => Vec::new(),
        AttributeType::Number => of_numbers(&values.filter_map(|value| value.parse().ok()).collect::<Vec<f64>>()),
        AttributeType::Date => of_days(values.filter_map(|value| Some(CalendarDate::parse(value)?.year())).collect()),
    }
}

fn of_days(years: BTreeSet<u32>) -> Vec<Box<str>> {
    let mut ranges: Vec<Box<str>> = Vec::new();
    for (at, year) in years.into_iter().rev().enumerate() {
        if at == MOST_YEARS - 1 {
            ranges.push(format!("..{year:04}-12-31").into());
            break;
        }
        ranges.push(format!("{year:04}-01-01..{year:04}-12-31").into());
    }
    ranges
}

fn of_numbers(numbers: &[f64]) -> Vec<Box<str>> {
    let ([least, ..], [.., most]) = (numbers, numbers) else { return Vec::new() };
    if numbers.len() <= MOST {
        return numbers.iter().map(|number| written(*number).into()).collect();
    }
    let positive = numbers.iter().copied().find(|number| *number > 0.0).unwrap_or(*most);
    let bounds = if *least >= 0.0 && most / positive >= WIDE { growing(positive, *most) } else { even(*least, *most) };
    let decimals = numbers.iter().map(|number| decimals(*number)).max().unwrap_or(0);
    let ends = bounds.iter().map(|bound| written(before(*bound, decimals))).chain(std::iter::once(String::new()));
    let starts = std::iter::once(String::new()).chain(bounds.iter().map(|bound| written(*bound)));
    starts.zip(ends).map(|(start, end)| format!("{start}..{end}").into()).collect()
}

/// The bounds of ranges with equal widths.
fn even(least: f64, most: f64) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let width = most / MOST as f64 - least / MOST as f64;
    let Some(step) = round_numbers(width).find(|step| *step >= width) else { return Vec::new() };
    let first = (least / step).floor() + 1.0;
    let bounds = (0_u8..).map(|at| (first + f64::from(at)) * step).take(MOST);
    bounds.take_while(|bound| *bound <= most).collect()
}

/// The bounds of growing ranges: 1, 2, 5, 10, …, or powers of ten if that would be too many.
fn growing(least: f64, most: f64) -> Vec<f64> {
    let between = |bound: &f64| *bound > least && *bound <= most;
    let mut bounds: Vec<_> = round_numbers(least).take_while(|bound| *bound <= most).filter(between).collect();
    if bounds.len() >= MOST {
        bounds.retain(|bound| written(*bound).trim_start_matches(['0', '.']).starts_with('1'));
    }
    let excess = bounds.len().saturating_sub(MOST - 1);
    bounds.split_off(excess)
}

/// 1, 2 and 5 times each power of ten, starting with the power at or below a positive number.
fn round_numbers(from: f64) -> impl Iterator<Item = f64> {
    #[expect(clippy::cast_possible_truncation, reason = "from -324 to 308")]
    let first = from.log10().floor() as i32;
    let digits = |power: i32| [1_u8, 2, 5].map(|digit| format!("{digit}e{power}"));
    (first..=308).flat_map(digits).filter_map(|text| text.parse().ok())
}

/// The largest number below a bound that has this many decimals.
fn before(bound: f64, decimals: usize) -> f64 {
    let Some(scale) = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6].get(decimals) else { return bound.next_down() };
    let end = ((bound * scale).round() - 1.0) / scale;
    if end < bound { end } else { bound.next_down() }
}

fn decimals(number: f64) -> usize {
    let text = number.to_string();
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len()).min(DECIMALS + 1)
}

fn written(number: f64) -> String {
    if number != 0.0 && !(1e-6..1e16).contains(&number.abs()) { format!("{number:e}") } else { number.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(values: &[f64]) -> Vec<String> {
        of_numbers(values).into_iter().map(String::from).collect()
    }

    #[test]
    fn a_few_distinct_numbers_are_counted_individually() {
        assert_eq!(numbers(&[0.0, 2.5, 100.0]), ["0", "2.5", "100"]);
        assert!(numbers(&[]).is_empty());
    }

    #[test]
    fn numbers_close_together_get_ranges_of_equal_width() {
        let values: Vec<_> = (1..=40_u8).map(f64::from).collect();
        assert_eq!(
            numbers(&values),
            ["..4", "5..9", "10..14", "15..19", "20..24", "25..29", "30..34", "35..39", "40.."]
        );
        let values: Vec<_> = (-5..5_i8).map(|n| f64::from(n) / 4.0).collect();
        assert_eq!(
            numbers(&values),
            ["..-1.01", "-1..-0.51", "-0.5..-0.01", "0..0.49", "0.5..0.99", "1.."],
            "a quarter has two decimals"
        );
    }

    #[test]
    fn numbers_far_apart_get_growing_ranges() {
        let values: Vec<_> = (1..=20_u8).map(|n| f64::from(n).powi(2)).collect();
        assert_eq!(numbers(&values), ["..1", "2..4", "5..9", "10..19", "20..49", "50..99", "100..199", "200.."]);
        let values: Vec<_> = (0..=9).map(|power| 10_f64.powi(power) * 3.0).collect();
        let ranges = numbers(&values);
        assert_eq!((ranges.len(), &*ranges[0], &*ranges[1]), (8, "..999", "1000..9999"));
    }

    #[test]
    fn days_are_counted_by_year_newest_first() {
        let days = ["1999-12-31", "2024-01-01", "2024-05-01", "2025-01-01"];
        let found = ranges(AttributeType::Date, days.into_iter());
        assert_eq!(
            found.iter().map(|range| &**range).collect::<Vec<_>>(),
            ["2025-01-01..2025-12-31", "2024-01-01..2024-12-31", "1999-01-01..1999-12-31"]
        );
        let days: Vec<_> = (0..200).map(|year| format!("{:04}-01-01", 1800 + year)).collect();
        let found = ranges(AttributeType::Date, days.iter().map(String::as_str));
        assert_eq!((found.len(), &*found[99]), (MOST_YEARS, "..1900-12-31"));
    }

    proptest! {
        #[test]
        fn every_number_is_in_exactly_one_range(
            mut values in prop_oneof![
                prop::collection::vec((-1000..1000_i32).prop_map(|n| f64::from(n) / 8.0), 0..40),
                prop::collection::vec((0..9_u32, -9..9_i32).prop_map(|(n, power)| f64::from(n) * 10_f64.powi(power)), 0..40),
                prop::collection::vec(prop::num::f64::NORMAL, 0..40),
            ],
        ) {
            values.sort_by(f64::total_cmp);
            values.dedup();
            let found = of_numbers(&values);
            prop_assert!(found.len() <= MOST + 2);
            let ranges: Vec<_> = found.iter().map(|range| AttributeType::Number.range(range).expect("a range")).collect();
            for value in values {
                let key = AttributeType::Number.key(&written(value)).expect("a number");
                let has = |range: &&crate::record::KeyRange| {
                    range.from.as_ref().is_none_or(|from| *from <= key) && range.to.as_ref().is_none_or(|to| key <= *to)
                };
                prop_assert_eq!(ranges.iter().filter(has).count(), 1, "{} in {:?}", value, &found);
            }
        }
    }
}
