//! Short posting lists put together, by window: going from window to window in each of them would take longer.

use ::tantivy::TERMINATED;
use ::tantivy::postings::TermInfo;

use super::TantivyEngine;
use super::frequent::Packed;
use super::window::{WIDTH, window_of};
use crate::engine::EngineError;

/// Short lists put together.
#[derive(Default)]
pub(super) struct Gathered {
    /// The documents of each window in any order and more than once, with what their scores are multiplied by.
    postings: Vec<(Packed, f32)>,
    /// Where those of each window end.
    ends: Vec<u32>,
}

impl Gathered {
    /// All documents of some terms, each with its weight. Which window a document is in is soon told, and within one no order
    /// is needed, so none is made.
    pub(super) fn read<'t>(
        engine: &TantivyEngine,
        terms: impl Iterator<Item = &'t (TermInfo, f32)> + Clone,
        worth: f32,
    ) -> Result<Self, EngineError> {
        let all = terms.clone().map(|(term, _)| term.doc_freq as usize).sum();
        // A term in no document isn't in the index.
        if all == 0 {
            return Ok(Self::default());
        }
        let windows = engine.scorer.documents().div_ceil(WIDTH);
        let mut ends = vec![0_u32; windows];
        let mut unsorted = Vec::with_capacity(all);
        for (term, weight) in terms {
            let scale = worth * weight;
            engine.read(term)?.for_each_until(TERMINATED, |document, code| {
                let window = window_of(document);
                if let Some(end) = ends.get_mut(window) {
                    *end += 1;
                    unsorted.push((document, code, scale));
                }
            });
        }
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let mut postings = vec![(Packed::new(0, 0), 0.0); unsorted.len()];
        for (document, code, scale) in unsorted {
            let at = &mut ends[window_of(document)];
            postings[*at as usize] = (Packed::new(document, code), scale);
            *at += 1;
        }
        Ok(Self { postings, ends })
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }

    /// Those of a window.
    pub(super) fn of(&self, window: usize) -> &[(Packed, f32)] {
        let Some(end) = self.ends.get(window) else { return &[] };
        let start = window.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.postings[start as usize..*end as usize]
    }

    /// The first window from one on that has any.
    pub(super) fn next(&self, window: usize) -> Option<usize> {
        (window..self.ends.len()).find(|window| !self.of(*window).is_empty())
    }
}
