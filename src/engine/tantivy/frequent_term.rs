//! Frequent terms: a bitmap of the documents, which are counted without reading postings, and the postings of the highest
//! impact in tiers of their own, so that the best documents are found without reading all postings.
//!
//! A query's frequent words match most of its documents and add little to their scores. Tiers of postings by impact: Risvik,
//! Aasheim and Lidal, "Multi-tier architecture for Web search engines", LA-WEB 2003. Without the tiers a plain search takes
//! 1.36 times as long, without bitmaps and tiers 1.49 times (PERFORMANCE.md).

use ::tantivy::{DocId, TERMINATED};

use super::block::{BLOCK_LEN, Bitset, block_of, offset};
use super::posting_list::PostingList;
use crate::search::Term;
use crate::search::score::Scorer;

/// The least number of documents of a frequent term, within the shares below.
const FREQUENT: usize = 8192;

/// A term in at least one of the second number of documents is frequent; one in less than one of the first number isn't. Its
/// bitmap then takes no more than 16 times the memory of its postings, in a small directory four times.
const SHARES: [usize; 2] = [128, 32];

/// The same for prefixes: most are those of frequent words, and few searches end in a prefix that is a term.
const PREFIX_SHARES: [usize; 2] = [32, 8];

/// A term in fewer documents isn't frequent, however few documents there are.
const MIN_DOCUMENTS: u32 = 256;

/// The shares of a term's postings in each tier, as divisors.
const TIERS: [usize; 2] = [64, 16];

/// The number of buckets of the histogram of impacts by which tiers are cut.
const BUCKETS: usize = 1024;

/// A frequent term.
pub(super) struct FrequentTerm {
    /// The documents, by block.
    bits: Box<[Bitset]>,
    /// The number of documents.
    pub(super) documents: u32,
    /// The postings of the highest impact; no tiers for a prefix, where searches gain little.
    tiers: Box<[Tier]>,
    /// By number of tiers read: the highest impact of the postings in none of them.
    upper_bound: Box<[f32]>,
}

/// Postings, by block.
struct Tier {
    /// The index of each block's first posting, and the number of postings.
    blocks: Box<[u32]>,
    /// The postings.
    postings: Box<[PackedPosting]>,
}

/// A posting in 32 bits: the document's offset in its block, then the packed term frequency.
#[derive(Clone, Copy)]
pub(super) struct PackedPosting(u32);

impl PackedPosting {
    const FREQUENCY_BITS: u32 = 16;

    #[expect(clippy::cast_possible_truncation, reason = "a place is below 4,096")]
    pub(super) const fn new(document: DocId, packed: u32) -> Self {
        Self((offset(document) as u32) << Self::FREQUENCY_BITS | packed)
    }

    pub(super) const fn offset(self) -> usize {
        (self.0 >> Self::FREQUENCY_BITS) as usize
    }

    pub(super) const fn packed(self) -> u32 {
        self.0 & ((1 << Self::FREQUENCY_BITS) - 1)
    }
}

impl FrequentTerm {
    /// Whether a term in that many documents may be frequent, of any kind.
    pub(super) fn is(documents: u32, scorer: &Scorer) -> bool {
        Self::is_of_kind(Term::WORD, documents, scorer)
    }

    /// Whether a term of a kind in that many documents is frequent.
    pub(super) fn is_of_kind(kind: u8, documents: u32, scorer: &Scorer) -> bool {
        let shares = if kind == Term::PREFIX { PREFIX_SHARES } else { SHARES };
        let [threshold, most] = shares.map(|share| scorer.documents().div_ceil(share));
        documents >= MIN_DOCUMENTS && documents as usize >= FREQUENT.clamp(threshold, most)
    }

