//! Filters come in two forms: with the names that callers use, and resolved for one generation.

use std::ops::Range;

use serde::Serialize;

use super::{Catalogue, Columns, Order, Ordinal, Records, read_while};
use crate::record::{AttributeNumber, Attributes, CalendarDate, EvidenceStatus, KeyRange, OfferingType};

/// A product filter. An empty filter matches all products.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SoftwareFilter {
    /// Only these products. Unknown ids match nothing. Empty: no restriction.
    pub ids: Vec<String>,
    pub except_id: Option<String>,
    /// Only products in any of these categories, given by id or name in any language; case doesn't
    /// matter. Unknown categories match nothing. Empty: no restriction.
    pub categories: Vec<String>,
    /// Only products from any of these exports, given by id. Unknown exports match nothing. Empty: no
    /// restriction.
    pub exports: Vec<String>,
    pub offering_type: Option<OfferingType>,
    pub evidence_status: Option<EvidenceStatus>,
    /// The minimum displayed rating.
    pub min_rating: Option<f64>,
    /// Only products with an evidence date before this day.
    pub evidence_checked_before: Option<CalendarDate>,
    /// Only products with an evidence date after this day.
    pub evidence_checked_after: Option<CalendarDate>,
    /// Only products with any evidence, even for a single property, from before this day.
    pub any_evidence_before: Option<CalendarDate>,
    /// For each named attribute, only products with any of its given values. Unknown attributes and
    /// values match nothing.
    pub attributes: Vec<AttributeCondition>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttributeCondition {
    pub property: String,
    /// One value or a range, as parsed by
    /// [`AttributeType::range`](crate::record::AttributeType::range).
    pub value: String,
}

impl AttributeCondition {
    pub fn new(property: &str, value: &str) -> Self {
        Self { property: property.to_owned(), value: value.to_owned() }
    }
}

/// The values that a filter accepts for each attribute; `None` if the directory doesn't have one of
/// the attributes.
pub fn admitted(
    conditions: &[AttributeCondition],
    attributes: &Attributes,
) -> Option<Vec<(AttributeNumber, Vec<KeyRange>)>> {
    let mut admitted: Vec<(AttributeNumber, Vec<KeyRange>)> = Vec::new();
    for AttributeCondition { property, value } in conditions {
        let number = attributes.number(property)?;
        let range = attributes.get(number).kind.range(value);
        match admitted.iter_mut().find(|(of, _)| *of == number) {
            Some((_, ranges)) => ranges.extend(range),
            None => admitted.push((number, range.into_iter().collect())),
        }
    }
    Some(admitted)
}

/// A filter with its names resolved to column values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Only products in any of these categories, as ascending indices. `None`: no restriction.
    /// Empty: matches nothing.
    pub categories: Option<Vec<u32>>,
    /// Only products from any of these exports, as ascending numbers. `None`: no restriction. Empty:
    /// matches nothing.
    pub exports: Option<Vec<u32>>,
    pub offering_type: Option<OfferingType>,
    pub evidence_status: Option<EvidenceStatus>,
    pub min_rating: Option<f64>,
    pub evidence_checked_before: Option<CalendarDate>,
    pub evidence_checked_after: Option<CalendarDate>,
    pub any_evidence_before: Option<CalendarDate>,
    /// For each attribute, the accepted values as disjoint ascending ranges of value numbers.
    /// Empty: matches nothing.
    pub attributes: Vec<(AttributeNumber, Vec<Range<u32>>)>,
    /// Only these products, ascending. `None`: no restriction.
    pub ordinals: Option<Vec<Ordinal>>,
    pub except: Option<Ordinal>,
}

/// Which parts of a filter a product fails, one bit each. A facet ignores its own part of the
/// filter, so it needs to know not only whether a product fails but also why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission(u128);

impl Admission {
    pub const PASSED: Self = Self(0);
    pub const CATEGORY: Self = Self(1);
    pub const OFFERING_TYPE: Self = Self(2);
    pub const EVIDENCE_STATUS: Self = Self(4);
    pub const RATING: Self = Self(8);
    pub const EVIDENCE_CHECKED: Self = Self(16);
    /// Isn't one of the selected products, or is the excluded one.
    pub const ORDINAL: Self = Self(32);

    pub const EXPORT: Self = Self(1 << 127);

    /// The parts of a filter that have facets, not counting attributes.
    pub const FACETS: [Self; 5] =
        [Self::CATEGORY, Self::OFFERING_TYPE, Self::EVIDENCE_STATUS, Self::EXPORT, Self::RATING];

    pub const fn attribute(attribute: AttributeNumber) -> Self {
        Self(64 << attribute)
    }

    pub const fn passed(self) -> bool {
        self.0 == 0
    }

    pub const fn has_failed(self, part: Self) -> bool {
        self.0 & part.0 != 0
    }

    /// Whether the product passes the filter, ignoring this part.
    pub const fn passed_but_for(self, part: Self) -> bool {
        self.0 & !part.0 == 0
    }
}

