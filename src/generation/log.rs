//! The change log: which products each recent generation added, changed and removed, and the news
//! among them. It's a part of a generation, so it's persisted, loaded and copied with it, as are the
//! products' versions that the next generation is compared with.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::io::{self, BufReader, Read as _};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::catalogue::{ProductVersion, Records};
use crate::generation::Generation;
use crate::scratch::{Bulk, BulkReader, Scratch, ScratchSorter, Span, decode};

/// The maximum number of generations that the log covers.
const MAX_STEPS: usize = 100;
/// The maximum size of the log in bytes. A step with a hundred thousand products takes up about 5
/// MB.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The maximum size in bytes of a change without its id.
const CHANGE_BYTES: usize = 32;

/// The changes in recent generations, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLog {
    /// When the generation before the first step was built (RFC 3339 in UTC); empty if unknown.
    begun_at: String,
    steps: VecDeque<LogStep>,
}

/// The changes from one generation to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogStep {
    from: Generation,
    /// When the later generation was built (RFC 3339 in UTC).
    pub at: String,
    /// The changes, sorted by id.
    pub changes: Vec<ProductChange>,
}

/// A product's change. A missing hash means that the product doesn't exist in that generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductChange {
    /// The product's id.
    pub id: Box<str>,
    /// The content hash in the earlier generation.
    pub before: Option<u64>,
    /// The content hash in the later generation.
    pub after: Option<u64>,
    /// Whether the product's evidence has a later date than before.
    pub is_evidence_renewed: bool,
}

/// A change's position in the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangePlace {
    pub(super) step: u32,
    pub(super) change: u32,
}

impl ProductChange {
    /// An upper bound on the change's size in the log, in bytes.
    fn bytes(&self) -> usize {
        self.id.len() + CHANGE_BYTES
    }
}

/// A generation with its products' versions, for comparison with the next one.
#[derive(Debug)]
pub(crate) struct Former {
    pub(crate) generation: Generation,
    /// The [`VERSIONS`](crate::generation::artifact::VERSIONS) part.
    pub(crate) versions: Bulk,
    pub(crate) log: ChangeLog,
}

impl Former {
    /// The generation stored in these parts; `None` if the log can't be decoded.
    pub(crate) fn from_parts(generation: Generation, versions: Bulk, log: &[u8]) -> Option<Self> {
        Some(Self { generation, versions, log: ChangeLog::decode(log).ok()? })
    }
}

impl ChangeLog {
    /// A log with these steps, oldest first.
    pub(crate) fn of(begun_at: String, steps: Vec<LogStep>) -> Self {
        Self { begun_at, steps: steps.into() }
    }

    /// Decodes the [`CHANGES`] part.
    pub(crate) fn decode(part: &[u8]) -> Result<Self, postcard::Error> {
        decode(part)
    }

    /// The log for a generation with these versions that follows `former`. It starts over if
    /// there's no former generation or the versions can't be read.
    pub(crate) fn after(former: Option<Former>, generation: &Generation, versions: &Bulk, at: &str) -> Self {
        let Some(Former { generation: from, versions: before, log }) = former else { return Self::begun(at) };
        if from == *generation {
            return log;
        }
        let changes = VersionReader::new(&before)
            .and_then(|before| compare(before, VersionReader::new(versions)?, MAX_BYTES))
            .inspect_err(|error| tracing::warn!(%error, "starting a new change log"));
        changes.map_or_else(|_| Self::begun(at), |changes| log.with(from, at, changes))
    }

    pub(crate) fn begun(at: &str) -> Self {
        Self { begun_at: at.to_owned(), steps: VecDeque::new() }
    }

    /// Returns the log with one more step.
    pub(crate) fn with(mut self, from: Generation, at: &str, changes: Vec<ProductChange>) -> Self {
        self.steps.push_back(LogStep { from, at: at.to_owned(), changes });
        self.trim(MAX_BYTES);
        self
    }

    pub(crate) fn encode(&self) -> Result<Bytes, postcard::Error> {
        Ok(postcard::to_stdvec(self)?.into())
    }

    /// Drops the oldest steps until the log is within its limits.
    fn trim(&mut self, max_bytes: usize) {
        let mut bytes = 0;
        let fitting = self.steps.iter().rev().take(MAX_STEPS).take_while(|step| {
            bytes += step.changes.iter().map(ProductChange::bytes).sum::<usize>();
            bytes <= max_bytes
        });
        let dropped = self.steps.len() - fitting.count();
        if let Some(last) = self.steps.drain(..dropped).next_back() {
            self.begun_at = last.at;
        }
    }

