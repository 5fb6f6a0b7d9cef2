//! The benchmarks' corpus, and queries drawn from it. All randomness is seeded, so two runs send
//! the same requests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use fastrand::Rng;
use foldhash::HashSet;
use software_directory::export::{self, Export, IdPrefixes, Limits};
use software_directory::generation::Snapshot;
use software_directory::record::Software;
use software_directory::search::typo::allowed_edits;
use software_directory::text::analyse::words;

/// Why a benchmark can't run.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Prints a failure and returns the benchmark's exit code.
pub(crate) fn exit(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The environment variable with the path of the folder that contains `exports/`.
const FOLDER: &str = "MEASURE_DATA";

/// The export to use from that folder, unless [`EXPORT`] names a different one.
const DEFAULT_EXPORT: &str = "exports/debian.json";

/// The environment variable that names a different export in the folder, or a folder of exports.
const EXPORT: &str = "MEASURE_EXPORT";

/// The minimum length of a word to misspell in a benchmark. Typos are tolerated in words of four
/// letters or more.
const MISSPELLED_FROM: usize = 5;

/// The exports to measure: `$MEASURE_DATA/exports/debian.json`, or the file or folder
/// `$MEASURE_DATA/$MEASURE_EXPORT`.
pub(crate) fn path() -> Result<PathBuf, Failure> {
    let folder = std::env::var(FOLDER).unwrap_or_default();
    let export = std::env::var(EXPORT).unwrap_or_else(|_| DEFAULT_EXPORT.to_owned());
    let path = Path::new(&folder).join(export);
    if path.exists() {
        return Ok(path);
    }
    Err(format!(
        "there is no export {}; name its folder with `make bench MEASURE_DATA=…`, and the file in it with MEASURE_EXPORT \
         if it isn't {DEFAULT_EXPORT}. Any valid export will do; the figures in PERFORMANCE.md are for Debian 12's \
         packages, generated from its Packages and Translation-en files",
        path.display()
    )
    .into())
}

/// Reads the corpus.
pub(crate) fn read(path: &Path) -> Result<Vec<Export>, Failure> {
    let today = export::latest_day(jiff::Timestamp::now());
    let files = if path.is_dir() { export::find_files(path)? } else { vec![path.to_owned()] };
    let report = export::read(&files, &Limits::default(), &IdPrefixes::default(), today, &|_, _| {})?;
    if report.is_valid() {
        Ok(report.exports)
    } else {
        Err(format!("{} isn't a valid export; see `software-directory check`", path.display()).into())
    }
}

/// Draws queries from a corpus's records.
pub(crate) struct Queries<'c> {
    records: Vec<&'c Software>,
    snapshot: &'c Arc<Snapshot>,
    random: Rng,
}

impl<'c> Queries<'c> {
    pub(crate) fn new(exports: &'c [Export], snapshot: &'c Arc<Snapshot>, seed: u64) -> Self {
        let records = exports.iter().flat_map(|export| &export.software).collect();
        Self { records, snapshot, random: Rng::with_seed(seed) }
    }

    /// One to three words from a record, in order, each with at least two letters.
    pub(crate) fn right(&mut self) -> String {
        self.right_with_id().0
    }

    /// Like [`right`](Self::right), with the record's id.
    pub(crate) fn right_with_id(&mut self) -> (String, &'c str) {
        let count = self.random.usize(1..=3);
        loop {
            let record = self.records[self.random.usize(0..self.records.len())];
            let found = searchable(record);
            if found.len() >= count {
                let mut places: Vec<_> = self.random.choose_multiple(0..found.len(), count);
                places.sort_unstable();
                let words: Vec<_> = places.into_iter().map(|at| found[at].as_str()).collect();
                return (words.join(" "), &record.id);
            }
        }
    }

    /// A query that can be misspelled, and its misspelled form: in one word, a letter after the
    /// first is left out, doubled, swapped with its neighbour or replaced, so that the corpus
    /// doesn't contain the result.
    pub(crate) fn pair(&mut self) -> (String, String) {
        loop {
            let right = self.right();
            let parts: Vec<&str> = right.split(' ').collect();
            let can_be_wrong = |word: &str| word.chars().count() >= MISSPELLED_FROM && allowed_edits(word) > 0;
            let Some(at) = self.random.choose_multiple(0..parts.len(), 1).pop().filter(|at| can_be_wrong(parts[*at]))
            else {
                continue;
            };
            let edited = self.edited(parts[at]);
            if self.snapshot.search.lexicon.word(&edited).is_none() {
                let mut wrong = parts.clone();
                wrong[at] = &edited;
                let wrong = wrong.join(" ");
                return (right, wrong);
            }
        }
    }

    /// A word with one edit after its first letter.
    pub(crate) fn edited(&mut self, word: &str) -> String {
        let mut letters: Vec<char> = word.chars().collect();
        let at = self.random.usize(1..letters.len() - 1);
        match self.random.u8(0..4) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            2 => letters.swap(at, at + 1),
            _ => letters[at] = self.random.lowercase(),
        }
        letters.into_iter().collect()
    }
}

/// The distinct words in a record's name, tagline and the beginning of its description.
fn searchable(record: &Software) -> Vec<String> {
    let description = record.description.as_deref().unwrap_or_default();
    let beginning = description.char_indices().nth(400).map_or(description, |(end, _)| &description[..end]);
    let texts = [&record.name, record.tagline.as_deref().unwrap_or_default(), beginning];
    let mut seen = HashSet::default();
    let all = texts.iter().flat_map(|text| words(text)).map(|word| word.folded);
    all.filter(|word| word.chars().count() > 1 && seen.insert(word.clone())).collect()
}
