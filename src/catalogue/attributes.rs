//! Product attribute values: one dictionary per attribute, and for each product its values as
//! indices into that dictionary (what Lucene calls sorted-set doc values).

use std::collections::BTreeSet;
use std::ops::Range;

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::{CatalogueBuildError, Ordinal, index};
use crate::record::{AttributeType, Attributes, CalendarDate, KeyRange, Software};

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct AttributeColumn {
    /// The keys of all values, sorted.
    keys: Vec<Box<str>>,
    /// Each value's most common spelling.
    labels: Vec<Box<str>>,
    /// Where each product's values start in `values`, plus where the last product's values end.
    /// Empty if no product has values.
    bounds: Vec<u32>,
    /// All products' value numbers, in record order within each product.
    values: Vec<u32>,
    /// The ranges used for counting, with the value numbers in each. Empty if every value is
    /// counted separately.
    ranges: Vec<(Box<str>, Range<u32>)>,
}

#[expect(clippy::cast_possible_truncation, reason = "values are numbered with 32 bits")]
const fn number(at: usize) -> u32 {
    at as u32
}

impl AttributeColumn {
    /// The value numbers in a range.
    pub fn find(&self, KeyRange { from, to }: &KeyRange) -> Range<u32> {
        let from = from.as_ref().map_or(0, |from| self.keys.partition_point(|key| **key < **from));
        let to = to.as_ref().map_or(self.keys.len(), |to| self.keys.partition_point(|key| **key <= **to));
        number(from)..number(to)
    }

    /// The value numbers for a key, and for the same key with a version: `GPL` also stands for
    /// `GPL-3.0`.
    pub fn find_versions(&self, key: &str) -> impl Iterator<Item = u32> + use<> {
        let start = self.keys.partition_point(|other| **other < *key);
        let from_start = &self.keys[start..];
        let same_start = &from_start[..from_start.partition_point(|other| other.starts_with(key))];
        let before = |rest: &str| number(start + same_start.partition_point(|other| other[key.len()..] < *rest));
        // In ASCII, `:` follows the digits.
        let versions = if key.len() > 1 { before("0")..before(":") } else { 0..0 };
        (number(start)..before("\0")).chain(versions)
    }

    pub fn of(&self, ordinal: Ordinal) -> &[u32] {
        let at = ordinal as usize;
        match self.bounds.get(at..at + 2) {
            Some(&[start, end]) => &self.values[start as usize..end as usize],
            _ => &[],
        }
    }

    pub fn key(&self, value: u32) -> &str {
        &self.keys[value as usize]
    }

    pub fn label(&self, value: u32) -> &str {
        &self.labels[value as usize]
    }

    /// The ranges used for counting, in the form that filters accept. Empty if every value is
    /// counted separately.
    pub fn ranges(&self) -> &[(Box<str>, Range<u32>)] {
        &self.ranges
    }

    /// The number of distinct values.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether the column is consistent and covers this many products.
    pub(super) fn fits(&self, products: usize) -> bool {
        let is_sound = |bounds: &[u32]| {
            bounds.len() == products + 1
                && bounds.is_sorted()
                && bounds.last().is_some_and(|end| *end as usize == self.values.len())
        };
        self.keys.len() == self.labels.len()
            && self.values.iter().all(|value| (*value as usize) < self.keys.len())
            && self.ranges.iter().all(|(_, range)| range.start <= range.end && range.end as usize <= self.keys.len())
            && if self.bounds.is_empty() { self.keys.is_empty() } else { is_sound(&self.bounds) }
    }
}

/// An attribute's values so far, numbered in order of first appearance.
#[derive(Debug, Default)]
struct Labels {
    numbers: HashMap<Box<str>, u32>,
    /// For each value, its first few spellings and how many products use each.
    spellings: Vec<Vec<(Box<str>, u32)>>,
    /// How many products have a value.
    products: u32,
}

/// The maximum number of spellings counted per value.
const MOST_SPELLINGS: usize = 16;

