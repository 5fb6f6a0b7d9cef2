//! Creates slots for words, and for names of products that the query asks for alternatives to.

use std::ops::Range;

use super::Expander;
use super::slot::Slot;
use crate::search::TermLookup;
use crate::search::lexicon::WordId;
use crate::search::pieces;
use crate::search::plan::{Alternative, MatchKind, Term};
use crate::search::understand::Subject;
use crate::text::analyse::Word;

impl<L: TermLookup> Expander<'_, L> {
    /// Creates a word's slot: the word itself, its compounds with its neighbours, and its
    /// completions.
    pub(super) fn slot(&mut self, at: usize, known: Option<WordId>, joined: &[(Range<usize>, WordId)]) -> Slot {
        let words = &self.query.words;
        let word = &words[at];
        let lexicon = &self.index.lexicon;
        let mut alternatives = Vec::new();
        let stem = known.map(|word| lexicon.stem_of(word)).or_else(|| lexicon.stem(&self.index.stems.of(&word.folded)));
        if let Some(stem) = stem {
            let kind = if known.is_some() { MatchKind::Exact } else { MatchKind::Stem };
            alternatives.push(Alternative { kind, term: Term::Word(stem), weight: 1.0 });
        }
        let mut slot = Slot {
            spelling: word.accented.as_ref().map_or(known, |accented| lexicon.accented(accented)),
            word: word.clone(),
            alternatives,
            required: true,
            in_phrase: self.query.is_in_phrase(at),
            prefix: None,
            document_frequency: 0,
            others: Vec::new(),
        };
        if slot.in_phrase {
            slot.alternatives.extend(self.other_forms(at, known));
            return slot;
        }
        slot.alternatives.push(Alternative {
            kind: MatchKind::Compound,
            term: Term::Compound(self.index.stems.of(&word.folded).into()),
            weight: self.index.ranking.compound,
        });
        let joined = joined.iter().filter(|(range, _)| range.contains(&at));
        slot.alternatives.extend(joined.map(|(_, joined)| Alternative {
            kind: MatchKind::Compound,
            term: Term::Word(lexicon.stem_of(*joined)),
            weight: self.index.ranking.compound,
        }));
        if let Some(spelled) = word.spelled_out()
            && let Some(spelled) = lexicon.stem(&self.index.stems.of(&spelled))
        {
            slot.alternatives.push(Alternative { kind: MatchKind::Stem, term: Term::Word(spelled), weight: 1.0 });
        }
        self.push_inflections(&mut slot);
        slot.alternatives.push(Alternative {
            kind: MatchKind::Inner,
            term: pieces::inner(&word.folded, &self.index.stems),
            weight: self.index.ranking.inner,
        });
        let bare = word.folded.trim_matches(['+', '#', '.']);
        if bare != word.folded
            && let Some(part) = lexicon.word(bare)
        {
            slot.alternatives.push(Alternative {
                kind: MatchKind::Part,
                term: Term::Word(lexicon.stem_of(part)),
                weight: self.index.ranking.part,
            });
        }
        if at + 1 == words.len() && self.query.last_is_open {
            self.push_prefix(&mut slot, known);
        }
        slot
    }

    /// Creates the slot for the name of a product that the query asks for alternatives to.
    pub(super) fn subject_slot(&self, subject: &Subject) -> Result<Slot, L::Error> {
        let words = &self.query.words[subject.words.clone()];
        let lexicon = &self.index.lexicon;
        let stem = |word: &Word| lexicon.word(&word.folded).map(|word| lexicon.stem_of(word));
        let mut slot = Slot {
            word: words[0].clone(),
            alternatives: subject.alternatives.clone(),
            required: true,
            in_phrase: false,
            spelling: None,
            prefix: None,
            document_frequency: 0,
            others: words.iter().filter_map(stem).collect(),
        };
        self.weigh(&mut slot)?;
        Ok(slot)
    }

    /// Removes alternatives that no product contains, and records the highest document frequency.
    pub(super) fn weigh(&self, slot: &mut Slot) -> Result<(), L::Error> {
        let mut frequencies = Vec::with_capacity(slot.alternatives.len());
        for alternative in &slot.alternatives {
            frequencies.push(self.lookup.document_frequency(&alternative.term)?);
        }
        let mut at = 0;
        slot.alternatives.retain(|_| {
            at += 1;
            frequencies[at - 1] > 0
        });
        slot.document_frequency = frequencies.into_iter().max().unwrap_or(0);
        Ok(())
    }
}
