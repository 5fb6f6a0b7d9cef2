//! External merge sort: rows beyond a budget of memory are sorted in runs on disk, and merged as they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Runs that are merged at once: each has a file and a buffer.
const FAN_IN: usize = 64;

/// The buffer of a run that is read, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// A sorter of rows. Equal rows come out in any order.
#[derive(Debug)]
pub struct ExternalSorter<T> {
    /// The folder of the runs, which have no names there.
    scratch: PathBuf,
    /// The encoded bytes of rows in memory at most.
    budget: usize,
    rows: Vec<T>,
    /// The encoded bytes of `rows`.
    bytes: usize,
    runs: Vec<Run>,
}

/// Sorted rows in a file without a name.
#[derive(Debug)]
struct Run {
    file: File,
    rows: u64,
    /// How many times its rows have been merged: runs of one level are of similar size.
    level: u32,
}

impl<T: Ord + Serialize + DeserializeOwned> ExternalSorter<T> {
    /// A sorter with a folder for its runs. It holds rows of up to `budget` encoded bytes in memory, and writes no file below that.
    #[must_use]
    pub fn new(scratch: impl Into<PathBuf>, budget: usize) -> Self {
        Self { scratch: scratch.into(), budget, rows: Vec::new(), bytes: 0, runs: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Where a run can't be written.
    pub fn push(&mut self, row: T) -> io::Result<()> {
        self.bytes += size_of::<T>() + postcard::experimental::serialized_size(&row).map_err(io::Error::other)?;
        self.rows.push(row);
        if self.bytes > self.budget { self.spill() } else { Ok(()) }
    }

    /// Returns the rows in ascending order.
    ///
    /// # Errors
    /// Where a run can't be written or read.
    pub fn finish(mut self) -> io::Result<SortedRows<T>> {
        if self.runs.is_empty() {
            self.rows.sort_unstable();
            return Ok(SortedRows::Memory(self.rows.into_iter()));
        }
        self.spill()?;
        // All in one merge, where the levels leave more runs than that.
        while self.runs.len() > FAN_IN {
            let oldest = self.runs.drain(..FAN_IN).collect();
            let merged = self.merge(oldest)?;
            self.runs.push(merged);
        }
        Ok(SortedRows::Runs(Merge::new(self.runs)?))
    }

    /// Writes the rows in memory as a run.
    fn spill(&mut self) -> io::Result<()> {
        self.rows.sort_unstable();
        self.bytes = 0;
        let mut writer = RunWriter::new(&self.scratch)?;
        for row in self.rows.drain(..) {
            writer.push(&row)?;
        }
        self.runs.push(writer.finish(0)?);
        while let Some(level) = self.full_level() {
            let (full, others) = std::mem::take(&mut self.runs).into_iter().partition(|run| run.level == level);
            self.runs = others;
            let merged = self.merge(full)?;
            self.runs.push(merged);
        }
        Ok(())
    }

    /// A level with as many runs as are merged at once.
    fn full_level(&self) -> Option<u32> {
        let level = self.runs.last()?.level;
        (self.runs.iter().filter(|run| run.level == level).count() >= FAN_IN).then_some(level)
    }

    fn merge(&self, runs: Vec<Run>) -> io::Result<Run> {
        let level = runs.iter().map(|run| run.level).max().unwrap_or(0) + 1;
        let mut writer = RunWriter::new(&self.scratch)?;
        for row in Merge::<T>::new(runs)? {
            writer.push(&row?)?;
        }
        writer.finish(level)
    }
}

/// Writes rows, each behind its encoded length.
struct RunWriter {
    file: BufWriter<File>,
    rows: u64,
}

impl RunWriter {
    fn new(scratch: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, tempfile::tempfile_in(scratch)?), rows: 0 })
    }

    fn push(&mut self, row: &impl Serialize) -> io::Result<()> {
        let row = postcard::to_stdvec(row).map_err(io::Error::other)?;
        self.rows += 1;
        self.file.write_all(&u32::try_from(row.len()).map_err(io::Error::other)?.to_le_bytes())?;
        self.file.write_all(&row)
    }

    fn finish(self, level: u32) -> io::Result<Run> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Run { file, rows: self.rows, level })
    }
}

/// Rows in ascending order.
#[derive(Debug)]
pub enum SortedRows<T> {
    /// All of them are in memory.
    Memory(std::vec::IntoIter<T>),
    /// They are in runs.
    Runs(Merge<T>),
}

impl<T: Ord + DeserializeOwned> Iterator for SortedRows<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(rows) => rows.next().map(Ok),
            Self::Runs(merge) => merge.next(),
        }
    }
}

/// A merge of runs.
#[derive(Debug)]
pub struct Merge<T> {
    runs: Vec<RunReader>,
    /// The next row of each run that isn't at its end, and the index of the run.
    heads: BinaryHeap<Reverse<(T, usize)>>,
}

impl<T: Ord + DeserializeOwned> Merge<T> {
    fn new(runs: Vec<Run>) -> io::Result<Self> {
        let reader = |run: Run| RunReader { file: BufReader::with_capacity(BUFFER_BYTES, run.file), left: run.rows };
        let runs: Vec<_> = runs.into_iter().map(reader).collect();
        let mut merge = Self { heads: BinaryHeap::with_capacity(runs.len()), runs };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    /// Reads the next row of a run.
    fn advance(&mut self, run: usize) -> io::Result<()> {
        self.heads.extend(self.runs[run].next()?.map(|row| Reverse((row, run))));
        Ok(())
    }
}

impl<T: Ord + DeserializeOwned> Iterator for Merge<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((row, run)) = self.heads.pop()?;
        Some(self.advance(run).map(|()| row))
    }
}

#[derive(Debug)]
struct RunReader {
    file: BufReader<File>,
    /// The rows that aren't read yet.
    left: u64,
}

impl RunReader {
    fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let mut length = [0; 4];
        self.file.read_exact(&mut length)?;
        let mut row = vec![0; u32::from_le_bytes(length) as usize];
        self.file.read_exact(&mut row)?;
        postcard::from_bytes(&row).map(Some).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(rows: &[(u32, String)], budget: usize) -> (Vec<(u32, String)>, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut sorter = ExternalSorter::new(folder.path(), budget);
        for row in rows {
            sorter.push(row.clone()).expect("written");
            assert!(sorter.bytes <= budget, "the budget is kept");
            assert!(sorter.runs.len() < 3 * FAN_IN, "runs are merged before they are many");
        }
        let is_spilled = !sorter.runs.is_empty();
        let rows = sorter.finish().expect("read").collect::<io::Result<_>>().expect("read");
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "files have no names");
        (rows, is_spilled)
    }

    proptest! {
        #[test]
        fn rows_are_those_of_a_sort_in_memory(rows: Vec<(u32, String)>, budget in 1_usize..10_000) {
            let mut expected = rows.clone();
            expected.sort();
            prop_assert_eq!(sorted(&rows, budget).0, expected);
        }
    }

    #[test]
    fn runs_are_merged_on_several_levels() {
        let row = |number: u32| (number.wrapping_mul(2_654_435_761), String::new());
        // One row a run: three levels of merges.
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
