//! Limits the memory that the hits' text takes up.

use serde_json::json;

use super::OpenSearchEngine;
use super::response::{damaged, hit_texts};
use crate::engine::{EngineError, Hit, HitTexts, MAX_TEXT_BYTES};
use crate::search::budget::Budget;

/// How many hits, counting from the first, have text that fits in [`MAX_TEXT_BYTES`] in total. If
/// some don't fit, marks the search as incomplete.
fn fitting(sizes: &[usize], budget: &Budget) -> usize {
    let mut bytes = 0_usize;
    let fits = |size: &&usize| {
        bytes = bytes.saturating_add(**size);
        bytes <= MAX_TEXT_BYTES
    };
    let fitting = sizes.iter().take_while(fits).count();
    if fitting < sizes.len() {
        budget.exceed();
    }
    fitting
}

/// Removes the text of hits that don't fit.
pub(super) fn bound(texts: &mut Vec<HitTexts>, budget: &Budget) {
    let sizes: Vec<_> = texts.iter().map(|texts| texts.fields.len() + texts.words.size_bytes()).collect();
    texts.truncate(fitting(&sizes, budget));
}

impl OpenSearchEngine {
    /// Reads the text of as many hits as fit, starting with the first. The size that
    /// counts is the text's size in a response.
    pub(super) async fn read_texts(&self, hits: &[Hit], budget: &Budget) -> Result<Vec<HitTexts>, EngineError> {
        let ordinals: Vec<_> = hits.iter().map(|hit| hit.ordinal).collect();
        let sizes = json!({"stored_fields": "_none_", "docvalue_fields": ["ordinal", "text_bytes"]});
        let sizes = self.documents(&ordinals, &sizes).await?;
        let size = |ordinal| sizes.get(ordinal).and_then(|fields| fields.text_bytes.first().copied());
        let sizes = ordinals.iter().map(|ordinal| size(ordinal).ok_or_else(|| damaged("text_bytes")));
        let ordinals = &ordinals[..fitting(&sizes.collect::<Result<Vec<_>, _>>()?, budget)];
        let fields = json!({"stored_fields": ["detail", "words"], "docvalue_fields": ["ordinal"]});
        let mut stored = self.documents(ordinals, &fields).await?;
        let texts = ordinals.iter().map(|ordinal| {
            let fields = stored.remove(ordinal).ok_or_else(|| damaged("ordinal"))?;
            hit_texts(fields.detail, &fields.words)
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::forward::DocumentWords;

    #[test]
    fn text_past_the_limit_is_omitted_and_marks_the_search_as_incomplete() {
        let texts = |sizes: &[usize]| -> Vec<_> {
            let texts = |size: &usize| HitTexts { fields: vec![b' '; *size].into(), words: DocumentWords::new(&[]) };
            sizes.iter().map(texts).collect()
        };
        let most = MAX_TEXT_BYTES;
        for (sizes, left) in
            [(vec![most, 1], 1), (vec![most - 1, 1, 1], 2), (vec![most + 1], 0), (vec![1], 1), (vec![], 0)]
        {
            let (mut texts, budget) = (texts(&sizes), Budget::new(u64::MAX));
            bound(&mut texts, &budget);
            assert_eq!((texts.len(), budget.is_exceeded()), (left, left < sizes.len()), "{sizes:?}");
        }
    }
}
