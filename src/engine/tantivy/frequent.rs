//! What is known of frequent terms beside their postings: a bit per document, so that their documents are counted without
//! being read, and the postings worth most by themselves, so that the best documents are found without reading all others.
//!
//! A query's frequent words are what its documents are most of, and what they score is little. Tiers of postings by what they
//! are worth: Risvik, Aasheim and Lidal, "Multi-tier architecture for Web search engines", LA-WEB 2003.

use ::tantivy::{DocId, TERMINATED};

use super::list::List;
use super::window::{Bits, WIDTH, place, window_of};
use crate::search::Term;
use crate::search::score::Scorer;

/// A term in at least so many documents is frequent, as far as the shares below let it: fewer postings are soon read.
const FREQUENT: usize = 8192;

/// A term is frequent if it is in at least the second of these shares of the documents, and isn't if it is in less than the
/// first: one in so many. What its bits take is then no more than 16 times its postings, in a small directory four times.
const SHARES: [usize; 2] = [128, 32];

/// The same of the beginning of a word: most are those of frequent words, and few searches end in one that is so short that
/// it is a term.
const PREFIX_SHARES: [usize; 2] = [32, 8];

/// A term in fewer documents isn't, however few there are.
const AT_LEAST: u32 = 256;

/// How many of a term's postings are in the first tiers, each without those before it: one in so many.
const TIERS: [usize; 2] = [64, 16];

/// So many steps of worth are told apart where the tiers are cut.
const STEPS: usize = 1024;

/// What is known of a frequent term.
pub(super) struct Frequent {
    /// A bit per document, by window.
    bits: Box<[Bits]>,
    /// In how many documents it is.
    pub(super) documents: u32,
    /// None of the beginning of a word: what searches that end in one gain isn't worth the memory, nor the time when the index
    /// is opened.
    tiers: Box<[Tier]>,
    /// What a posting is worth at most that is in none of the first so many tiers.
    most: Box<[f32]>,
}

/// Some postings, by window.
struct Tier {
    /// Where those of each window begin, and where the last ones end.
    windows: Box<[u32]>,
    /// Each one's place in its window and its code.
    postings: Box<[Packed]>,
}

/// A document's place in its window, above the code of its occurrences.
#[derive(Clone, Copy)]
pub(super) struct Packed(u32);

impl Packed {
    const CODE_BITS: u32 = 16;

    #[expect(clippy::cast_possible_truncation, reason = "a place is below 4,096")]
    pub(super) const fn new(document: DocId, code: u32) -> Self {
        Self((place(document) as u32) << Self::CODE_BITS | code)
    }

    pub(super) const fn place(self) -> usize {
        (self.0 >> Self::CODE_BITS) as usize
    }

    pub(super) const fn code(self) -> u32 {
        self.0 & ((1 << Self::CODE_BITS) - 1)
    }
}

impl Frequent {
    /// Whether a term in that many documents may be frequent, whatever its kind.
    pub(super) fn is(documents: u32, scorer: &Scorer) -> bool {
        Self::pays_for(Term::WORD, documents, scorer)
    }

    /// Whether a term of this kind in that many documents is frequent.
    pub(super) fn pays_for(kind: u8, documents: u32, scorer: &Scorer) -> bool {
        let shares = if kind == Term::PREFIX { PREFIX_SHARES } else { SHARES };
        let [least, most] = shares.map(|share| scorer.documents().div_ceil(share));
        documents >= AT_LEAST && documents as usize >= FREQUENT.clamp(least, most)
    }

    /// Reads the postings of a term of this kind. They are put where those of the term before were: what is asked for and
    /// given back for each would be left lying about in the allocator.
    pub(super) fn read(
        kind: u8,
        mut list: List,
        documents: u32,
        scorer: &Scorer,
        postings: &mut Vec<(DocId, u32, f32)>,
    ) -> Self {
        let windows = scorer.documents().div_ceil(WIDTH);
        let mut bits = vec![Bits::NONE; windows];
        let mut add = |document: DocId| {
            if let Some(bits) = bits.get_mut(window_of(document)) {
                bits.add(place(document));
            }
        };
        if kind == Term::PREFIX {
            list.for_each_until(TERMINATED, |document, _| add(document));
            return Self {
                bits: bits.into(),
                documents,
                tiers: Box::default(),
                most: Box::new([scorer.most_of_all()]),
            };
        }
        postings.clear();
        let mut counts = [0_u32; STEPS];
        list.for_each_until(TERMINATED, |document, code| {
            add(document);
            let worth = scorer.worth(code, document);
            counts[step(worth)] += 1;
            postings.push((document, code, worth));
        });
        // The lowest step of each tier, no more than its share being on it and above, and how many postings the tier has.
        let (mut lowest, mut above) = (STEPS, 0);
        let cuts = TIERS.map(|share| {
            let before = above;
            while lowest > 0 && above + counts[lowest - 1] as usize <= postings.len() / share {
                lowest -= 1;
                above += counts[lowest] as usize;
            }
            (lowest, above - before)
        });
        let mut tiers = cuts.map(|(_, inside)| TierBuilder::new(windows, inside));
        let mut most = [0.0_f32; TIERS.len() + 1];
        for (document, code, worth) in postings.drain(..) {
            let step = step(worth);
            let tier = cuts.iter().position(|(lowest, _)| step >= *lowest).unwrap_or(TIERS.len());
            most[tier] = most[tier].max(worth);
            if let Some(tier) = tiers.get_mut(tier) {
                tier.push(document, code);
            }
        }
        for tier in (0..TIERS.len()).rev() {
            most[tier] = most[tier].max(most[tier + 1]);
        }
        Self { bits: bits.into(), documents, tiers: tiers.map(|tier| tier.finish(windows)).into(), most: most.into() }
    }

