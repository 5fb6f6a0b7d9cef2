//! The change log: which products each recent generation added, changed and removed. It's a part of
//! a generation, so it's persisted, loaded and copied with it, as are the products' versions that the
//! next generation is compared with.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, BufReader, Read as _};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::catalogue::{ProductPlace, ProductReader, ProductVersion};
use crate::generation::Generation;
use crate::generation::history::{ChangeDetails, FormerRecord, MAX_HISTORY_BYTES, MAX_RECORD_BYTES};
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
    /// The properties that the latest generation hides, sorted.
    hidden: Vec<Box<str>>,
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
    /// What changed; `None` if the product was added or removed.
    #[serde(default)]
    pub details: Option<Box<ChangeDetails>>,
    /// The record in the earlier generation; `None` if there was none, or it isn't known any more.
    pub former: Option<Box<FormerRecord>>,
}

/// The maximum size in bytes of all former records, and of the records that they're compared with.
/// Opening a generation indexes both.
pub(super) const MAX_FORMER_BYTES: usize = 2 * 1024 * 1024;

/// A change's position in the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangePlace {
    pub(super) step: u32,
    pub(super) change: u32,
}

impl ProductChange {
    /// A change without hashes, details and former record.
    pub(crate) const fn of(id: Box<str>, is_evidence_renewed: bool) -> Self {
        Self { id, before: None, after: None, is_evidence_renewed, details: None, former: None }
    }

    /// An upper bound on the change's size in the log, in bytes.
    fn bytes(&self) -> usize {
        self.id.len() + CHANGE_BYTES
    }
}

/// A generation's products, for comparison with another one's.
#[derive(Debug, Clone)]
pub(crate) struct Versions {
    /// The [`VERSIONS`](crate::generation::artifact::VERSIONS) part.
    pub(crate) versions: Bulk,
    /// The [`TEXTS`](crate::generation::artifact::TEXTS) part. What's read from it is checked.
    pub(crate) texts: Option<Bulk>,
}

/// The generation before the next one.
#[derive(Debug)]
pub(crate) struct Former {
    pub(crate) generation: Generation,
    pub(crate) versions: Versions,
    pub(crate) log: ChangeLog,
}

impl ChangeLog {
    /// A log with these steps, oldest first.
    pub(crate) fn of(begun_at: String, steps: Vec<LogStep>) -> Self {
        Self { begun_at, steps: steps.into(), hidden: Vec::new() }
    }

    /// Decodes the [`CHANGES`] part.
    pub(crate) fn decode(part: &[u8]) -> Result<Self, postcard::Error> {
        decode(part)
    }

    /// The log for a generation with these versions that follows `former`. It starts over if
    /// there's no former generation or the versions can't be read.
    pub(crate) fn after(
        former: Option<Former>,
        generation: &Generation,
        versions: &Versions,
        hidden: Vec<Box<str>>,
        at: &str,
    ) -> Self {
        let begun = |hidden| Self { hidden, ..Self::begun(at) };
        let Some(Former { generation: from, versions: before, log }) = former else { return begun(hidden) };
        if from == *generation {
            return log;
        }
        let ever_hidden = [&*log.hidden, &*hidden].concat();
        match changes(&before, versions, &ever_hidden) {
            Ok(changes) => Self { hidden, ..log }.with(from, at, changes),
            Err(error) => {
                tracing::warn!(%error, "starting a new change log");
                begun(hidden)
            }
        }
    }

    pub(crate) fn begun(at: &str) -> Self {
        Self { begun_at: at.to_owned(), ..Self::default() }
    }

    /// Erases everything about these products, except that they've been removed. `generation` is
    /// the latest one. Returns whether there was anything about any of them.
    pub(crate) fn forget(&mut self, ids: &[String], generation: &Generation, at: &str) -> bool {
        let (mut erased, mut is_removed) = (false, HashSet::new());
        for step in self.steps.iter_mut().rev() {
            step.changes.retain_mut(|change| {
                let Some(id) = ids.iter().find(|id| **id == *change.id) else { return true };
                erased = true;
                (change.before, change.is_evidence_renewed) = (Some(0), false);
                (change.details, change.former) = (None, None);
                change.after.is_none() && is_removed.insert(id)
            });
        }
        if erased {
            // Whatever is computed from the time of the last change is now outdated.
            self.steps.push_back(LogStep { from: generation.clone(), at: at.to_owned(), changes: Vec::new() });
            self.trim(MAX_BYTES);
        }
        erased
    }

