//! A frequent term has a bitmap of its documents, separate frequencies, and tiers of the documents
//! with the highest impact. A search counts most documents in the bitmap and scores only a few.
//!
//! A query's frequent words match most of its documents and add little to their scores. Tiers of
//! postings by impact are from Risvik, Aasheim and Lidal, "Multi-tier architecture for Web search
//! engines", LA-WEB 2003. PERFORMANCE.md has the figures.

use tantivy::{DocId, TERMINATED};

use super::PostingList;
use super::block::{BLOCK_LEN, Bitset, block_of, offset};
use crate::search::collect::BITS;
use crate::search::score::Scorer;

/// A term is frequent if at least one in this many documents contains it. Its bitmap then takes no
/// more than twice as much memory as its postings.
const SHARE: usize = 16;

/// A term in fewer documents than this is never frequent, however small the directory.
const MIN_DOCUMENTS: u32 = 256;

/// Each tier's share of a term's documents, as a divisor.
const TIERS: [usize; 3] = [32, 8, 3];

pub(super) struct FrequentTerm {
    blocks: Box<[Block]>,
    /// Each document's packed term frequency minus one, in document order.
    frequencies: Box<[u8]>,
    /// The highest impact among the documents outside the first n tiers, for each n.
    upper_bound: [f32; TIERS.len() + 1],
}

#[derive(Clone)]
struct Block {
    documents: Bitset,
    /// For each bitmap word, how many of the term's documents come before it.
    ranks: [u32; Bitset::WORDS],
    /// The offsets of each tier's documents. The first tier has the highest impact.
    tiers: [Vec<u16>; TIERS.len()],
}

impl FrequentTerm {
    pub(super) fn is(documents: u32, scorer: &Scorer) -> bool {
        documents >= MIN_DOCUMENTS && documents as usize >= scorer.documents().div_ceil(SHARE)
    }

    pub(super) fn read(mut list: PostingList, documents: u32, scorer: &Scorer) -> Self {
        let empty = Block { documents: Bitset::NONE, ranks: [0; Bitset::WORDS], tiers: TIERS.map(|_| Vec::new()) };
        let mut blocks = vec![empty; scorer.documents().div_ceil(BLOCK_LEN)];
        let documents = scorer.documents().min(documents as usize);
        let (mut frequencies, mut impacts) = (Vec::with_capacity(documents), Vec::with_capacity(documents));
        list.for_each_until(TERMINATED, |document, packed| {
            let Some(block) = blocks.get_mut(block_of(document)) else { return };
            block.documents.add(offset(document));
            frequencies.push(u8::try_from(packed.saturating_sub(1)).unwrap_or(u8::MAX));
            impacts.push((document, scorer.score(packed, document)));
        });
        let cuts = cuts(&impacts);
        let mut upper_bound = [0.0_f32; TIERS.len() + 1];
        for (document, impact) in impacts {
            let tier = cuts.iter().position(|cut| impact > *cut).unwrap_or(TIERS.len());
            upper_bound[..=tier].iter_mut().for_each(|bound| *bound = bound.max(impact));
            if let Some(tier) = blocks[block_of(document)].tiers.get_mut(tier) {
                #[expect(clippy::cast_possible_truncation, reason = "below 4,096")]
                tier.push(offset(document) as u16);
            }
        }
        let mut before = 0;
        for block in &mut blocks {
            block.tiers.iter_mut().for_each(Vec::shrink_to_fit);
            for (rank, word) in block.ranks.iter_mut().zip(block.documents.words()) {
                *rank = before;
                before += word.count_ones();
            }
        }
        Self { blocks: blocks.into(), frequencies: frequencies.into(), upper_bound }
    }

    /// The number of stages: the tiers, then all documents.
    pub(super) const STAGES: usize = TIERS.len() + 1;

    /// Upper bound on the impact of documents outside the first `stages` stages; 0 if there are
    /// none.
    pub(super) fn upper_bound(&self, stages: usize) -> f32 {
        self.upper_bound.get(stages).copied().unwrap_or(0.0)
    }

    pub(super) fn documents(&self) -> usize {
        self.frequencies.len()
    }

    pub(super) fn bitset(&self, block: usize) -> &Bitset {
        &self.blocks[block].documents
    }

    pub(super) fn add_stage(&self, block: usize, stage: usize, to: &mut Bitset) {
        let block = &self.blocks[block];
        match block.tiers.get(stage) {
            Some(tier) => tier.iter().for_each(|at| to.add(usize::from(*at))),
            None => to.unite(&block.documents),
        }
    }

    /// The packed term frequency in a document, if it contains the term.
    #[inline]
    pub(super) fn packed(&self, block: usize, at: usize) -> Option<u32> {
        let block = &self.blocks[block];
        let rank = || (block.ranks[at / BITS] + block.documents.before(at)) as usize;
        block.documents.has(at).then(|| u32::from(self.frequencies[rank()]) + 1)
    }
}

