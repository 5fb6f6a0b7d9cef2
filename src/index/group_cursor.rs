//! Cursors over the documents that satisfy one of a plan's groups.

use tantivy::TERMINATED;
use tantivy::postings::TermInfo;

use super::block::{BLOCK_LEN, Bitset, BlockScores, block_of, block_start, document, offset};
use super::frequent_term::FrequentTerm;
use super::{Index, IndexError, PostingList};
use crate::search::budget::Budget;
use crate::search::score::group_weight;
use crate::search::{Term, WordGroup};

/// How many budget units it costs to open an alternative.
const OPENED: usize = 60;

/// Walks through a group's documents and their scores for the group, block by block.
///
/// The postings of frequent alternatives are kept in memory in stages, highest impact first. A
/// threshold decides how many stages are [essential](Self::essential). Other alternatives are read
/// from posting lists, which are always essential.
pub(super) struct GroupCursor<'e> {
    index: &'e Index,
    /// The alternatives that some document contains, with their weights.
    terms: Vec<(TermInfo, f32)>,
    /// The frequent alternatives, with the factors for their scores.
    frequent: Vec<(&'e FrequentTerm, f32)>,
    /// The other alternatives' posting lists, with the factors for their scores.
    lists: Vec<(PostingList, f32)>,
    /// The stages of all frequent alternatives, by descending upper bound.
    stages: Vec<Stage>,
    /// The number of essential stages. A document that's in none of them scores no more than
    /// [`nonessential_bound`](Self::nonessential_bound).
    pub(super) essential: usize,
    /// Upper bound on the number of documents in the group.
    pub(super) cost: usize,
    pub(super) required: bool,
    pub(super) indispensable: bool,
}

/// A stage of a frequent alternative: one of its tiers, or all its documents.
struct Stage {
    /// Upper bound on the scores from the postings in this stage and later ones.
    upper_bound: f32,
    /// Index of the frequent alternative.
    alternative: usize,
    /// Index among the alternative's stages.
    number: usize,
}

impl<'e> GroupCursor<'e> {
    pub(super) fn open(index: &'e Index, group: &WordGroup, budget: &Budget) -> Result<Self, IndexError> {
        let alternatives = group.alternatives.iter().map(|alternative| (&alternative.term, alternative.weight));
        let cursor = Self::of_alternatives(index, alternatives, budget)?;
        Ok(Self { required: group.required, indispensable: group.indispensable, ..cursor })
    }

    pub(super) fn of_term(index: &'e Index, term: &Term, budget: &Budget) -> Result<Self, IndexError> {
        Self::of_alternatives(index, std::iter::once((term, 1.0)), budget)
    }

    fn of_alternatives<'t>(
        index: &'e Index,
        alternatives: impl ExactSizeIterator<Item = (&'t Term, f32)>,
        budget: &Budget,
    ) -> Result<Self, IndexError> {
        budget.spend(OPENED * alternatives.len());
        let mut terms = Vec::with_capacity(alternatives.len());
        for (term, weight) in alternatives {
            terms.extend(index.find(term)?.map(|term| (term, weight)));
        }
        Self::of_terms(index, terms)
    }

    /// The same cursor, back at the first document.
    pub(super) fn restarted(self, budget: &Budget) -> Result<Self, IndexError> {
        budget.spend(OPENED * self.terms.len());
        let cursor = Self::of_terms(self.index, self.terms)?;
        Ok(Self { required: self.required, indispensable: self.indispensable, ..cursor })
    }

    fn of_terms(index: &'e Index, terms: Vec<(TermInfo, f32)>) -> Result<Self, IndexError> {
        let frequency = terms.iter().map(|(term, _)| term.doc_freq).max().unwrap_or(0);
        let cost = terms.iter().map(|(term, _)| term.doc_freq as usize).sum();
        let group_weight = group_weight(frequency, index.scorer.documents());
        let (mut frequent, mut lists, mut stages) = (Vec::new(), Vec::new(), Vec::new());
        for (info, weight) in &terms {
            let scale = group_weight * weight;
            let Some(term) = index.frequent(info) else {
                lists.push((index.read(info)?, scale));
                continue;
            };
            stages.extend((0..FrequentTerm::STAGES).map(|number| Stage {
                upper_bound: scale * term.upper_bound(number),
                alternative: frequent.len(),
                number,
            }));
            frequent.push((term, scale));
        }
        // The sort is stable, so the stages of an alternative keep their order.
        stages.sort_by(|a, b| b.upper_bound.total_cmp(&a.upper_bound));
        let (required, indispensable, essential) = (false, false, 0);
        Ok(Self { index, terms, frequent, lists, stages, essential, cost, required, indispensable })
    }

    /// The first block, from `block` onwards, that may contain documents in the group.
    pub(super) fn next_block(&self, block: usize) -> Option<usize> {
        if !self.frequent.is_empty() {
            return Some(block).filter(|block| block * BLOCK_LEN < self.index.scorer.documents());
        }
        let lists = self.lists.iter().map(|(list, _)| list.document()).filter(|document| *document != TERMINATED);
        lists.map(block_of).min()
    }

    /// Upper bound on the score of a document that isn't in any essential stage or list.
    pub(super) fn nonessential_bound(&self) -> f32 {
        self.stages.get(self.essential).map_or(0.0, |stage| stage.upper_bound)
    }

    pub(super) fn has_nonessential(&self) -> bool {
        self.essential < self.stages.len()
    }

    /// Finds the group's documents in a block, and scores those in `among` from the posting lists.
    /// Returns how many units of work this took.
    pub(super) fn enter(&mut self, scores: &mut BlockScores, block: usize, among: Option<&Bitset>) -> usize {
        scores.clear();
        for (term, _) in &self.frequent {
            scores.members.unite(term.bitset(block));
        }
        let mut units = 0;
        for (list, scale) in &mut self.lists {
            list.seek(block_start(block));
            list.for_each_until(block_start(block + 1), |document, packed| {
                units += 1;
                let at = offset(document);
                scores.members.add(at);
                if among.is_none_or(|among| among.has(at)) {
                    scores.raise(at, *scale * self.index.scorer.score(packed, document));
                }
            });
        }
        units
    }

    /// Upper bound on the units of work it takes to score this many of a block's documents for the
    /// frequent alternatives.
    pub(super) fn scoring(&self, documents: usize) -> usize {
        let blocks = self.index.scorer.documents().div_ceil(BLOCK_LEN).max(1);
        self.frequent.iter().map(|(term, _)| (term.documents() / blocks).min(documents)).sum()
    }

    /// Adds the block's documents that are in an essential stage or a list.
    pub(super) fn add_essential(&self, scores: &BlockScores, block: usize, to: &mut Bitset) {
        to.unite(&scores.scored);
        for stage in &self.stages[..self.essential] {
            self.frequent[stage.alternative].0.add_stage(block, stage.number, to);
        }
    }

    /// The score of a document in the current block, which must have been [entered](Self::enter); 0
    /// if the document isn't in the group.
    #[inline]
    pub(super) fn score(&self, scores: &BlockScores, block: usize, at: usize) -> f32 {
        let document = document(block_start(block), at);
        let score = |(term, scale): &(&FrequentTerm, f32)| {
            term.packed(block, at).map_or(0.0, |packed| scale * self.index.scorer.score(packed, document))
        };
        self.frequent.iter().map(score).fold(scores.of(at), f32::max)
    }
}
