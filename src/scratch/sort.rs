//! External merge sort. Rows beyond the memory budget are sorted in runs on disk, and merged as
//! they're read.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::spool::{Spool, SpoolRows, SpoolWriter};
use super::{OWN_BYTES, Scratch, Share};

/// How many runs are merged into one. Each needs a file and, while it's read, a buffer.
const FAN_IN: usize = 64;

/// Sorts rows. Equal rows come out in no particular order.
#[derive(Debug)]
pub struct ScratchSorter<T> {
    scratch: Scratch,
    rows: Vec<T>,
    /// The memory share of `rows`.
    share: Share,
    /// Sorted rows, fewer than [`FAN_IN`] spools of them.
    runs: Vec<Spool<T>>,
}

/// A row that's sorted by only part of its data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Keyed<K, V> {
    pub key: K,
    pub value: V,
}

impl<K: Ord, V> Ord for Keyed<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<K: Ord, V> PartialOrd for Keyed<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, V> Eq for Keyed<K, V> {}

impl<K: Ord, V> PartialEq for Keyed<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Clone + Ord + Serialize + DeserializeOwned> ScratchSorter<T> {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), rows: Vec::new(), share: scratch.share(), runs: Vec::new() }
    }

    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.runs.is_empty()
    }

    pub fn push(&mut self, row: T) -> io::Result<()> {
        let bytes = size_of::<T>() + postcard::experimental::serialized_size(&row).map_err(io::Error::other)?;
        self.rows.push(row);
        if self.share.take(bytes, OWN_BYTES) { self.spill() } else { Ok(()) }
    }

    /// Returns the rows in ascending order.
    pub fn finish(mut self) -> io::Result<SortedRows<T>> {
        if self.runs.is_empty() {
            self.rows.sort_unstable();
            return Ok(SortedRows::Memory(self.rows.into_iter(), self.share));
        }
        self.spill()?;
        Ok(SortedRows::Runs(Merge::new(&self.runs)?))
    }

    /// Writes the rows in memory as a run.
    fn spill(&mut self) -> io::Result<()> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable();
        self.push_run(|run| rows.into_iter().try_for_each(|row| run.push(row).map(drop)))?;
        self.share.give_back();
        Ok(())
    }

    /// Writes a run of rows that are already in ascending order.
    pub fn push_run(&mut self, write: impl FnOnce(&mut SpoolWriter<T>) -> io::Result<()>) -> io::Result<()> {
        let mut writer = self.scratch.spool().in_file()?;
        write(&mut writer)?;
        self.runs.push(writer.finish()?);
        if self.runs.len() == FAN_IN {
            let mut merged = self.scratch.spool().in_file()?;
            Merge::<T>::new(&self.runs)?.try_for_each(|row| merged.push(row?).map(drop))?;
            self.runs = vec![merged.finish()?];
        }
        Ok(())
    }
}

/// Rows in ascending order.
#[derive(Debug)]
pub enum SortedRows<T> {
    /// All rows are in memory.
    Memory(std::vec::IntoIter<T>, Share),
    Runs(Merge<T>),
}

impl<T: Clone + Ord + DeserializeOwned> Iterator for SortedRows<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(rows, _) => rows.next().map(Ok),
            Self::Runs(merge) => merge.next(),
        }
    }
}

/// Sorted rows with one row of lookahead.
#[derive(Debug)]
pub struct Peeked<T> {
    rows: SortedRows<T>,
    pub row: Option<T>,
}

impl<T: Clone + Ord + DeserializeOwned> Peeked<T> {
    pub fn new(mut rows: SortedRows<T>) -> io::Result<Self> {
        Ok(Self { row: rows.next().transpose()?, rows })
    }

    pub fn take(&mut self) -> io::Result<Option<T>> {
        let next = self.rows.next().transpose()?;
        Ok(std::mem::replace(&mut self.row, next))
    }
}

/// A merge of runs.
#[derive(Debug)]
pub struct Merge<T> {
    runs: Vec<SpoolRows<T>>,
    /// The next row of each run that hasn't ended, and the run's index.
    heads: BinaryHeap<Reverse<(T, usize)>>,
}

impl<T: Clone + Ord + DeserializeOwned> Merge<T> {
    fn new(runs: &[Spool<T>]) -> io::Result<Self> {
        let runs: Vec<_> = runs.iter().map(Spool::rows).collect();
        let mut merge = Self { heads: BinaryHeap::with_capacity(runs.len()), runs };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    /// Reads a run's next row.
    fn advance(&mut self, run: usize) -> io::Result<()> {
        let row = self.runs[run].next().transpose()?;
        self.heads.extend(row.map(|row| Reverse((row, run))));
        Ok(())
    }
}

impl<T: Clone + Ord + DeserializeOwned> Iterator for Merge<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((row, run)) = self.heads.pop()?;
        Some(self.advance(run).map(|()| row))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(rows: &[(u32, String)], budget: usize) -> (Vec<(u32, String)>, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut sorter = Scratch::with_own_bytes(folder.path(), budget).sorter();
        for row in rows {
            sorter.push(row.clone()).expect("written");
            assert!(sorter.share.bytes() <= budget, "within the budget");
            assert!(sorter.runs.len() < FAN_IN, "runs are merged before there are many");
        }
        let is_spilled = !sorter.runs.is_empty();
        let rows = sorter.finish().expect("read").collect::<io::Result<_>>().expect("read");
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "scratch files are unnamed");
        (rows, is_spilled)
    }

    proptest! {
        #[test]
        fn rows_equal_those_sorted_in_memory(rows: Vec<(u32, String)>, budget in 1_usize..10_000) {
            let mut expected = rows.clone();
            expected.sort();
            prop_assert_eq!(sorted(&rows, budget).0, expected);
        }
    }

    #[test]
    fn runs_are_merged_in_several_passes() {
        let row = |number: u32| (number.wrapping_mul(2_654_435_761), String::new());
        // There's one row per run.
        let rows: Vec<_> = (0..5000).map(row).collect();
        let (found, is_spilled) = sorted(&rows, 1);
        assert!(is_spilled && found.is_sorted() && found.len() == rows.len());
    }

    #[test]
    fn rows_within_the_budget_stay_in_memory() {
        let (found, is_spilled) = sorted(&[(2, "b".to_owned()), (1, "a".to_owned())], 1000);
        assert!(!is_spilled);
        assert_eq!(found, [(1, "a".to_owned()), (2, "b".to_owned())]);
    }
}
