//! The values of products' attributes: a dictionary per attribute and, per product, its values as numbers in it (what Lucene calls
//! sorted-set doc values).

use std::ops::Range;

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::Ordinal;
use super::shared_lists::SharedLists;
use crate::record::{Attribute, AttributeType, Attributes, KeyRange, Software};

/// The values of one attribute.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct AttributeColumn {
    /// The keys of all values, sorted.
    keys: Vec<Box<str>>,
    /// Each value as the best product that has it writes it.
    labels: Vec<Box<str>>,
    /// Where the values of each product start in `values`, and where the last one's end. Empty where no product has any.
    bounds: Vec<u32>,
    /// The numbers of the products' values, in the order of the record.
    values: Vec<u32>,
    /// The lists of values that products share.
    #[serde(skip)]
    lists: SharedLists,
}

impl AttributeColumn {
    /// The numbers of the values in a range.
    pub fn find(&self, KeyRange { from, to }: &KeyRange) -> Range<u32> {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let from = from.as_ref().map_or(0, |from| self.keys.partition_point(|key| **key < **from));
        let to = to.as_ref().map_or(self.keys.len(), |to| self.keys.partition_point(|key| **key <= **to));
        number(from)..number(to)
    }

    /// The values of a product, as numbers.
    pub fn of(&self, ordinal: Ordinal) -> &[u32] {
        let at = ordinal as usize;
        match self.bounds.get(at..at + 2) {
            Some(&[start, end]) => &self.values[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Notes which products have the same values, which isn't stored.
    pub(super) fn share_lists(&mut self) {
        let products = self.bounds.len().saturating_sub(1);
        let products = u32::try_from(products).unwrap_or(u32::MAX);
        self.lists = if self.is_empty() {
            SharedLists::default()
        } else {
            SharedLists::new(products, |ordinal| self.of(ordinal))
        };
    }

    /// The lists of values that products share, once these are noted.
    pub(super) const fn lists(&self) -> &SharedLists {
        &self.lists
    }

    pub fn key(&self, value: u32) -> &str {
        &self.keys[value as usize]
    }

    pub fn label(&self, value: u32) -> &str {
        &self.labels[value as usize]
    }

    /// The number of different values.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no product has a value.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether it is the column of that many products.
    pub(super) fn fits(&self, products: usize) -> bool {
        let is_sound = |bounds: &[u32]| {
            bounds.len() == products + 1
                && bounds.is_sorted()
                && bounds.last().is_some_and(|end| *end as usize == self.values.len())
        };
        self.keys.len() == self.labels.len()
            && self.values.iter().all(|value| (*value as usize) < self.keys.len())
            && if self.bounds.is_empty() { self.keys.is_empty() } else { is_sound(&self.bounds) }
    }
}

/// Builds the columns of all attributes; products come in the order of their ordinals.
#[derive(Debug)]
pub(super) struct AttributeColumnsBuilder<'a> {
    attributes: &'a Attributes,
    columns: Vec<ColumnBuilder>,
}

#[derive(Debug, Default)]
struct ColumnBuilder {
    labels: Labels,
    ends: Vec<u32>,
    values: Vec<u32>,
}

/// The values of an attribute so far, numbered by their first products, each as that writes it.
#[derive(Debug, Default)]
struct Labels {
    /// The number of each key.
    numbers: HashMap<Box<str>, u32>,
    labels: Vec<Box<str>>,
}

impl Labels {
    /// Numbers the values of the next product. One that it has twice, in two spellings, counts once.
    fn numbers_of(&mut self, kind: AttributeType, values: &[Box<str>], numbers: &mut Vec<u32>) {
        let start = numbers.len();
        for value in values {
            let Some(key) = kind.key(value) else { continue };
            let next = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(key.into()).or_insert(next);
            if number == next {
                self.labels.push(value.clone());
            }
            if !numbers[start..].contains(&number) {
                numbers.push(number);
            }
        }
    }
}

/// A value of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeValue {
    /// The form in which values are compared.
    pub key: String,
    /// The value as the best product that has it writes it.
    pub label: Box<str>,
}

/// Labels the values of products, which come in the order of their ordinals.
#[derive(Debug)]
pub struct AttributeLabels<'a> {
    attributes: &'a Attributes,
    labels: Vec<Labels>,
}

impl<'a> AttributeLabels<'a> {
    pub fn new(attributes: &'a Attributes) -> Self {
        Self { attributes, labels: attributes.iter().map(|_| Labels::default()).collect() }
    }

