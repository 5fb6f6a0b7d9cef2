//! Splits query words that are two of the directory's words, written without a space.

use std::ops::Range;

use super::Expander;
use super::correction::is_right;
use crate::catalogue::resource::Correction;
use crate::search::TermLookup;
use crate::search::query::{LONG_QUERY, ParsedQuery};
use crate::text::analyse::{Gap, Word, words};

/// The minimum number of letters in each word, unless the word also has a digit: `3d`.
const LETTERS: usize = 3;

impl<L: TermLookup> Expander<'_, L> {
    /// The query with each word that's still unknown split into two: `scorewriter` becomes
    /// `score writer`. Also returns the corrections to report. `None` if nothing can be split, and
    /// for sentences, which have enough other words.
    pub(super) fn split(&self, unknown: &[String]) -> Option<(ParsedQuery, Vec<Correction>)> {
        let is_sentence = self.query.words.len() >= LONG_QUERY;
        // Splitting a word would change the indices that phrases use.
        if !self.options.typo || is_sentence || !self.query.phrases.is_empty() {
            return None;
        }
        let mut query = ParsedQuery { words: Vec::new(), ..self.query.clone() };
        let mut corrected = Vec::new();
        for word in &self.query.words {
            let from = self.written(word);
            let Some(halves) = unknown.contains(&from).then(|| self.halves(word)).flatten() else {
                query.words.push(word.clone());
                continue;
            };
            let to = halves.each_ref().map(|half| half.folded.as_str()).join(" ");
            corrected.push(Correction { from, to });
            query.words.extend(halves);
        }
        (!corrected.is_empty()).then_some((query, corrected))
    }

    /// The two known words that a word consists of. If there are several such pairs, returns the
    /// one whose rarer word is the most frequent.
    fn halves(&self, word: &Word) -> Option<[Word; 2]> {
        if is_right(&word.folded) {
            return None;
        }
        let lexicon = &self.index.lexicon;
        let frequency = |half: &Word| lexicon.word(&half.folded).map_or(0, |word| lexicon.document_frequency(word));
        let places = self.text[word.start..word.end].char_indices().map(|(at, _)| word.start + at);
        let pairs = places.filter_map(|place| {
            let halves = [self.half(word.start..place, word.gap)?, self.half(place..word.end, Gap::Space)?];
            let rarer = halves.iter().map(frequency).min().filter(|rarer| *rarer > 0)?;
            Some((rarer, halves))
        });
        pairs.max_by_key(|(rarer, _)| *rarer).map(|(_, halves)| halves)
    }

    /// The only word in a part of the query's text, if it's long enough.
    fn half(&self, part: Range<usize>, gap: Gap) -> Option<Word> {
        let [word] = <[Word; 1]>::try_from(words(&self.text[part.clone()])).ok()?;
        let letters = word.folded.chars().filter(|c| c.is_alphabetic()).count();
        let has_digit = word.folded.bytes().any(|byte| byte.is_ascii_digit());
        let is_long = letters >= LETTERS || (letters > 0 && has_digit);
        is_long.then_some(Word { start: part.start, end: part.end, gap, ..word })
    }
}