    /// Returns the log with one more step.
    pub(crate) fn with(mut self, from: Generation, at: &str, changes: Vec<ProductChange>) -> Self {
        self.steps.push_back(LogStep { from, at: at.to_owned(), changes });
        self.trim(MAX_BYTES);
        self.trim_details(MAX_RECORD_BYTES, MAX_HISTORY_BYTES);
        self.trim_former(MAX_FORMER_BYTES);
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

    /// Drops what's hidden now from all details, and the oldest details until they're within their
    /// limits.
    fn trim_details(&mut self, max_record_bytes: usize, max_bytes: usize) {
        let (mut total, mut by_record) = (0, HashMap::<Box<str>, usize>::new());
        for change in self.steps.iter_mut().rev().flat_map(|step| &mut step.changes) {
            let Some(details) = &mut change.details else { continue };
            details.hide(&self.hidden);
            let of_record = by_record.entry(change.id.clone()).or_default();
            let bytes = details.bytes();
            if total + bytes > max_bytes || *of_record + bytes > max_record_bytes {
                **details = ChangeDetails::lost();
            } else {
                total += bytes;
                *of_record += bytes;
            }
        }
    }

    /// Drops what's hidden now from all former records, and the oldest of these until they're within
    /// their limit.
    fn trim_former(&mut self, max_bytes: usize) {
        let mut bytes = 0;
        for change in self.steps.iter_mut().rev().flat_map(|step| &mut step.changes) {
            let Some(former) = change.former.take() else { continue };
            bytes += former.bytes();
            change.former = Some(former).filter(|_| bytes <= max_bytes).and_then(|former| former.hide(&self.hidden));
        }
    }

    /// The properties that the latest generation hides, sorted.
    pub(super) fn hidden(&self) -> &[Box<str>] {
        &self.hidden
    }

    /// The generation that a step led to; `None` for the last step, which led to the latest one.
    pub(super) fn generation_after(&self, step: u32) -> Option<&Generation> {
        self.steps.get(step as usize + 1).map(|next| &next.from)
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
        #[expect(clippy::cast_possible_truncation, reason = "a log has at most 64 MiB")]
        self.steps.iter().enumerate().map(|(number, step)| (number as u32, step))
    }

    pub(super) fn entry(&self, place: ChangePlace) -> (&LogStep, &ProductChange) {
        let step = &self.steps[place.step as usize];
        (step, &step.changes[place.change as usize])
    }
}

/// The changes between two generations' products, with details and former records.
fn changes(before: &Versions, after: &Versions, hidden: &[Box<str>]) -> io::Result<Vec<ProductChange>> {
    let (old, new) = (VersionReader::new(&before.versions)?, VersionReader::new(&after.versions)?);
    let dictionaries = (old.dictionary, new.dictionary);
    let (mut changes, places) = compare(old, new, MAX_BYTES)?;
    if changes.is_empty() || changes.iter().map(ProductChange::bytes).sum::<usize>() > MAX_BYTES {
        return Ok(changes);
    }
    let reader = |texts: &Option<Bulk>, dictionary| ProductReader::new(texts.clone()?, dictionary).ok();
    let (old, new) = (reader(&before.texts, dictionaries.0), reader(&after.texts, dictionaries.1));
    let count = places.iter().filter(|places| matches!(places, (Some(_), Some(_)))).count();
    let (max_bytes, mut former_bytes) = (MAX_RECORD_BYTES.min(MAX_HISTORY_BYTES / count.max(1)), 0);
    for (change, (place_before, place_after)) in changes.iter_mut().zip(places) {
        let Some(place_before) = place_before else { continue };
        let warn = |error: &io::Error| tracing::warn!(id = %change.id, %error, "a change has no details");
        if let Some(old) = old.as_ref().filter(|_| former_bytes < MAX_FORMER_BYTES) {
            let former = old.read(place_before).and_then(|record| Ok(FormerRecord::of(&record, hidden)?));
            change.former = former.inspect_err(warn).ok().flatten().map(Box::new);
            former_bytes += change.former.as_ref().map_or(0, |former| former.bytes());
        }
        let Some(place_after) = place_after else { continue };
        let details = old
            .as_ref()
            .zip(new.as_ref())
            .map(|readers| ChangeDetails::between(readers, (place_before, place_after), hidden, max_bytes));
        let details = details.and_then(|details| details.inspect_err(warn).ok());
        change.details = Some(Box::new(details.unwrap_or_else(ChangeDetails::lost)));
    }
    Ok(changes)
}

/// The changes, and where each product's text is in the two generations.
type Compared = (Vec<ProductChange>, Vec<(Option<ProductPlace>, Option<ProductPlace>)>);

/// The changes between two lists of versions, each sorted by id. Stops once they exceed
/// `max_bytes`, since such a step is dropped.
fn compare(
    before: impl Iterator<Item = io::Result<ProductVersion>>,
    after: impl Iterator<Item = io::Result<ProductVersion>>,
    max_bytes: usize,
) -> io::Result<Compared> {
    let (mut before, mut after) = (before.fuse(), after.fuse());
    let (mut old, mut new) = (before.next().transpose()?, after.next().transpose()?);
    let (mut changes, mut places, mut bytes) = (Vec::new(), Vec::new(), 0);
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
        let place = |version: &Option<ProductVersion>| version.as_ref().map(|version| version.place);
        places.push((place(&one), place(&other)));
        let Some(id) = other.or(one).map(|version| version.id) else { continue };
        let change =
            ProductChange { before: hash_before, after: hash_after, ..ProductChange::of(id, is_evidence_renewed) };
        bytes += change.bytes();
        changes.push(change);
    }
    Ok((changes, places))
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

