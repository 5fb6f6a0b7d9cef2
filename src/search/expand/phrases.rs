//! All forms of a query's phrases.

use super::Expander;
use crate::search::lexicon::WordId;
use crate::search::plan::{Alternative, MatchKind, Phrase, PhraseForm, Term, TermLookup};

impl<L: TermLookup> Expander<'_, L> {
    /// The phrases, rarest first. `None` if every form of a phrase contains an unknown word, so
    /// nothing matches.
    pub(super) fn planned_phrases(&self) -> Option<Vec<Phrase>> {
        let mut phrases = self.phrases.iter().cloned().collect::<Option<Vec<_>>>()?;
        let frequency =
            |spellings: &Vec<WordId>| spellings.first().map(|word| self.index.lexicon.document_frequency(*word));
        let rarest = |form: &PhraseForm| form.iter().filter_map(frequency).min();
        phrases.sort_by_cached_key(|phrase| (phrase.iter().map(rarest).max(), phrase.clone()));
        phrases.dedup();
        Some(phrases)
    }

    /// For a word in a phrase, the first word of each form that doesn't contain it.
    pub(super) fn other_forms(&self, at: usize, known: Option<WordId>) -> Vec<Alternative> {
        let number = self.query.phrases.iter().position(|phrase| phrase.contains(&at));
        let Some(phrase) = number.and_then(|number| self.phrases[number].as_ref()) else { return Vec::new() };
        let has_word = |form: &PhraseForm| form.iter().flatten().any(|word| Some(*word) == known);
        let others = phrase.iter().filter(|form| !has_word(form)).filter_map(|form| form.first()?.first());
        let alternative = |word: &WordId| Alternative {
            kind: MatchKind::Compound,
            term: Term::Word(self.index.lexicon.stem_of(*word)),
            weight: self.index.ranking.compound,
        };
        others.map(alternative).collect()
    }
}
