//! Matches a table's rows with an export's records, the most certain matches first.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use serde::Deserialize;

use super::Record;
use crate::record::{identity, normalised_url, slug};

/// How many records with a row's name and URL are compared with it to find the one that doesn't
/// differ at all.
const MAX_COMPARED: usize = 100;
/// How many records are shown for a row.
const MAX_CANDIDATES: usize = 9;

/// A row that may be one of several records, or that shares a name or URL that isn't unique.
#[derive(Debug)]
pub struct Match {
    /// The row, such as `row 5`, with its name and URL.
    pub row: String,
    /// The records that it may describe.
    pub candidates: Vec<String>,
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may be {}", self.row, self.candidates.join(" or "))
    }
}

/// What to do with a row that may be an existing record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The row is the candidate with this index: update it.
    Update(usize),
    /// The row is a different record: add it.
    Add,
}

#[derive(Deserialize)]
pub(super) struct KnownRecord {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) url: String,
    pub(super) repository: Option<String>,
}

impl fmt::Display for KnownRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}) {}", self.name, self.id, self.url)
    }
}

/// A normalised URL and name, the more certain one first.
type Keys = [String; 2];
const KEYS: [&str; 2] = ["address", "name"];

fn keys(name: &str, url: &str) -> Keys {
    [normalised_url(url).into_owned(), identity(name)]
}

/// The indices of the rows or records with each key.
struct Index([HashMap<String, Vec<usize>>; 2]);

impl Index {
    fn new(all: &[Keys]) -> Self {
        Self([0, 1].map(|which| {
            let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, keys) in all.iter().enumerate().filter(|(_, keys)| !keys[which].is_empty()) {
                by_key.entry(keys[which].clone()).or_default().push(at);
            }
            by_key
        }))
    }

    fn get(&self, which: usize, keys: &Keys) -> &[usize] {
        self.0[which].get(&keys[which]).map_or(&[], Vec::as_slice)
    }
}