    /// Reads the postings of a term of this kind. The buffer is reused from term to term.
    pub(super) fn read(
        kind: u8,
        mut list: PostingList,
        documents: u32,
        scorer: &Scorer,
        postings: &mut Vec<(DocId, u32, f32)>,
    ) -> Self {
        let blocks = scorer.documents().div_ceil(BLOCK_LEN);
        let mut bits = vec![Bitset::NONE; blocks];
        let mut add = |document: DocId| {
            if let Some(bits) = bits.get_mut(block_of(document)) {
                bits.add(offset(document));
            }
        };
        if kind == Term::PREFIX {
            list.for_each_until(TERMINATED, |document, _| add(document));
            return Self {
                bits: bits.into(),
                documents,
                tiers: Box::default(),
                upper_bound: Box::new([scorer.max_upper_bound()]),
            };
        }
        postings.clear();
        let mut counts = [0_u32; BUCKETS];
        list.for_each_until(TERMINATED, |document, packed| {
            add(document);
            let impact = scorer.score(packed, document);
            counts[bucket(impact)] += 1;
            postings.push((document, packed, impact));
        });
        // The lowest bucket of each tier and the number of its postings, which is no more than its share.
        let (mut lowest, mut above) = (BUCKETS, 0);
        let cuts = TIERS.map(|share| {
            let before = above;
            while lowest > 0 && above + counts[lowest - 1] as usize <= postings.len() / share {
                lowest -= 1;
                above += counts[lowest] as usize;
            }
            (lowest, above - before)
        });
        let mut tiers = cuts.map(|(_, inside)| TierBuilder::new(blocks, inside));
        let mut highest = [0.0_f32; TIERS.len() + 1];
        for (document, packed, impact) in postings.drain(..) {
            let bucket = bucket(impact);
            let tier = cuts.iter().position(|(lowest, _)| bucket >= *lowest).unwrap_or(TIERS.len());
            highest[tier] = highest[tier].max(impact);
            if let Some(tier) = tiers.get_mut(tier) {
                tier.push(document, packed);
            }
        }
        for tier in (0..TIERS.len()).rev() {
            highest[tier] = highest[tier].max(highest[tier + 1]);
        }
        Self {
            bits: bits.into(),
            documents,
            tiers: tiers.map(|tier| tier.finish(blocks)).into(),
            upper_bound: highest.into(),
        }
    }

    /// The number of stages: the tiers, and the whole list.
    pub(super) fn stages(&self) -> usize {
        self.upper_bound.len()
    }

    /// An upper bound of the scores by postings beyond the first stages; 0 once all are read.
    pub(super) fn upper_bound(&self, stages: usize) -> f32 {
        self.upper_bound.get(stages).copied().unwrap_or(0.0)
    }

    /// The number of postings of a stage.
    pub(super) fn stage_postings(&self, stage: usize) -> usize {
        self.tiers.get(stage).map_or(self.documents as usize, |tier| tier.postings.len())
    }

    /// The documents of a block.
    pub(super) fn bitset(&self, block: usize) -> &Bitset {
        &self.bits[block]
    }

    /// The postings of a block in the first tiers.
    pub(super) fn tier_postings(&self, block: usize, tiers: usize) -> impl Iterator<Item = PackedPosting> + '_ {
        self.tiers.iter().take(tiers).flat_map(move |tier| {
            let range = tier.blocks[block] as usize..tier.blocks[block + 1] as usize;
            tier.postings[range].iter().copied()
        })
    }
}

/// The bucket of an impact.
fn bucket(impact: f32) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "from 0 to 1"
    )]
    let bucket = (impact * BUCKETS as f32) as usize;
    bucket.min(BUCKETS - 1)
}

/// A tier being filled, in rising order of documents.
struct TierBuilder {
    blocks: Vec<u32>,
    postings: Vec<PackedPosting>,
}

impl TierBuilder {
    fn new(blocks: usize, postings: usize) -> Self {
        Self { blocks: Vec::with_capacity(blocks + 1), postings: Vec::with_capacity(postings) }
    }

