//! Limits the memory that the texts of hits take.

use serde_json::json;

use super::OpenSearchEngine;
use super::response::{damaged, hit_texts};
use crate::engine::{EngineError, Hit, HitTexts, MAX_TEXT_BYTES};
use crate::search::budget::Budget;

/// Removes the texts of the last hits if all together exceed [`MAX_TEXT_BYTES`]. Then the search is
/// incomplete.
pub(super) fn bound(texts: &mut Vec<HitTexts>, budget: &Budget) {
    let mut bytes = 0;
    let fits = |texts: &&HitTexts| {
        let fits = bytes <= MAX_TEXT_BYTES;
        bytes += texts.fields.len() + texts.words.size_bytes();
        fits
    };
    let fitting = texts.iter().take_while(fits).count();
    if fitting < texts.len() {
        texts.truncate(fitting);
        budget.exceed();
    }
}

impl OpenSearchEngine {
    /// Reads the texts of the first hits, as many as fit into [`MAX_TEXT_BYTES`] in a response. If
    /// some don't fit, the search is incomplete.
    pub(super) async fn read_texts(&self, hits: &[Hit], budget: &Budget) -> Result<Vec<HitTexts>, EngineError> {
        let ordinals: Vec<_> = hits.iter().map(|hit| hit.ordinal).collect();
        let sizes = json!({"stored_fields": "_none_", "docvalue_fields": ["ordinal", "text_bytes"]});
        let sizes = self.documents(&ordinals, &sizes).await?;
        let (mut fitting, mut bytes) = (0, 0);
        for ordinal in &ordinals {
            let size = sizes.get(ordinal).and_then(|fields| fields.text_bytes.first());
            bytes += size.ok_or_else(|| damaged("text_bytes"))?;
            if bytes > MAX_TEXT_BYTES {
                budget.exceed();
                break;
            }
            fitting += 1;
        }
        let fields = json!({"stored_fields": ["ordinal", "detail", "words"]});
        let mut stored = self.documents(&ordinals[..fitting], &fields).await?;
        let texts = ordinals[..fitting].iter().map(|ordinal| {
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
    fn texts_behind_the_bound_are_left_out_and_the_search_is_incomplete() {
        let texts = |sizes: &[usize]| -> Vec<_> {
            let texts = |size: &usize| HitTexts { fields: vec![b' '; *size].into(), words: DocumentWords::new(&[]) };
            sizes.iter().map(texts).collect()
        };
        for (sizes, left) in [(vec![MAX_TEXT_BYTES, 1], 2), (vec![MAX_TEXT_BYTES, 1, 1], 2), (vec![1], 1), (vec![], 0)]
        {
            let (mut texts, budget) = (texts(&sizes), Budget::new(u64::MAX));
            bound(&mut texts, &budget);
            assert_eq!((texts.len(), budget.is_exceeded()), (left, left < sizes.len()), "{sizes:?}");
        }
    }
}