impl Labels {
    /// Numbers the next product's values. A value that's given twice, even in different spellings,
    /// counts once.
    fn numbers_of(&mut self, kind: AttributeType, values: &[Box<str>]) -> Result<Vec<u32>, CatalogueBuildError> {
        let mut numbers = Vec::new();
        for value in values {
            let Some(key) = kind.key(value) else { continue };
            let next = index(self.spellings.len())?;
            let number = *self.numbers.entry(key.into()).or_insert(next);
            if number == next {
                self.spellings.push(Vec::new());
            }
            if numbers.contains(&number) {
                continue;
            }
            numbers.push(number);
            let spellings = &mut self.spellings[number as usize];
            if let Some((_, count)) = spellings.iter_mut().find(|(spelling, _)| spelling == value) {
                *count += 1;
            } else if spellings.len() < MOST_SPELLINGS {
                spellings.push((value.clone(), 1));
            }
        }
        self.products += u32::from(!numbers.is_empty());
        Ok(numbers)
    }

    /// A value's most frequent spelling or, in a tie, the one that the best product uses.
    fn label(&self, number: u32) -> &str {
        let spellings = self.spellings[number as usize].iter().rev();
        spellings.max_by_key(|(_, count)| *count).map_or("", |(spelling, _)| spelling)
    }

    fn sorted(&self) -> Vec<(&str, u32)> {
        let mut sorted: Vec<_> = self.numbers.iter().map(|(key, number)| (&**key, *number)).collect();
        sorted.sort_unstable();
        sorted
    }

    fn summary(&self, kind: AttributeType) -> AttributeSummary {
        // Text has no ranges, so its keys needn't be sorted.
        let sorted = if kind.is_ordered() { self.sorted() } else { Vec::new() };
        let labels = sorted.into_iter().map(|(_, number)| self.label(number));
        AttributeSummary { products: self.products, ranges: ranges(kind, labels) }
    }
}

/// A summary of an attribute's values across the directory's products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeSummary {
    /// How many products have a value.
    pub products: u32,
    /// The ranges used for counting numbers and dates, in the form that filters accept.
    pub ranges: Vec<Box<str>>,
}

/// Numbers product values, which are pushed in ordinal order, and labels them at the end.
#[derive(Debug)]
pub struct AttributeLabels<'a> {
    attributes: &'a Attributes,
    labels: Vec<Labels>,
}

impl<'a> AttributeLabels<'a> {
    pub fn new(attributes: &'a Attributes) -> Self {
        Self { attributes, labels: attributes.iter().map(|_| Labels::default()).collect() }
    }

    /// Returns the numbers of the next product's values, one list per attribute.
    pub fn push(&mut self, software: &Software) -> Result<Vec<Vec<u32>>, CatalogueBuildError> {
        let labels = self.attributes.iter().zip(&mut self.labels);
        labels
            .map(|((_, attribute), labels)| labels.numbers_of(attribute.kind, &attribute.values_of(software)))
            .collect()
    }

    pub fn summaries(&self) -> Vec<AttributeSummary> {
        self.attributes
            .iter()
            .zip(&self.labels)
            .map(|((_, attribute), labels)| labels.summary(attribute.kind))
            .collect()
    }
}

/// Builds the columns for all attributes. Products must be pushed in ordinal order.
#[derive(Debug)]
pub(super) struct AttributeColumnsBuilder<'a> {
    labels: AttributeLabels<'a>,
    columns: Vec<ColumnBuilder>,
}

#[derive(Debug, Default)]
struct ColumnBuilder {
    ends: Vec<u32>,
    values: Vec<u32>,
}

impl<'a> AttributeColumnsBuilder<'a> {
    pub(super) fn new(attributes: &'a Attributes) -> Self {
        let columns = attributes.iter().map(|_| ColumnBuilder::default()).collect();
        Self { labels: AttributeLabels::new(attributes), columns }
    }

    pub(super) fn push(&mut self, software: &Software) -> Result<(), CatalogueBuildError> {
        let numbers = self.labels.push(software)?;
        self.columns.iter_mut().zip(numbers).try_for_each(|(column, numbers)| column.push(&numbers))
    }

    pub(super) fn finish(self) -> (Vec<AttributeColumn>, Vec<AttributeSummary>) {
        let AttributeLabels { attributes, labels } = self.labels;
        let columns = attributes.iter().zip(labels).zip(self.columns);
        columns.map(|(((_, attribute), labels), column)| column.finish(attribute.kind, &labels)).unzip()
    }
}

