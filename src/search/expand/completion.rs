//! Completions of a query's last word, treated as a prefix.

use fst::{IntoStreamer, Streamer};

use super::slot::Slot;
use super::{Expander, Prefix};
use crate::search::TermLookup;
use crate::search::lexicon::{StemId, WordId};
use crate::search::plan::{Alternative, INDEXED_PREFIX, MatchKind, Term};
use crate::text::english;

/// The number of budget units per word with the typed prefix.
const LISTED: usize = 10;

impl<L: TermLookup> Expander<'_, L> {
    /// Adds the last word's completions, unless it's taken for a complete word. Words of up to
    /// three letters that are known or in capitals aren't completed: `VA` isn't a prefix of
    /// Vanguard. A single letter only completes names.
    pub(super) fn push_prefix(&mut self, slot: &mut Slot, known: Option<WordId>) {
        let letters = slot.word.folded.chars().count();
        if letters == 1 && self.query.words.len() == 1 && self.options.prefix != Prefix::Never {
            slot.prefix = Some(slot.word.folded.clone());
            let term = Term::NamePrefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative { kind: MatchKind::Prefix, term, weight: self.index.ranking.prefix });
            return;
        }
        let is_known = known.is_some_and(|word| self.index.lexicon.document_frequency(word) > 0);
        if letters <= 3 && (is_known || slot.word.is_capitals(self.text)) {
            return;
        }
        let is_word = || is_known || english::is_common(&slot.word.folded);
        match self.options.prefix {
            Prefix::Never => return,
            Prefix::Auto if is_word() => {
                self.is_closed = true;
                return;
            }
            Prefix::Auto | Prefix::Always => {}
        }
        slot.prefix = Some(slot.word.folded.clone());
        if letters <= INDEXED_PREFIX {
            let term = Term::Prefix(slot.word.folded.as_str().into());
            slot.alternatives.push(Alternative { kind: MatchKind::Prefix, term, weight: self.index.ranking.prefix });
            return;
        }
        self.push_longer(slot, &slot.word.folded.clone(), self.index.ranking.prefix);
    }

    fn push_longer(&self, slot: &mut Slot, prefix: &str, weight: f32) {
        let lexicon = &self.index.lexicon;
        let mut stems: Vec<StemId> = Vec::new();
        // Search a range, because an automaton would open every branch off the path to the prefix.
        let mut stream = lexicon.words().range().ge(prefix).into_stream();
        while let Some((text, word)) = stream.next() {
            self.budget.spend(LISTED);
            if !text.starts_with(prefix.as_bytes()) || !self.budget.allows_more() {
                break;
            }
            if let Ok(word) = WordId::try_from(word) {
                stems.push(lexicon.stem_of(word));
            }
        }
        stems.sort_unstable();
        stems.dedup();
        stems.retain(|stem| !slot.alternatives.iter().any(|alternative| alternative.term == Term::Word(*stem)));
        slot.alternatives.extend(stems.into_iter().map(|stem| Alternative {
            kind: MatchKind::Prefix,
            term: Term::Word(stem),
            weight,
        }));
    }
}