    fn push(&mut self, document: DocId, packed: u32) {
        self.begin(block_of(document) + 1);
        self.postings.push(PackedPosting::new(document, packed));
    }

    /// Begins the blocks up to that many.
    fn begin(&mut self, blocks: usize) {
        #[expect(clippy::cast_possible_truncation, reason = "no more than there are documents")]
        self.blocks.resize(blocks.max(self.blocks.len()), self.postings.len() as u32);
    }

    fn finish(mut self, blocks: usize) -> Tier {
        self.begin(blocks + 1);
        Tier { blocks: self.blocks.into(), postings: self.postings.into() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::{Documents, Engine as _, TantivyBuilder, TantivyEngine};
    use crate::search::Ranking;
    use crate::search::field::Field;
    use crate::search::forward::Forward;
    use crate::search::score::Occurrences;
    use crate::snapshot::Snapshot;

    /// More than two blocks, the last one not full.
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
        let mut documents = Documents::default();
        let (frequent, rare) = (Term::Word(0), Term::Word(1));
        for document in 0..DOCUMENTS {
            let rare = (document % 100 == 0).then(|| (&rare, Occurrences::one(Field::Name)));
            documents.push(occurrences(document).map(|of| (&frequent, of)).into_iter().chain(rare));
        }
        let mut builder = TantivyBuilder::new().expect("an index");
        builder.add(&documents).expect("few documents");
        let files = builder.finish().expect("an index");
        // The records aren't read.
        let empty = Snapshot::build(Vec::new()).expect("an empty generation");
        let (catalogue, records) = (Arc::clone(&empty.catalogue), empty.records());
        TantivyEngine::open(files, Scorer::new(&lengths, &Ranking::default()), Forward::default(), catalogue, records)
            .expect("it opens")
    }

    #[test]
    fn a_frequent_term_has_a_bit_per_document_and_its_best_postings_first() {
        let engine = engine();
        let term = engine.find(&Term::Word(0)).expect("an index in memory").expect("it is there");
        let about = engine.frequent(&term).expect("it is frequent");
        let impact = |document: u32| occurrences(document).map(|of| engine.scorer.score(of.packed(), document));
        let blocks = 0..(DOCUMENTS as usize).div_ceil(BLOCK_LEN);
        for document in 0..DOCUMENTS {
            let has = about.bitset(block_of(document)).has(offset(document));
            assert_eq!(has, impact(document).is_some(), "{document}");
        }
        for stages in 0..about.stages() {
            let read: Vec<u32> = blocks
                .clone()
                .flat_map(|block| {
                    let best = about.tier_postings(block, stages).map(move |posting| (block, posting));
                    best.collect::<Vec<_>>()
                })
                .map(|(block, posting)| {
                    let document = u32::try_from(block * BLOCK_LEN + posting.offset()).expect("few documents");
                    assert_eq!(Some(posting.packed()), occurrences(document).map(Occurrences::packed), "{document}");
                    document
                })
                .collect();
            assert_eq!(read.len(), (0..stages).map(|stage| about.stage_postings(stage)).sum::<usize>());
            let others = (0..DOCUMENTS).filter(|document| !read.contains(document)).filter_map(impact);
            assert_eq!(about.upper_bound(stages).to_bits(), others.fold(0.0, f32::max).to_bits(), "{stages} stages");
        }
        assert!(about.stage_postings(0) > 0 && about.stage_postings(1) > about.stage_postings(0));
        assert!(
            about.upper_bound(0) > about.upper_bound(1)
                && about.upper_bound(1) > about.upper_bound(2)
                && about.upper_bound(3) == 0.0
        );
    }

    #[test]
    fn nothing_is_kept_of_a_rare_term() {
        let engine = engine();
        let term = engine.find(&Term::Word(1)).expect("an index in memory").expect("it is there");
        assert_eq!(engine.document_frequency(&Term::Word(1)).expect("an index in memory"), DOCUMENTS / 100);
        assert!(engine.frequent(&term).is_none());
    }
}