impl ColumnBuilder {
    /// Adds the numbers of the next product's values.
    fn push(&mut self, numbers: &[u32]) -> Result<(), CatalogueBuildError> {
        self.values.extend_from_slice(numbers);
        self.ends.push(index(self.values.len())?);
        Ok(())
    }

    fn finish(mut self, kind: AttributeType, labels: &Labels) -> (AttributeColumn, AttributeSummary) {
        let summary = labels.summary(kind);
        if self.values.is_empty() {
            return (AttributeColumn::default(), summary);
        }
        let keys = labels.sorted();
        let mut sorted = vec![0; keys.len()];
        for (at, (_, number)) in (0..).zip(&keys) {
            sorted[*number as usize] = at;
        }
        for value in &mut self.values {
            *value = sorted[*value as usize];
        }
        let labels = keys.iter().map(|(_, number)| labels.label(*number).into()).collect();
        let keys = keys.into_iter().map(|(key, _)| key.into()).collect();
        let bounds = std::iter::once(0).chain(self.ends).collect();
        let mut column = AttributeColumn { keys, labels, bounds, values: self.values, ..AttributeColumn::default() };
        let numbers = |range: &str| Some((range.into(), column.find(&kind.range(range)?)));
        column.ranges = summary.ranges.iter().filter_map(|range| numbers(range)).collect();
        (column, summary)
    }
}

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

    fn built(kind: AttributeType, products: &[&[&str]]) -> (AttributeColumn, AttributeSummary) {
        let (mut labels, mut builder) = (Labels::default(), ColumnBuilder::default());
        for values in products {
            let values: Vec<_> = values.iter().map(|value| Box::from(*value)).collect();
            let numbers = labels.numbers_of(kind, &values).expect("few values");
            builder.push(&numbers).expect("few values");
        }
        builder.finish(kind, &labels)
    }

    fn column(products: &[&[&str]]) -> AttributeColumn {
        built(AttributeType::Text, products).0
    }

    fn find(column: &AttributeColumn, value: &str) -> Range<u32> {
        column.find(&AttributeType::Text.range(value).expect("text"))
    }

    #[test]
    fn a_value_is_found_in_any_spelling() {
        let column = column(&[&["ISO 9001", "C++"], &[], &["iso-9001", "ISO9001", "C#"]]);
        assert!(column.fits(3) && !column.fits(2));
        let found = find(&column, "Iso_9001");
        assert_eq!(found.len(), 1);
        assert_eq!(column.label(found.start), "ISO 9001", "on a tie, the first product's spelling");
        assert_eq!(column.of(1), [0; 0]);
        assert_eq!(column.of(2), [found.start, find(&column, "c#").start]);
        assert_ne!(find(&column, "C#"), find(&column, "C++"));
        assert!(find(&column, "C").is_empty());
    }

    #[test]
    fn the_label_is_the_most_frequent_spelling() {
        let column = column(&[&["iso-9001"], &["ISO 9001", "iso-9001"], &["ISO 9001"], &["Iso9001"], &["ISO 9001"]]);
        assert_eq!((column.len(), column.label(0)), (1, "ISO 9001"));
    }

    #[test]
    fn numbers_are_sorted_and_counted_by_range() {
        let numbers: Vec<_> = (0..20).map(|number| (7 * number % 20).to_string()).collect();
        let numbers: Vec<_> = numbers.iter().map(|number| [number.as_str()]).collect();
        let products: Vec<&[&str]> = numbers.iter().map(|of| &of[..]).chain([&[][..]]).collect();
        let (column, summary) = built(AttributeType::Number, &products);
        assert!(column.fits(21));
        assert_eq!(column.of(1), [7]);
        assert_eq!(summary.products, 20);
        let ranges: Vec<_> = column.ranges().iter().map(|(range, numbers)| (&**range, numbers.clone())).collect();
        assert_eq!(&ranges[..2], [("..4", 0..5), ("5..9", 5..10)]);
        assert_eq!(column.find(&AttributeType::Number.range("3..4.5").expect("a range")), 3..5);
    }

    #[test]
    fn a_column_without_values_is_empty() {
        let column = column(&[&[], &[]]);
        assert!(column.is_empty() && column.fits(2));
        assert_eq!(column.of(1), [0; 0]);
        assert!(find(&column, "").is_empty());
    }

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