impl Filter {
    pub fn resolve(filter: &SoftwareFilter, catalogue: &Catalogue, records: &Records) -> Self {
        let ascending = |values: &[String], mut found: Vec<u32>| {
            found.sort_unstable();
            found.dedup();
            (!values.is_empty()).then_some(found)
        };
        let attributes = admitted(&filter.attributes, &catalogue.tables.attributes);
        let ordinals = filter.ids.iter().filter_map(|id| records.find(id)).collect();
        let ordinals = ascending(&filter.ids, ordinals);
        let categories = filter.categories.iter().flat_map(|category| catalogue.categories_named(category));
        let exports = filter.exports.iter().filter_map(|id| catalogue.find_export(id)).collect();
        Self {
            ordinals: if attributes.is_none() { Some(Vec::new()) } else { ordinals },
            except: filter.except_id.as_deref().and_then(|id| records.find(id)),
            categories: ascending(&filter.categories, categories.copied().collect()),
            exports: ascending(&filter.exports, exports),
            offering_type: filter.offering_type,
            evidence_status: filter.evidence_status,
            min_rating: filter.min_rating,
            evidence_checked_before: filter.evidence_checked_before,
            evidence_checked_after: filter.evidence_checked_after,
            any_evidence_before: filter.any_evidence_before,
            attributes: attributes
                .into_iter()
                .flatten()
                .map(|(attribute, ranges)| {
                    let column = records.columns.attribute(attribute);
                    let mut numbers: Vec<_> = ranges.iter().map(|range| column.find(range)).collect();
                    numbers.retain(|numbers| !numbers.is_empty());
                    numbers.sort_unstable_by_key(|numbers| numbers.start);
                    numbers.dedup_by(|next, before| {
                        let is_joined = next.start <= before.end;
                        if is_joined {
                            before.end = before.end.max(next.end);
                        }
                        is_joined
                    });
                    (attribute, numbers)
                })
                .collect(),
        }
    }

    /// Whether every product passes.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Which parts of the filter a product fails.
    pub fn admit(&self, columns: &Columns, ordinal: Ordinal) -> Admission {
        let at = ordinal as usize;
        let mut failed = 0;
        let mut fail_unless = |passed: bool, part: Admission| {
            if !passed {
                failed |= part.0;
            }
        };
        if let Some(wanted) = &self.categories {
            fail_unless(
                columns.categories_of(ordinal).iter().any(|c| wanted.binary_search(c).is_ok()),
                Admission::CATEGORY,
            );
        }
        if let Some(wanted) = &self.exports {
            fail_unless(wanted.binary_search(&columns.exports[at]).is_ok(), Admission::EXPORT);
        }
        if let Some(wanted) = self.offering_type {
            fail_unless(columns.offering_type[at] == wanted, Admission::OFFERING_TYPE);
        }
        if let Some(wanted) = self.evidence_status {
            fail_unless(columns.evidence_status[at] == wanted, Admission::EVIDENCE_STATUS);
        }
        if let Some(least) = self.min_rating {
            fail_unless(columns.rating[at].is_some_and(|rating| rating >= least), Admission::RATING);
        }
        if let Some(day) = self.evidence_checked_before {
            fail_unless(columns.evidence_checked_on[at].is_some_and(|on| on < day), Admission::EVIDENCE_CHECKED);
        }
        if let Some(day) = self.evidence_checked_after {
            fail_unless(columns.evidence_checked_on[at].is_some_and(|on| on > day), Admission::EVIDENCE_CHECKED);
        }
        if let Some(day) = self.any_evidence_before {
            fail_unless(columns.oldest_evidence(ordinal).is_some_and(|on| on < day), Admission::EVIDENCE_CHECKED);
        }
        for (attribute, wanted) in &self.attributes {
            let values = columns.attribute(*attribute).of(ordinal);
            let is_wanted = |value: &u32| {
                let range = wanted.get(wanted.partition_point(|range| range.end <= *value));
                range.is_some_and(|range| range.start <= *value)
            };
            fail_unless(values.iter().any(is_wanted), Admission::attribute(*attribute));
        }
        if let Some(ordinals) = &self.ordinals {
            fail_unless(ordinals.binary_search(&ordinal).is_ok(), Admission::ORDINAL);
        }
        if let Some(except) = self.except {
            fail_unless(ordinal != except, Admission::ORDINAL);
        }
        Admission(failed)
    }
}

impl Columns {
    /// A page of the products that pass a filter, in a stored order, and the total number that
    /// pass. Ends early if `pays` refuses to read more products.
    pub fn page(
        &self,
        filter: &Filter,
        order: Order,
        page: Range<usize>,
        pays: impl FnMut(usize) -> bool,
    ) -> (Vec<Ordinal>, u64) {
        let order = self.order(order);
        let slice = |ordinals: &[Ordinal]| {
            let end = page.end.min(ordinals.len());
            ordinals[page.start.min(end)..end].to_vec()
        };
        if let Some(some) = &filter.ordinals {
            // There are only a few products, so sort them by rank instead of walking through the
            // whole order.
            let exists = |ordinal: &Ordinal| (*ordinal as usize) < order.ranks.len();
            let admitted = some.iter().copied().filter(exists);
            let mut admitted: Vec<_> = admitted.filter(|ordinal| filter.admit(self, *ordinal).passed()).collect();
            admitted.sort_unstable_by_key(|ordinal| order.ranks[*ordinal as usize]);
            return (slice(&admitted), admitted.len() as u64);
        }
        if filter.is_open() {
            return (slice(&order.ordinals), order.ordinals.len() as u64);
        }
        let mut ordinals = Vec::new();
        let mut total = 0;
        let read = read_while(&order.ordinals, pays);
        for ordinal in read.filter(|ordinal| filter.admit(self, **ordinal).passed()) {
            if page.contains(&total) {
                ordinals.push(*ordinal);
            }
            total += 1;
        }
        (ordinals, total as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Admission;

    #[test]
    fn a_facet_ignores_only_its_own_filter() {
        assert!(Admission::CATEGORY.passed_but_for(Admission::CATEGORY));
        assert!(!Admission(Admission::CATEGORY.0 | Admission::RATING.0).passed_but_for(Admission::CATEGORY));
        assert!(Admission::PASSED.passed_but_for(Admission::RATING));
    }
}