    /// When the oldest generation in the log was built (RFC 3339 in UTC); empty if unknown.
    pub fn begun_at(&self) -> &str {
        &self.begun_at
    }

    /// When the last change happened (RFC 3339 in UTC); empty if unknown.
    pub fn changed_at(&self) -> &str {
        self.steps.back().map_or(&self.begun_at, |step| &step.at)
    }

    /// The number of the step after a generation, or after its last occurrence if there are
    /// several. `None` if the log doesn't contain it.
    pub(super) fn step_after(&self, generation: &str) -> Option<usize> {
        self.steps.iter().rposition(|step| step.from.as_str() == generation)
    }

    /// The steps with their numbers, oldest first.
    pub(crate) fn steps(&self) -> impl DoubleEndedIterator<Item = (u32, &LogStep)> {
        #[expect(clippy::cast_possible_truncation, reason = "a log has at most 32 MiB")]
        self.steps.iter().enumerate().map(|(number, step)| (number as u32, step))
    }

    pub(super) fn entry(&self, place: ChangePlace) -> (&LogStep, &ProductChange) {
        let step = &self.steps[place.step as usize];
        (step, &step.changes[place.change as usize])
    }
}

/// The changes between two lists of versions, each sorted by id. Stops once they exceed
/// `max_bytes`, since such a step is dropped.
fn compare<E>(
    before: impl Iterator<Item = Result<ProductVersion, E>>,
    after: impl Iterator<Item = Result<ProductVersion, E>>,
    max_bytes: usize,
) -> Result<Vec<ProductChange>, E> {
    let (mut before, mut after) = (before.fuse(), after.fuse());
    let (mut old, mut new) = (before.next().transpose()?, after.next().transpose()?);
    let (mut changes, mut bytes) = (Vec::new(), 0);
    while bytes <= max_bytes {
        let order = match (&old, &new) {
            (None, None) => break,
            (Some(old), Some(new)) => old.id.cmp(&new.id),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
        };
        let one = if order.is_le() { std::mem::replace(&mut old, before.next().transpose()?) } else { None };
        let other = if order.is_ge() { std::mem::replace(&mut new, after.next().transpose()?) } else { None };
        let hash = |version: &Option<ProductVersion>| version.as_ref().map(|version| version.hash);
        let (hash_before, hash_after) = (hash(&one), hash(&other));
        if hash_before == hash_after {
            continue;
        }
        let is_evidence_renewed = one
            .as_ref()
            .zip(other.as_ref())
            .is_some_and(|(old, new)| new.evidence_checked_on > old.evidence_checked_on);
        let Some(id) = other.or(one).map(|version| version.id) else { continue };
        let change = ProductChange { id, before: hash_before, after: hash_after, is_evidence_renewed };
        bytes += change.bytes();
        changes.push(change);
    }
    Ok(changes)
}

/// The maximum size of a version in bytes. The longest id has a million characters.
const MAX_VERSION_BYTES: usize = 8 * 1024 * 1024;

/// Collects versions in any order.
#[derive(Debug)]
pub(crate) struct VersionWriter {
    scratch: Scratch,
    /// Sorted by id.
    versions: ScratchSorter<ProductVersion>,
    count: u64,
}

impl VersionWriter {
    pub(crate) fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), versions: scratch.sorter(), count: 0 }
    }

    pub(crate) fn push(&mut self, version: ProductVersion) -> io::Result<()> {
        self.count += 1;
        self.versions.push(version)
    }

    /// Writes the part the way postcard would encode a list.
    pub(crate) fn finish(self) -> io::Result<Bulk> {
        let mut part = self.scratch.bulk();
        part.push_encoded(&self.count)?;
        self.versions.finish()?.try_for_each(|version| part.push_encoded(&version?))?;
        part.finish()
    }
}

/// Reads the part.
#[derive(Debug)]
pub(crate) struct VersionReader {
    part: BufReader<BulkReader>,
    /// The number of versions that haven't been read yet.
    left: u64,
    buffer: Vec<u8>,
}