/// A table's records and an export's, with the pairs found so far.
pub(super) struct Matcher<'m> {
    records: &'m [Record],
    known: &'m [KnownRecord],
    row_keys: Vec<Keys>,
    known_keys: Vec<Keys>,
    by_row: Index,
    by_known: Index,
    by_id: HashMap<&'m str, usize>,
    /// For each of the table's records, the element of `software` that it describes.
    pub(super) targets: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl<'m> Matcher<'m> {
    pub(super) fn new(records: &'m [Record], known: &'m [KnownRecord]) -> Self {
        let text = |record: &Record, property| record.text(property).unwrap_or_default();
        let row_keys: Vec<_> = records.iter().map(|of| keys(&text(of, "name"), &text(of, "url"))).collect();
        let known_keys: Vec<_> = known.iter().map(|known| keys(&known.name, &known.url)).collect();
        let (by_row, by_known) = (Index::new(&row_keys), Index::new(&known_keys));
        let (targets, is_taken) = (vec![None; records.len()], vec![false; known.len()]);
        let by_id = known.iter().enumerate().map(|(at, of)| (&*of.id, at)).collect();
        Self { records, known, row_keys, known_keys, by_row, by_known, by_id, targets, is_taken }
    }

    fn pair(&mut self, row: usize, element: usize) {
        self.targets[row] = Some(element);
        self.is_taken[element] = true;
    }

    pub(super) fn by_id(&mut self) {
        for row in 0..self.records.len() {
            let element = self.records[row].text("id").and_then(|id| self.by_id.get(&*id).copied());
            if let Some(element) = element.filter(|element| !self.is_taken[*element]) {
                self.pair(row, element);
            }
        }
    }

    /// Pairs rows and records that share a repository with each other and with no one else.
    pub(super) fn by_repository(&mut self) {
        let mut found: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (row, address) in self.records.iter().map(|of| of.text("repository")).enumerate() {
            found.entry(normalised_url(&address.unwrap_or_default()).into_owned()).or_default().0.push(row);
        }
        for (element, known) in self.known.iter().enumerate() {
            let address = known.repository.as_deref().unwrap_or_default();
            found.entry(normalised_url(address).into_owned()).or_default().1.push(element);
        }
        for (rows, elements) in found.into_iter().filter(|(address, _)| !address.is_empty()).map(|(_, of)| of) {
            if let ([row], [element]) = (&rows[..], &elements[..]) {
                self.pair(*row, *element);
            }
        }
    }

    /// Pairs rows and records with the same name and URL. If there are several, those that don't
    /// differ in anything else come first, and the others follow in order if they're equally many.
    pub(super) fn by_name_and_url(&mut self, is_same: &dyn Fn(usize, &Record) -> bool) {
        let mut groups: HashMap<&Keys, (Vec<usize>, VecDeque<usize>)> = HashMap::new();
        let free = self.known_keys.iter().enumerate().filter(|(element, _)| !self.is_taken[*element]);
        for (element, keys) in free {
            groups.entry(keys).or_default().1.push_back(element);
        }
        let free = self.row_keys.iter().enumerate().filter(|(row, _)| self.targets[*row].is_none());
        for (row, keys) in free {
            groups.entry(keys).and_modify(|(rows, _)| rows.push(row));
        }
        let mut pairs = Vec::new();
        for (mut rows, mut elements) in groups.into_values() {
            rows.retain(|row| {
                let mut first = elements.iter().take(MAX_COMPARED);
                let same = first.position(|element| is_same(*element, &self.records[*row]));
                pairs.extend(same.and_then(|at| elements.remove(at)).map(|element| (*row, element)));
                same.is_none()
            });
            if rows.len() == elements.len() {
                pairs.extend(rows.into_iter().zip(elements));
            }
        }
        for (row, element) in pairs {
            self.pair(row, element);
        }
    }

    /// Pairs rows and records that share a URL or a name with each other and with no one else.
    /// Returns each with what they share.
    pub(super) fn by_one_key(&mut self) -> Vec<(usize, usize, &'static str)> {
        let mut pairs = Vec::new();
        for row in 0..self.records.len() {
            let [element] = self.candidates(row, None)[..] else { continue };
            let (keys, known) = (&self.row_keys[row], &self.known_keys[element]);
            let shared = usize::from(keys[0] != known[0]);
            let is_unique = [&self.by_row, &self.by_known].iter().all(|index| index.get(shared, keys).len() == 1);
            let others = self.by_row.get(1 - shared, known).iter();
            if is_unique && others.copied().all(|other| other == row || self.targets[other].is_some()) {
                pairs.push((row, element, KEYS[shared]));
                self.pair(row, element);
            }
        }
        pairs
    }

    /// The first unpaired records that share a key with an unpaired row or have this id.
    fn candidates(&self, row: usize, id: Option<&str>) -> Vec<usize> {
        let mut candidates = Vec::new();
        let shared = (0..2).flat_map(|which| self.by_known.get(which, &self.row_keys[row])).copied();
        let made = id.and_then(|id| self.by_id.get(id).copied());
        let free = shared.chain(made).filter(|element| self.targets[row].is_none() && !self.is_taken[*element]);
        for element in free.take(2 * MAX_CANDIDATES) {
            if candidates.len() < MAX_CANDIDATES && !candidates.contains(&element) {
                candidates.push(element);
            }
        }
        candidates
    }

    /// Asks about each row that may still be one of the records. Returns the questions that weren't
    /// answered.
    pub(super) fn by_answer(
        &mut self,
        row_name: &dyn Fn(&Record) -> String,
        ask: &mut dyn FnMut(&Match) -> Option<Choice>,
    ) -> Vec<Match> {
        let mut unclear = Vec::new();
        for (row, record) in self.records.iter().enumerate() {
            let [name, url] = ["name", "url"].map(|property| record.text(property).unwrap_or_default());
            let candidates = self.candidates(row, Some(&slug(&name)));
            if candidates.is_empty() {
                continue;
            }
            let row_text = format!("{} `{name}` {url}", row_name(record));
            let shown = candidates.iter().map(|element| self.known[*element].to_string()).collect();
            let question = Match { row: row_text, candidates: shown };
            match ask(&question) {
                Some(Choice::Update(chosen)) => self.pair(row, candidates[chosen.min(candidates.len() - 1)]),
                Some(Choice::Add) => {}
                None => unclear.push(question),
            }
        }
        unclear
    }
}