    /// How many stages there are from reading none of its postings to reading all.
    pub(super) fn stages(&self) -> usize {
        self.most.len()
    }

    /// What a posting is worth at most of which only the first so many stages were read; 0 once all are.
    pub(super) fn most(&self, stages: usize) -> f32 {
        self.most.get(stages).copied().unwrap_or(0.0)
    }

    /// How many postings a stage has to read.
    pub(super) fn postings_of(&self, stage: usize) -> usize {
        self.tiers.get(stage).map_or(self.documents as usize, |tier| tier.postings.len())
    }

    /// Its documents of a window, a bit for each.
    pub(super) fn documents_in(&self, window: usize) -> &Bits {
        &self.bits[window]
    }

    /// The postings of a window in the first so many tiers.
    pub(super) fn best_in(&self, window: usize, tiers: usize) -> impl Iterator<Item = Packed> + '_ {
        self.tiers.iter().take(tiers).flat_map(move |tier| {
            let range = tier.windows[window] as usize..tier.windows[window + 1] as usize;
            tier.postings[range].iter().copied()
        })
    }
}

/// Which step a worth is on.
fn step(worth: f32) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "from 0 to 1"
    )]
    let step = (worth * STEPS as f32) as usize;
    step.min(STEPS - 1)
}

/// A tier being filled, in the order of documents.
struct TierBuilder {
    windows: Vec<u32>,
    postings: Vec<Packed>,
}

impl TierBuilder {
    fn new(windows: usize, postings: usize) -> Self {
        Self { windows: Vec::with_capacity(windows + 1), postings: Vec::with_capacity(postings) }
    }

    fn push(&mut self, document: DocId, code: u32) {
        self.begin(window_of(document) + 1);
        self.postings.push(Packed::new(document, code));
    }

    /// Has the first so many windows begun.
    fn begin(&mut self, windows: usize) {
        #[expect(clippy::cast_possible_truncation, reason = "no more than there are documents")]
        self.windows.resize(windows.max(self.windows.len()), self.postings.len() as u32);
    }

    fn finish(mut self, windows: usize) -> Tier {
        self.begin(windows + 1);
        Tier { windows: self.windows.into(), postings: self.postings.into() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::{Engine as _, TantivyBuilder, TantivyEngine};
    use crate::search::Ranking;
    use crate::search::field::Field;
    use crate::search::score::Occurrences;

    /// More than two windows, the last one not full.
    const DOCUMENTS: u32 = 9000;

    /// In half of the documents, mostly in the description.
    fn occurrences(document: u32) -> Option<Occurrences> {
        let field = match document % 200 {
            0 => Field::Name,
            2..=8 => Field::Tagline,
            _ => Field::Description,
        };
        document.is_multiple_of(2).then(|| Occurrences::one(field))
    }

    fn engine() -> TantivyEngine {
        let lengths: Vec<_> = (0..DOCUMENTS).map(|document| [2, 5, 20 + document % 50]).collect();
        let mut builder = TantivyBuilder::new().expect("an index");
        let (frequent, rare) = (Term::Word(0), Term::Word(1));
        for document in 0..DOCUMENTS {
            let rare = (document % 100 == 0).then(|| (&rare, Occurrences::one(Field::Name)));
            builder.push(occurrences(document).map(|of| (&frequent, of)).into_iter().chain(rare)).expect("a document");
        }
        let files = builder.finish().expect("an index");
        TantivyEngine::open(&files, Scorer::new(&lengths, &Ranking::default()), Arc::default(), Arc::default())
            .expect("it opens")
    }

    #[test]
    fn a_frequent_term_has_a_bit_per_document_and_its_best_postings_first() {
        let engine = engine();
        let term = engine.find(&Term::Word(0)).expect("an index in memory").expect("it is there");
        let about = engine.frequent(&term).expect("it is frequent");
        let worth = |document: u32| occurrences(document).map(|of| engine.scorer.worth(of.code(), document));
        let windows = 0..(DOCUMENTS as usize).div_ceil(WIDTH);
        for document in 0..DOCUMENTS {
            let has = about.documents_in(window_of(document)).has(place(document));
            assert_eq!(has, worth(document).is_some(), "{document}");
        }
        for stages in 0..about.stages() {
            let read: Vec<u32> = windows
                .clone()
                .flat_map(|window| {
                    let best = about.best_in(window, stages).map(move |posting| (window, posting));
                    best.collect::<Vec<_>>()
                })
                .map(|(window, posting)| {
                    let document = u32::try_from(window * WIDTH + posting.place()).expect("few documents");
                    assert_eq!(Some(posting.code()), occurrences(document).map(Occurrences::code), "{document}");
                    document
                })
                .collect();
            assert_eq!(read.len(), (0..stages).map(|stage| about.postings_of(stage)).sum::<usize>());
            let others = (0..DOCUMENTS).filter(|document| !read.contains(document)).filter_map(worth);
            assert_eq!(about.most(stages).to_bits(), others.fold(0.0, f32::max).to_bits(), "{stages} stages");
        }
        assert!(about.postings_of(0) > 0 && about.postings_of(1) > about.postings_of(0));
        assert!(about.most(0) > about.most(1) && about.most(1) > about.most(2) && about.most(3) == 0.0);
    }

    #[test]
    fn nothing_is_kept_of_a_rare_term() {
        let engine = engine();
        let term = engine.find(&Term::Word(1)).expect("an index in memory").expect("it is there");
        assert_eq!(engine.document_frequency(&Term::Word(1)).expect("an index in memory"), DOCUMENTS / 100);
        assert!(engine.frequent(&term).is_none());
    }
}