impl VersionReader {
    /// A reader for the part.
    pub(crate) fn new(part: &Bulk) -> io::Result<Self> {
        let part = part.reader(Span { start: 0, length: part.len()? })?;
        let mut reader = Self { part: BufReader::new(part), left: 0, buffer: vec![0; MAX_VERSION_BYTES] };
        reader.left = reader.read()?;
        Ok(reader)
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<T> {
        let (value, _) = postcard::from_io((self.part.by_ref(), &mut self.buffer)).map_err(io::Error::other)?;
        Ok(value)
    }
}

impl Iterator for VersionReader {
    type Item = io::Result<ProductVersion>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }
}

/// The maximum number of entries in a feed.
pub const MAX_NEWS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewsKind {
    Added,
    /// The product's evidence was checked on a later date than before.
    EvidenceRenewed,
}

impl ProductChange {
    /// `None` if the change isn't news.
    pub const fn news(&self) -> Option<NewsKind> {
        match (self.before, self.after) {
            (None, Some(_)) => Some(NewsKind::Added),
            (Some(_), Some(_)) if self.is_evidence_renewed => Some(NewsKind::EvidenceRenewed),
            _ => None,
        }
    }
}

/// A log's news, newest first, and by id within a step.
#[derive(Debug)]
pub struct NewsIndex {
    /// All news about products that still exist.
    all: Vec<ChangePlace>,
    /// For each category, the indices of its news in `all`, ascending.
    by_category: Vec<Vec<u32>>,
}

impl NewsIndex {
    pub(super) fn new(log: &ChangeLog, records: &Records) -> Self {
        let (mut all, mut by_category) = (Vec::new(), Vec::new());
        let changes = log.steps().rev().flat_map(|(step, changes)| {
            (0..).zip(&changes.changes).map(move |(change, of)| (ChangePlace { step, change }, of))
        });
        let news = changes.filter(|(_, change)| change.news().is_some());
        let news = news.filter_map(|(place, change)| Some((place, records.find(&change.id)?)));
        for (number, (place, ordinal)) in (0..).zip(news) {
            for category in records.columns.categories_of(ordinal) {
                let category = *category as usize;
                by_category.resize_with(by_category.len().max(category + 1), Vec::new);
                by_category[category].push(number);
            }
            all.push(place);
        }
        Self { all, by_category }
    }