    /// The values of the next product, by attribute.
    pub fn of(&mut self, software: &Software) -> Vec<Vec<AttributeValue>> {
        let values = |((_, attribute), labels): ((usize, &Attribute), &mut Labels)| {
            let mut numbers = Vec::new();
            labels.numbers_of(attribute.kind, &attribute.values_of(software), &mut numbers);
            let label = |number: u32| labels.labels[number as usize].clone();
            let value = |label: Box<str>| Some(AttributeValue { key: attribute.kind.key(&label)?, label });
            numbers.into_iter().map(label).filter_map(value).collect()
        };
        self.attributes.iter().zip(&mut self.labels).map(values).collect()
    }
}

impl<'a> AttributeColumnsBuilder<'a> {
    pub(super) fn new(attributes: &'a Attributes) -> Self {
        Self { attributes, columns: attributes.iter().map(|_| ColumnBuilder::default()).collect() }
    }

    /// Adds the next product.
    pub(super) fn push(&mut self, software: &Software) {
        for ((_, attribute), column) in self.attributes.iter().zip(&mut self.columns) {
            column.push(attribute.kind, &attribute.values_of(software));
        }
    }

    pub(super) fn finish(self) -> Vec<AttributeColumn> {
        self.columns.into_iter().map(ColumnBuilder::finish).collect()
    }
}

impl ColumnBuilder {
    fn push(&mut self, kind: AttributeType, values: &[Box<str>]) {
        self.labels.numbers_of(kind, values, &mut self.values);
        self.ends.push(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
    }

    fn finish(mut self) -> AttributeColumn {
        if self.values.is_empty() {
            return AttributeColumn::default();
        }
        let Labels { numbers, mut labels } = self.labels;
        let mut keys: Vec<_> = numbers.into_iter().collect();
        keys.sort_unstable();
        let mut sorted = vec![0; keys.len()];
        for (at, (_, number)) in (0..).zip(&keys) {
            sorted[*number as usize] = at;
        }
        for value in &mut self.values {
            *value = sorted[*value as usize];
        }
        let labels = keys.iter().map(|(_, number)| std::mem::take(&mut labels[*number as usize])).collect();
        let keys = keys.into_iter().map(|(key, _)| key).collect();
        let bounds = std::iter::once(0).chain(self.ends).collect();
        AttributeColumn { keys, labels, bounds, values: self.values, lists: SharedLists::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ValueCounts;

    fn column(products: &[&[&str]]) -> AttributeColumn {
        let mut builder = ColumnBuilder::default();
        for values in products {
            builder.push(AttributeType::Text, &values.iter().map(|value| Box::from(*value)).collect::<Vec<_>>());
        }
        builder.finish()
    }

    fn find(column: &AttributeColumn, value: &str) -> Range<u32> {
        column.find(&AttributeType::Text.range(value).expect("a text"))
    }

    #[test]
    fn value_is_found_in_any_spelling() {
        let column = column(&[&["ISO 9001", "C++"], &[], &["iso-9001", "ISO9001", "C#"]]);
        assert!(column.fits(3) && !column.fits(2));
        let found = find(&column, "Iso_9001");
        assert_eq!(found.len(), 1);
        assert_eq!(column.label(found.start), "ISO 9001", "as the first product writes it");
        assert_eq!(column.of(1), [0; 0]);
        assert_eq!(column.of(2), [found.start, find(&column, "c#").start]);
        assert_ne!(find(&column, "C#"), find(&column, "C++"));
        assert!(find(&column, "C").is_empty());
    }

    #[test]
    fn values_are_counted_in_shared_lists_and_others() {
        let products: [&[&str]; 11] =
            [&["a", "b"], &[], &["a", "b"], &["c"], &["a", "b"], &["b", "a"], &["a", "b"], &[], &["c", "a"], &[], &[]];
        let mut column = column(&products);
        column.share_lists();
        let mut counts = ValueCounts::new(&column);
        // Three of the four which share a list, and all others.
        (0..11).filter(|ordinal| *ordinal != 6).for_each(|ordinal| counts.count(&column, ordinal));
        assert_eq!(counts.by_value(&column), [5, 4, 2]);
    }

    #[test]
    fn column_without_values_is_empty() {
        let column = column(&[&[], &[]]);
        assert!(column.is_empty() && column.fits(2));
        assert_eq!(column.of(1), [0; 0]);
        assert!(find(&column, "").is_empty());
    }
}