/// For each tier, the impact above which documents belong to it or an earlier one. Ties are
/// excluded, so a tier never exceeds its share.
fn cuts(impacts: &[(DocId, f32)]) -> [f32; TIERS.len()] {
    let mut highest: Vec<f32> = impacts.iter().map(|(_, impact)| *impact).collect();
    let mut highest = &mut highest[..];
    let mut cuts = [f32::MAX; TIERS.len()];
    for (cut, share) in cuts.iter_mut().zip(TIERS).rev() {
        let nth = impacts.len() / share;
        if nth < highest.len() {
            let (above, nth, _) = highest.select_nth_unstable_by(nth, |a, b| b.total_cmp(a));
            (*cut, highest) = (*nth, above);
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::block::{block_start, document};
    use super::*;
    use crate::generation::Snapshot;
    use crate::index::{Documents, Index, IndexBuilder, IndexFiles};
    use crate::record::Field;
    use crate::scratch::Scratch;
    use crate::search::forward::Forward;
    use crate::search::meaning::Meanings;
    use crate::search::score::Occurrences;
    use crate::search::{DocumentTables, Ranking, Term};

    /// Enough documents for more than two blocks, of which the last isn't full.
    const DOCUMENTS: u32 = 9000;

    /// A word's occurrences: it's in half of the documents, mostly in the description.
    fn occurrences(document: u32) -> Option<Occurrences> {
        let field = match document % 200 {
            0 => Field::Name,
            2..=8 => Field::Tagline,
            _ => Field::Description,
        };
        document.is_multiple_of(2).then(|| Occurrences::one(field))
    }

    fn sample() -> Index {
        let lengths: Vec<_> = (0..DOCUMENTS).map(|document| [2, 5, 20 + document % 50]).collect();
        let mut documents = Documents::default();
        let (frequent, rare) = (Term::Word(0), Term::Word(1));
        for document in 0..DOCUMENTS {
            let rare = (document % 100 == 0).then(|| (None, &rare, Occurrences::one(Field::Name)));
            documents.push(occurrences(document).map(|of| (None, &frequent, of)).into_iter().chain(rare), None);
        }
        let mut builder = IndexBuilder::new(&Scratch::in_memory());
        builder.add(&documents).expect("few documents");
        let files = builder.finish().expect("an index").into_iter();
        let files = files.map(|(name, content)| (name, content.read_all().expect("in memory"))).collect();
        // The records aren't read.
        let empty = Snapshot::build(Vec::new()).expect("an empty generation");
        let (catalogue, records) = (Arc::clone(&empty.catalogue), empty.records());
        let index = IndexFiles::load(files).expect("it loads");
        let (scorer, forward, meanings) =
            (Scorer::new(&lengths, &Ranking::default()), Forward::default(), Meanings::default());
        let documents = DocumentTables { scorer, forward, meanings };
        Index::open(index, documents, catalogue, records).expect("it opens")
    }

    #[test]
    fn a_frequent_term_has_a_bitmap_of_its_documents_and_tiers_of_the_best_ones() {
        let index = sample();
        let term = index.find(&Term::Word(0)).expect("an index in memory").expect("it is there");
        let about = index.frequent(&term).expect("it is frequent");
        let impact = |document: u32| occurrences(document).map(|of| index.scorer.score(of.packed(), document));
        let blocks = 0..(DOCUMENTS as usize).div_ceil(BLOCK_LEN);
        for document in 0..DOCUMENTS {
            let packed = about.packed(block_of(document), offset(document));
            assert_eq!(packed, occurrences(document).map(Occurrences::packed), "{document}");
            let has = about.bitset(block_of(document)).has(offset(document));
            assert_eq!(has, packed.is_some(), "{document}");
        }
        for stage in 0..FrequentTerm::STAGES {
            let mut read = Vec::new();
            for block in blocks.clone() {
                let mut documents = Bitset::NONE;
                (0..stage).for_each(|stage| about.add_stage(block, stage, &mut documents));
                read.extend(documents.offsets().map(|at| document(block_start(block), at)));
            }
            let share = stage.checked_sub(1).map_or(0, |last| about.documents() / TIERS.get(last).unwrap_or(&1));
            assert!(read.len() <= share && (read.is_empty() == (stage == 0)), "{stage} stages: {}", read.len());
            let others = (0..DOCUMENTS).filter(|document| !read.contains(document)).filter_map(impact);
            assert_eq!(about.upper_bound(stage).to_bits(), others.fold(0.0, f32::max).to_bits(), "{stage} stages");
        }
        let bounds: Vec<_> = (0..=FrequentTerm::STAGES).map(|stages| about.upper_bound(stages)).collect();
        assert!(bounds.is_sorted_by(|a, b| a > b) && bounds.ends_with(&[0.0]), "{bounds:?}");
    }

    #[test]
    fn rare_terms_are_not_kept_in_memory() {
        let index = sample();
        let term = index.find(&Term::Word(1)).expect("an index in memory").expect("it is there");
        assert_eq!(index.document_frequency(&Term::Word(1)).expect("an index in memory"), DOCUMENTS / 100);
        assert!(index.frequent(&term).is_none());
    }
}
