//! The changes since each generation in the log, merged so that each product occurs once. This
//! happens when a generation is opened, not for each page.

use std::ops::Range;

use crate::catalogue::read_while;
use crate::generation::Generation;
use crate::generation::log::{ChangeLog, ChangePlace, LogStep, ProductChange};
use crate::search::budget::Stop;

/// A log's changes, sorted by id. Each change includes the range of starting steps for which it's
/// the product's first change.
#[derive(Debug, Default)]
pub struct MergedChanges(Vec<MergedChange>);

#[derive(Debug)]
struct MergedChange {
    place: ChangePlace,
    /// The earliest starting step for which this is the product's first change. The latest is the
    /// change's own step. [`NEVER`] if the product ends up as it was before.
    since: u32,
}

const NEVER: u32 = u32::MAX;

/// The changes since a generation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangesSince {
    pub page: Vec<ProductChange>,
    /// The number of changes across all pages.
    pub total: usize,
}

impl MergedChanges {
    pub(crate) fn new(log: &ChangeLog) -> Self {
        let places = log.steps().flat_map(|(step, changes)| {
            (0..).take(changes.changes.len()).map(move |change| ChangePlace { step, change })
        });
        let mut merged: Vec<_> = places.map(|place| MergedChange { place, since: NEVER }).collect();
        let id = |change: &MergedChange| &log.entry(change.place).1.id;
        // A stable sort, so a product's changes stay in order.
        merged.sort_by(|a, b| id(a).cmp(id(b)));
        for of_product in merged.chunk_by_mut(|a, b| id(a) == id(b)) {
            let last = of_product.last().and_then(|last| log.entry(last.place).1.after);
            let mut since = 0;
            for change in of_product {
                if log.entry(change.place).1.before != last {
                    change.since = since;
                }
                since = change.place.step + 1;
            }
        }
        Self(merged)
    }

    /// A page of the changes since a generation, sorted by id. If the generation occurs several
    /// times, its last occurrence counts. `None` if the log doesn't contain it.
    pub fn since(&self, log: &ChangeLog, generation: &str, page: Range<usize>, stop: &Stop) -> Option<ChangesSince> {
        let from = u32::try_from(log.step_after(generation)?).unwrap_or(NEVER);
        let is_first = |change: &MergedChange| change.since <= from && from <= change.place.step;
        let read = read_while(&self.0, |_| !stop.is_set()).enumerate();
        let mut since = ChangesSince::default();
        for (at, _) in read.filter(|(_, change)| is_first(change)) {
            if page.contains(&since.total) {
                since.page.push(self.merge(log, at));
            }
            since.total += 1;
        }
        Some(since)
    }

    /// A product's changes, newest first, each with its step and the generation that it led to;
    /// `None` for the latest generation.
    pub fn of<'l>(
        &self,
        log: &'l ChangeLog,
        id: &str,
    ) -> impl ExactSizeIterator<Item = (&'l LogStep, Option<&'l Generation>, &'l ProductChange)> {
        let start = self.0.partition_point(|change| &*log.entry(change.place).1.id < id);
        let count = self.0[start..].partition_point(|change| &*log.entry(change.place).1.id == id);
        self.0[start..start + count].iter().rev().map(|change| {
            let (step, of_product) = log.entry(change.place);
            (step, log.generation_after(change.place.step), of_product)
        })
    }

    /// Whether a product was in the directory within the log's time, and no longer is.
    pub fn is_removed(&self, log: &ChangeLog, id: &str) -> bool {
        self.of(log, id).next().is_some_and(|(.., change)| change.after.is_none())
    }

    /// Merges a change with later changes to the same product.
    fn merge(&self, log: &ChangeLog, at: usize) -> ProductChange {
        let ProductChange { id, before, after, is_evidence_renewed, .. } = log.entry(self.0[at].place).1;
        let (before, after, is_evidence_renewed) = (*before, *after, *is_evidence_renewed);
        let mut merged = ProductChange { before, after, ..ProductChange::of(id.clone(), is_evidence_renewed) };
        let later = self.0[at + 1..].iter().map(|change| log.entry(change.place).1);
        for change in later.take_while(|change| change.id == merged.id) {
            merged.after = change.after;
            merged.is_evidence_renewed |= change.is_evidence_renewed;
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::catalogue::{ProductPlace, ProductVersion};
    use crate::generation::log::{Former, Versions};
    use crate::scratch::{Bulk, Span};

    /// Hashes by id.
    type Hashes = BTreeMap<u8, u64>;

    fn generation(number: usize) -> Generation {
        serde_json::from_value(format!("g{number}").into()).expect("a name")
    }

    fn log(generations: &[Hashes]) -> ChangeLog {
        let mut former: Option<Former> = None;
        for (number, of) in generations.iter().enumerate() {
            let version = |(id, hash): (&u8, &u64)| ProductVersion {
                id: id.to_string().into(),
                hash: *hash,
                evidence_checked_on: None,
                place: ProductPlace::default(),
            };
            let mut versions: Vec<_> = of.iter().map(version).collect();
            versions.sort();
            let versions = postcard::to_stdvec(&(Span::default(), versions)).expect("encoded");
            let versions = Versions { versions: Bulk::Memory(versions.into()), texts: None };
            let log = ChangeLog::after(former.take(), &generation(number), &versions, Vec::new(), "");
            former = Some(Former { generation: generation(number), versions, log });
        }
        former.map(|former| former.log).unwrap_or_default()
    }

    proptest! {
        #[test]
        fn pages_tile_the_difference_between_two_generations(
            generations in prop::collection::vec(prop::collection::btree_map(0..20_u8, 0..3_u64, 0..15), 2..7),
            limit in 1..5_usize,
        ) {
            let log = log(&generations);
            let merged = MergedChanges::new(&log);
            let last = &generations[generations.len() - 1];
            for (number, first) in generations.iter().enumerate().take(generations.len() - 1) {
                let mut expected: Vec<_> = (0..20)
                    .map(|id| (id.to_string(), first.get(&id).copied(), last.get(&id).copied()))
                    .filter(|(_, before, after)| before != after)
                    .collect();
                expected.sort();
                let stopped = Stop::default();
                stopped.set();
                let nothing = merged.since(&log, generation(number).as_str(), 0..limit, &stopped);
                prop_assert_eq!(nothing, Some(ChangesSince::default()));
                let mut found = Vec::new();
                for page in 0.. {
                    let since = merged.since(&log, generation(number).as_str(), page * limit..(page + 1) * limit, &Stop::default());
                    let since = since.expect("known");
                    prop_assert_eq!(since.total, expected.len());
                    if since.page.is_empty() {
                        break;
                    }
                    found.extend(since.page.into_iter().map(|of| (of.id.to_string(), of.before, of.after)));
                }
                prop_assert_eq!(found, expected);
            }
            for id in 0..20 {
                let was_listed = generations.iter().any(|of| of.contains_key(&id));
                let is_removed = merged.is_removed(&log, &id.to_string());
                prop_assert_eq!(is_removed, was_listed && !last.contains_key(&id), "{}", id);
            }
        }
    }
}
