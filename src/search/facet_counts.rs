//! Facet counts over the products that a search finds.

use std::cmp::Reverse;
use std::ops::Range;

use crate::catalogue::{Admission, AttributeColumn, Columns, Ordinal, STARS};
use crate::record::AttributeNumber;

/// Maximum number of values per attribute facet; the most frequent are kept.
pub const MAX_ATTRIBUTE_VALUES: usize = 100;

/// Maximum number of categories in a facet; the most frequent are kept.
pub const MAX_CATEGORIES: usize = 1000;

/// How many products in a result have each value. Each facet ignores its own filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetCounts {
    /// Indexed by category.
    pub categories: Vec<u64>,
    /// Indexed by export number.
    pub exports: Vec<u64>,
    /// In the order of `OfferingType::ALL`.
    pub offering_types: [u64; 2],
    /// In the order of `EvidenceStatus::ALL`.
    pub evidence_statuses: [u64; 2],
    /// The number of products with at least one star, at least two stars, and so on.
    pub ratings: [u64; STARS],
    /// The counts for each requested attribute.
    pub attributes: Vec<AttributeCounts>,
    /// Each requested attribute's counts, by value, while products are being counted.
    by_attribute: Vec<(AttributeNumber, Vec<u64>)>,
    /// For each profile, how many products passed the whole filter and aren't yet included in the
    /// counts above.
    passed: Vec<u32>,
    /// For each part in [`Admission::FACETS`], how many products of each profile failed only
    /// that part of the filter.
    passed_but_for: [Vec<u32>; Admission::FACETS.len()],
}

/// How many products have each value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeCounts {
    pub attribute: AttributeNumber,
    /// The most frequent values with their counts, highest first. For numbers and dates, the ranges
    /// that they're grouped into, in their natural order.
    pub values: Vec<(Box<str>, u64)>,
}

impl FacetCounts {
    /// Creates zero counts. Only the given attributes are counted.
    pub fn new(columns: &Columns, attributes: &[AttributeNumber]) -> Self {
        let with_values = attributes.iter().filter(|attribute| !columns.attribute(**attribute).is_empty());
        Self {
            attributes: attributes.iter().map(|of| AttributeCounts { attribute: *of, values: Vec::new() }).collect(),
            by_attribute: with_values.map(|of| (*of, vec![0; columns.attribute(*of).len()])).collect(),
            categories: vec![0; columns.category_count()],
            exports: vec![0; columns.export_count()],
            passed: vec![0; columns.profiles().len()],
            ..Self::default()
        }
    }

    /// Memory use in bytes, once the counts are final.
    pub fn size_bytes(&self) -> usize {
        let attributes =
            self.attributes.iter().flat_map(|of| &of.values).map(|value| size_of_val(value) + value.0.len());
        size_of::<Self>() + size_of_val(&*self.categories) + size_of_val(&*self.exports) + attributes.sum::<usize>()
    }

    #[inline]
    pub(super) fn count_passed(&mut self, columns: &Columns, ordinal: Ordinal) {
        self.passed[columns.profile_of(ordinal)] += 1;
        self.count_attributes(columns, ordinal, Admission::PASSED);
    }

    /// Counts a product's values for each attribute, if the product passes the filter or fails only
    /// the part for that attribute.
    #[inline]
    fn count_attributes(&mut self, columns: &Columns, ordinal: Ordinal, admission: Admission) {
        for (attribute, counts) in &mut self.by_attribute {
            if admission.passed_but_for(Admission::attribute(*attribute)) {
                for value in columns.attribute(*attribute).of(ordinal) {
                    counts[*value as usize] += 1;
                }
            }
        }
    }

    /// Counts a product that passed the whole filter, or all but one part of it.
    pub(super) fn count(&mut self, columns: &Columns, ordinal: Ordinal, admission: Admission) {
        if admission.passed() {
            return self.count_passed(columns, ordinal);
        }
        let part = Admission::FACETS.iter().position(|part| admission.passed_but_for(*part));
        if let Some(counts) = part.map(|part| &mut self.passed_but_for[part]) {
            counts.resize(columns.profiles().len(), 0);
            counts[columns.profile_of(ordinal)] += 1;
        }
        self.count_attributes(columns, ordinal, admission);
    }

    /// Turns the counts by profile into counts by facet value.
    pub(super) fn settled(mut self, columns: &Columns) -> Self {
        let passed = std::mem::take(&mut self.passed);
        self.add(columns, &passed, &Admission::FACETS);
        for (part, counts) in Admission::FACETS.iter().zip(std::mem::take(&mut self.passed_but_for)) {
            self.add(columns, &counts, &[*part]);
        }
        for (attribute, counts) in std::mem::take(&mut self.by_attribute) {
            let column = columns.attribute(attribute);
            let values = counted(column, &counts);
            if let Some(of) = self.attributes.iter_mut().find(|of| of.attribute == attribute) {
                of.values = values;
            }
        }
        self
    }

    /// Adds counts by profile to the values of the given facets.
    fn add(&mut self, columns: &Columns, counts: &[u32], facets: &[Admission]) {
        for (ordinal, count) in columns.profiles().iter().zip(counts).filter(|(_, count)| **count > 0) {
            let (at, count) = (*ordinal as usize, u64::from(*count));
            for facet in facets {
                match *facet {
                    Admission::CATEGORY => {
                        for category in columns.categories_of(*ordinal) {
                            self.categories[*category as usize] += count;
                        }
                    }
                    Admission::EXPORT => self.exports[columns.exports[at] as usize] += count,
                    Admission::OFFERING_TYPE => self.offering_types[columns.offering_type[at] as usize] += count,
                    Admission::EVIDENCE_STATUS => self.evidence_statuses[columns.evidence_status[at] as usize] += count,
                    _ => self.ratings[..columns.stars_of(*ordinal)].iter_mut().for_each(|of| *of += count),
                }
            }
        }
    }
}

/// An attribute's ranges with their counts, or its most frequent values.
fn counted(column: &AttributeColumn, counts: &[u64]) -> Vec<(Box<str>, u64)> {
    if column.ranges().is_empty() {
        return most_frequent(column, counts);
    }
    let ranges = column.ranges().iter();
    let sum = |range: &Range<u32>| counts[range.start as usize..range.end as usize].iter().sum();
    ranges.map(|(name, range)| (name.clone(), sum(range))).collect()
}

/// The most frequent values of an attribute; on a tie, lower value numbers come first.
pub fn most_frequent(column: &AttributeColumn, counts: &[u64]) -> Vec<(Box<str>, u64)> {
    let counted = highest(counts, MAX_ATTRIBUTE_VALUES);
    counted.into_iter().map(|(value, count)| (column.label(value).into(), count)).collect()
}

/// Up to `most` of the highest counts above zero, with their indices. On a tie, the lower index
/// comes first.
pub fn highest(counts: &[u64], most: usize) -> Vec<(u32, u64)> {
    let mut counted: Vec<_> = (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect();
    let order = |(at, count): &(u32, u64)| (Reverse(*count), *at);
    if counted.len() > most {
        counted.select_nth_unstable_by_key(most, order);
        counted.truncate(most);
    }
    counted.sort_unstable_by_key(order);
    counted
}
