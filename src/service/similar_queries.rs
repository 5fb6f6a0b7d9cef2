//! Suggests queries similar to a query that found nothing.

use crate::generation::Snapshot;
use crate::search::budget::Budget;
use crate::search::typo::{allowed_edits, candidates};
use crate::service::MAX_QUERY_CHARACTERS;
use crate::text::analyse::words;
use crate::text::shorten::is_longer;

/// The maximum number of words; any others are left out.
const MAX_WORDS: usize = 10;

/// The maximum number of edits between two similar words. That's one more than a search corrects
/// automatically, because here the reader confirms the correction.
const MAX_EDITS: u8 = 2;

/// Returns up to `most` queries, best first. Words that no product contains are replaced with
/// similar words, or left out if there are none. Returns nothing if there are no similar words at
/// all.
pub fn similar_queries(snapshot: &Snapshot, q: &str, most: usize, budget: &Budget) -> Vec<String> {
    let search = &snapshot.search;
    let lexicon = &search.lexicon;
    let is_synonym = |word: &str| !search.thesaurus.asked_by(word, &search.stems).is_empty();
    let mut is_changed = false;
    let choices = words(q).into_iter().take(MAX_WORDS).map(|word| {
        let known = lexicon.word(&word.folded).filter(|known| lexicon.document_frequency(*known) > 0);
        if known.is_some() || !word.folded.chars().all(char::is_alphabetic) {
            return vec![q[word.start..word.end].to_owned()];
        }
        let edits = MAX_EDITS.min(allowed_edits(&word.folded) + 1);
        let similar = candidates(lexicon, &is_synonym, &word.folded, edits, budget);
        is_changed |= !similar.is_empty();
        similar.into_iter().map(|similar| similar.folded).collect()
    });
    let mut choices: Vec<Vec<String>> = choices.collect();
    choices.retain(|choices| !choices.is_empty());
    if !is_changed {
        return Vec::new();
    }
    let variants = choices.iter().map(Vec::len).max().unwrap_or_default().min(most);
    let query = |variant: usize| {
        let words = choices.iter().map(|choices| &*choices[variant.min(choices.len() - 1)]);
        words.collect::<Vec<_>>().join(" ")
    };
    (0..variants).map(query).filter(|query| !is_longer(query, MAX_QUERY_CHARACTERS)).collect()
}
