//! Real misspellings: is the right word found first, and are correct words left alone?

use std::path::Path;

use fst::Streamer as _;
use software_directory::generation::Snapshot;
use software_directory::search::typo::allowed_edits;

use crate::qhse::per_cent;
use crate::{Failure, rows, search};

pub(crate) fn report(snapshot: &Snapshot, path: &Path) -> Result<(), Failure> {
    let lexicon = &snapshot.search.lexicon;
    let mut counts = (0, 0);
    let mut missed = Vec::new();
    for row in rows(path)? {
        let [typed, meant] = &row[..] else { return Err("misspellings have two columns".into()) };
        let (typed, meant) = (typed.to_lowercase(), meant.to_lowercase());
        let known = lexicon.word(&meant).is_some_and(|word| lexicon.document_frequency(word) > 0);
        if !known
            || typed.contains(|c: char| !c.is_alphabetic())
            || edits(&typed, &meant) > u32::from(allowed_edits(&typed))
        {
            continue;
        }
        let page = search(snapshot, &typed, true)?;
        // A misspelling with the right word's stem needs no correction, nor does a prefix of that
        // word.
        let stem = |word: &str| snapshot.search.stems.of(word).into_owned();
        let found = match page.query.corrected.first() {
            Some(correction) => correction.to == meant,
            None => stem(&typed) == stem(&meant) || meant.starts_with(&typed),
        };
        counts.0 += usize::from(found);
        counts.1 += 1;
        if !found {
            let got = page.query.corrected.first().map_or("-", |correction| correction.to.as_str()).to_owned();
            missed.push(format!("{typed} → {meant} ({got})"));
        }
    }
    let (mut changed, mut words) = (0, 0);
    let mut stream = lexicon.words().stream();
    while let Some((word, _)) = stream.next() {
        let word = std::str::from_utf8(word)?;
        words += 1;
        changed += usize::from(!search(snapshot, word, true)?.query.corrected.is_empty());
    }
    println!("Real misspellings that are within the allowed edit distance of a word in the index");
    println!("  the right word first    {} of {} ({:.1} %)", counts.0, counts.1, per_cent(counts));
    println!("  missed: {}", missed.join("; "));
    println!("  words in the index that were changed: {changed} of {words}\n");
    Ok(())
}

/// The number of edits between two words as the search counts them: the restricted
/// Damerau–Levenshtein distance, with an edit to the first letter counting double.
fn edits(typed: &str, meant: &str) -> u32 {
    let distance = u32::try_from(strsim::osa_distance(typed, meant)).unwrap_or(u32::MAX);
    distance + u32::from(typed.chars().next() != meant.chars().next())
}
