//! Names as queries: does searching for a record's name return it first, however the name is
//! written?

use std::path::{Path, PathBuf};

use serde::Deserialize;
use software_directory::generation::Snapshot;
use software_directory::search::Ranking;
use software_directory::text::analyse::{name_key, words};
use unicode_normalization::UnicodeNormalization as _;

use crate::{Built, Failure, search};

/// The maximum length of a query, in characters. Longer names can't be searched for.
const LONGEST: usize = 256;

/// How many failures are listed per export.
const LISTED: usize = 10;

/// A way of writing names: its label, and the function that rewrites a name.
type Variant = (&'static str, fn(&str) -> String);

const VARIANTS: [Variant; 5] = [
    ("exact", str::to_owned),
    ("upper case", str::to_uppercase),
    ("without accents", without_accents),
    ("typographic", typographic),
    ("space at the end", |name| format!("{name} ")),
];

#[derive(Deserialize)]
struct Export {
    software: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
}

/// The exports in a folder, which must contain at least one.
pub(crate) fn exports(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let of_folder = |error| format!("can't list {}, which should contain exports: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(of_folder)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<Result<Vec<_>, std::io::Error>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    if files.is_empty() {
        return Err(format!("there are no exports (*.json) in {}", folder.display()).into());
    }
    Ok(files)
}

/// Searches for every variant of each name in each export, and fails if any of these searches
/// doesn't return a product with that name first.
pub(crate) fn report(files: &[PathBuf]) -> Result<(), Failure> {
    println!("Names that, when searched for, don't return a product with that name first");
    let mut failures = 0;
    for file in files {
        let export: Export = serde_json::from_slice(&std::fs::read(file)?)?;
        let snapshot = Built::of(std::slice::from_ref(file))?.open(Ranking::default())?;
        let names = export.software.iter().map(|record| record.name.as_str());
        let names: Vec<_> = names.filter(|name| name.chars().count() <= LONGEST).collect();
        let mut missed = Vec::new();
        for name in &names {
            for (variant, write) in VARIANTS {
                let query = write(name);
                let first = first(&snapshot, &query)?;
                if !first.as_ref().is_some_and(|first| is_called(first, name)) {
                    missed.push(format!("{query:?} ({variant}) finds {:?}", first.map(|first| first.name)));
                }
            }
        }
        let file = file.file_name().unwrap_or_default().display();
        let (names, variants) = (names.len(), VARIANTS.len());
        println!("  {file:28} {} of {} ({names} names × {variants} variants)", missed.len(), names * variants);
        missed.iter().take(LISTED).for_each(|missed| println!("    {missed}"));
        failures += missed.len();
    }
    println!();
    if failures > 0 {
        return Err(format!("{failures} searches for a product's name didn't return that product first").into());
    }
    Ok(())
}

fn first(snapshot: &Snapshot, query: &str) -> Result<Option<Record>, Failure> {
    let page = search(snapshot, query, true)?;
    Ok(page.data.first().map(|hit| serde_json::from_slice(&hit.item)).transpose()?)
}

fn is_called(record: &Record, name: &str) -> bool {
    let key = key(name);
    self::key(&record.name) == key || record.aliases.iter().any(|alias| self::key(alias) == key)
}

/// A name in the form that searches compare: its words, and the trailing symbols that distinguish
/// `Calculator ++` from `Calculator`. If a name has no words, all its symbols are used.
fn key(name: &str) -> String {
    let words = words(name);
    let end = words.last().map_or(0, |last| last.end);
    let is_sign = |c: &char| !c.is_whitespace() && (words.is_empty() || matches!(c, '+' | '#'));
    name_key(&words).chars().chain(name[end..].chars().filter(is_sign)).collect()
}

/// Removes the accents from Latin, Greek, Cyrillic, Hebrew and Arabic letters, which any query may
/// leave out. In other scripts, a letter with a mark is a different letter.
fn without_accents(name: &str) -> String {
    let is_accent = |c: char| matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{5c1}' | '\u{5c2}' | '\u{64b}'..='\u{652}');
    name.nfd().filter(|c| !is_accent(*c)).nfc().collect()
}

/// Writes apostrophes, dashes and quotes the way a word processor does.
fn typographic(name: &str) -> String {
    let opened = name.replace('\'', "’").replace('-', "–").replacen('"', "“", 1);
    opened.replace('"', "”")
}