    /// Writes the part the way postcard would encode the dictionary's place and a list.
    pub(crate) fn finish(self, dictionary: Span) -> io::Result<Bulk> {
        let mut part = self.scratch.bulk();
        part.push_encoded(&dictionary)?;
        part.push_encoded(&self.count)?;
        self.versions.finish()?.try_for_each(|version| part.push_encoded(&version?))?;
        part.finish()
    }
}

/// Reads the part.
#[derive(Debug)]
pub(crate) struct VersionReader {
    part: BufReader<BulkReader>,
    /// Where the text has its compression dictionary.
    dictionary: Span,
    /// The number of versions that haven't been read yet.
    left: u64,
    buffer: Vec<u8>,
}

impl VersionReader {
    /// A reader for the part.
    pub(crate) fn new(part: &Bulk) -> io::Result<Self> {
        let part = part.reader(Span { start: 0, length: part.len()? })?;
        let (part, buffer) = (BufReader::new(part), vec![0; MAX_VERSION_BYTES]);
        let mut reader = Self { part, dictionary: Span::default(), left: 0, buffer };
        reader.dictionary = reader.read()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::merged::MergedChanges;
    use crate::record::CalendarDate;
    use crate::search::budget::Stop;

    fn generation(name: &str) -> Generation {
        serde_json::from_value(name.into()).expect("a name")
    }

    fn versions(of: &[(&str, u64)]) -> Vec<ProductVersion> {
        let place = ProductPlace::default();
        of.iter()
            .map(|(id, hash)| ProductVersion { id: (*id).into(), hash: *hash, evidence_checked_on: None, place })
            .collect()
    }

    /// The log after building these generations in order.
    fn log(generations: &[(&str, &[(&str, u64)])]) -> ChangeLog {
        let mut former: Option<Former> = None;
        for (name, of) in generations {
            let versions = postcard::to_stdvec(&(Span::default(), versions(of))).expect("encoded");
            let versions = Versions { versions: Bulk::Memory(versions.into()), texts: None };
            let at = format!("at {name}");
            let log = ChangeLog::after(former.take(), &generation(name), &versions, Vec::new(), &at);
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
    fn the_oldest_details_are_dropped_first() {
        let mut log = log(&[("g1", &[("a", 1)]), ("g2", &[("a", 2)]), ("g3", &[("a", 3)]), ("g4", &[("a", 4)])]);
        let bytes = ChangeDetails::default().bytes();
        let mut kept = |max_record_bytes, max_bytes| {
            log.steps.iter_mut().for_each(|step| step.changes[0].details = Some(Box::default()));
            log.trim_details(max_record_bytes, max_bytes);
            let details = log.steps.iter().filter_map(|step| step.changes[0].details.as_ref());
            details.map(|of| !of.is_incomplete).collect::<Vec<_>>()
        };
        assert_eq!(kept(usize::MAX, 3 * bytes), [true; 3]);
        assert_eq!(
            (kept(2 * bytes, usize::MAX), kept(usize::MAX, 2 * bytes)),
            (vec![false, true, true], vec![false, true, true])
        );
        assert_eq!(kept(bytes - 1, bytes - 1), [false; 3]);
    }

    #[test]
    fn a_later_evidence_date_counts_as_a_renewal() {
        let place = ProductPlace::default();
        let version =
            |hash, day| ProductVersion { id: "a".into(), hash, evidence_checked_on: CalendarDate::parse(day), place };
        let compare = |before: &[ProductVersion], after: &[ProductVersion]| {
            let [before, after] = [before, after].map(|of| of.iter().cloned().map(Ok));
            compare(before, after, MAX_BYTES).expect("in memory").0
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
            place: ProductPlace::default(),
        };
        let versions: Vec<_> = (0..300).map(|n| version(&format!("{n:03}"), n)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = VersionWriter::new(&Scratch::with_own_bytes(folder.path(), 100));
        versions.iter().rev().for_each(|version| writer.push(version.clone()).expect("written"));
        let dictionary = Span { start: 3, length: 4 };
        let part = writer.finish(dictionary).expect("written");
        assert_eq!(part.read_all().expect("read"), postcard::to_stdvec(&(dictionary, &versions)).expect("encoded"));
        let read: io::Result<Vec<_>> = VersionReader::new(&part).expect("a part").collect();
        assert_eq!(read.expect("read"), versions);
    }
}