    /// The latest news in any of these categories (`None` for all), each entry with its step.
    pub fn newest<'l>(&self, log: &'l ChangeLog, categories: Option<&[u32]>) -> Vec<(&'l LogStep, &'l ProductChange)> {
        let entry = |at: usize| log.entry(self.all[at]);
        let Some(categories) = categories else { return (0..self.all.len().min(MAX_NEWS)).map(entry).collect() };
        let of = categories.iter().filter_map(|category| self.by_category.get(*category as usize));
        let mut newest: Vec<_> = of.flat_map(|news| news.iter().take(MAX_NEWS)).collect();
        newest.sort_unstable();
        newest.dedup();
        newest.into_iter().take(MAX_NEWS).map(|at| entry(*at as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::generation::merged::MergedChanges;
    use crate::record::CalendarDate;
    use crate::search::budget::Stop;

    fn generation(name: &str) -> Generation {
        serde_json::from_value(name.into()).expect("a name")
    }

    fn versions(of: &[(&str, u64)]) -> Vec<ProductVersion> {
        of.iter()
            .map(|(id, hash)| ProductVersion { id: (*id).into(), hash: *hash, evidence_checked_on: None })
            .collect()
    }

    /// The log after building these generations in order.
    fn log(generations: &[(&str, &[(&str, u64)])]) -> ChangeLog {
        let mut former: Option<Former> = None;
        for (name, of) in generations {
            let versions = postcard::to_stdvec(&versions(of)).expect("encoded");
            let versions = Bulk::Memory(versions.into());
            let log = ChangeLog::after(former.take(), &generation(name), &versions, &format!("at {name}"));
            former = Some(Former { generation: generation(name), versions, log });
        }
        former.expect("at least one").log
    }

    /// Id, hash before and hash after.
    type Merged = (String, Option<u64>, Option<u64>);

    fn since(log: &ChangeLog, name: &str) -> Option<Vec<Merged>> {
        let merged = MergedChanges::new(log);
        let changes = merged.since(log, name, 0..usize::MAX, &Stop::default())?;
        assert_eq!(changes.page.len(), changes.total);
        Some(changes.page.into_iter().map(|change| (change.id.to_string(), change.before, change.after)).collect())
    }

    #[test]
    fn steps_are_merged() {
        let log = log(&[
            ("g1", &[("a", 1), ("b", 1), ("c", 1), ("e", 1)]),
            ("g2", &[("a", 2), ("b", 1), ("d", 1), ("e", 2)]),
            ("g3", &[("a", 3), ("c", 2), ("f", 1), ("e", 1)]),
        ]);
        let change = |id: &str, before, after| (id.to_owned(), before, after);
        let expected = vec![
            change("a", Some(1), Some(3)),
            change("b", Some(1), None),
            change("c", Some(1), Some(2)),
            change("f", None, Some(1)),
        ];
        assert_eq!(since(&log, "g1"), Some(expected), "d came and went, and e is back to what it was");
        assert_eq!(since(&log, "g2").expect("known").len(), 6);
        assert_eq!((since(&log, "g0"), log.changed_at()), (None, "at g3"));
    }

    #[test]
    fn a_generation_that_occurs_twice_counts_from_its_last_occurrence() {
        let log = log(&[("g1", &[("a", 1)]), ("g2", &[]), ("g1", &[("a", 1)]), ("g3", &[("a", 2)])]);
        assert_eq!(since(&log, "g1"), Some(vec![("a".to_owned(), Some(1), Some(2))]));
        assert_eq!(since(&log, "g2"), Some(vec![("a".to_owned(), None, Some(2))]));
    }

    #[test]
    fn a_repeated_generation_adds_no_step() {
        assert_eq!(log(&[("g1", &[("a", 1)]), ("g1", &[("a", 1)])]).steps.len(), 0);
    }

    #[test]
    fn the_oldest_steps_are_dropped_first() {
        let names: Vec<_> = (0..=MAX_STEPS + 1).map(|n| format!("g{n}")).collect();
        let hashes: Vec<_> = (0..).take(names.len()).map(|hash| [("a", hash)]).collect();
        let generations: Vec<_> = names.iter().zip(&hashes).map(|(name, of)| (&**name, &of[..])).collect();
        let mut log = log(&generations);
        assert_eq!((since(&log, "g0"), since(&log, "g1").map(|changes| changes.len())), (None, Some(1)));
        log.trim(3 * (1 + CHANGE_BYTES));
        assert_eq!(log.steps.len(), 3);
        let last = log.changed_at().to_owned();
        log.trim(CHANGE_BYTES);
        assert_eq!((log.steps.len(), log.changed_at()), (0, &*last), "the newest step is also too large");
    }

    #[test]
    fn a_later_evidence_date_counts_as_a_renewal() {
        let version =
            |hash, day| ProductVersion { id: "a".into(), hash, evidence_checked_on: CalendarDate::parse(day) };
        let compare = |before: &[ProductVersion], after: &[ProductVersion]| {
            fn versions(of: &[ProductVersion]) -> impl Iterator<Item = Result<ProductVersion, Infallible>> {
                of.iter().cloned().map(Ok)
            }
            let Ok(changes) = compare(versions(before), versions(after), MAX_BYTES);
            changes
        };
        let renewed = |before, after| compare(&[version(1, before)], &[version(2, after)])[0].is_evidence_renewed;
        assert!(renewed("2026-01-01", "2026-01-02") && renewed("", "2026-01-01"));
        assert!(!renewed("2026-01-02", "2026-01-01") && !renewed("2026-01-01", "2026-01-01"));
        assert!(!compare(&[], &[version(1, "2026-01-01")])[0].is_evidence_renewed, "it was added");
    }

    #[test]
    fn versions_are_written_as_postcard_would_encode_a_list() {
        let version = |id: &str, hash| ProductVersion {
            id: id.into(),
            hash,
            evidence_checked_on: CalendarDate::parse("2026-11-24").filter(|_| hash % 2 == 0),
        };
        let versions: Vec<_> = (0..300).map(|n| version(&format!("{n:03}"), n)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = VersionWriter::new(&Scratch::with_own_bytes(folder.path(), 100));
        versions.iter().rev().for_each(|version| writer.push(version.clone()).expect("written"));
        let part = writer.finish().expect("written");
        assert_eq!(part.read_all().expect("read"), postcard::to_stdvec(&versions).expect("encoded"));
        let read: io::Result<Vec<_>> = VersionReader::new(&part).expect("a part").collect();
        assert_eq!(read.expect("read"), versions);
    }
}
