//! Short posting lists, merged by block: to seek in each of them block by block would take longer.

use ::tantivy::TERMINATED;
use ::tantivy::postings::TermInfo;

use super::TantivyEngine;
use super::block::{BLOCK_LEN, block_of};
use super::frequent_term::PackedPosting;
use crate::engine::EngineError;

/// Merged posting lists.
#[derive(Default)]
pub(super) struct MergedPostings {
    /// The postings of each block, in any order, with the weight of their list.
    postings: Vec<(PackedPosting, f32)>,
    /// The index behind each block's last posting.
    ends: Vec<u32>,
}

impl MergedPostings {
    /// Merges the posting lists of terms, each with its weight: a counting sort by block. Within a block no order is needed.
    pub(super) fn read<'t>(
        engine: &TantivyEngine,
        terms: impl Iterator<Item = &'t (TermInfo, f32)> + Clone,
        group_weight: f32,
    ) -> Result<Self, EngineError> {
        let all = terms.clone().map(|(term, _)| term.doc_freq as usize).sum();
        // A term in no document isn't in the index.
        if all == 0 {
            return Ok(Self::default());
        }
        let blocks = engine.scorer.documents().div_ceil(BLOCK_LEN);
        let mut ends = vec![0_u32; blocks];
        let mut unsorted = Vec::with_capacity(all);
        for (term, weight) in terms {
            let scale = group_weight * weight;
            engine.read(term)?.for_each_until(TERMINATED, |document, packed| {
                let block = block_of(document);
                if let Some(end) = ends.get_mut(block) {
                    *end += 1;
                    unsorted.push((document, packed, scale));
                }
            });
        }
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let mut postings = vec![(PackedPosting::new(0, 0), 0.0); unsorted.len()];
        for (document, packed, scale) in unsorted {
            let at = &mut ends[block_of(document)];
            postings[*at as usize] = (PackedPosting::new(document, packed), scale);
            *at += 1;
        }
        Ok(Self { postings, ends })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }

    /// The postings of a block.
    pub(super) fn of(&self, block: usize) -> &[(PackedPosting, f32)] {
        let Some(end) = self.ends.get(block) else { return &[] };
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.postings[start as usize..*end as usize]
    }

    /// The first block at or behind one that has postings.
    pub(super) fn next(&self, block: usize) -> Option<usize> {
        (block..self.ends.len()).find(|block| !self.of(*block).is_empty())
    }
}
