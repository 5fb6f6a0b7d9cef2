//! Adds related products to those that the query's words match. The first request finds products
//! that share topics with the query, the second determines which of them pass the filter, and the
//! third reads the page.

use std::ops::Range;

use foldhash::HashMap;
use serde_json::json;

use super::clauses::{any, constant};
use super::query::Match;
use super::response::Tiers;
use super::search::Search;
use crate::catalogue::Ordinal;
use crate::engine::{EngineError, SearchHits};
use crate::search::Related;
use crate::search::collect::{Candidate, Tier};
use crate::search::related::MOST_COMPARED;

impl Search<'_, '_> {
    /// Adds related products to those that the query's words match.
    pub(super) async fn with_related(
        &self,
        by_words: SearchHits,
        related: &Related,
        matching: Match,
        page: Range<usize>,
    ) -> Result<SearchHits, EngineError> {
        let near = self.near(related, matching, by_words.unfiltered_total).await?;
        if near.is_empty() {
            return Ok(by_words);
        }
        let ordinals: Vec<_> = near.iter().map(|candidate| candidate.ordinal).collect();
        let is_near = json!({"terms": {"ordinal": ordinals}});
        let mut clauses = self.filter.clauses();
        if self.request.order.is_some() {
            let query = any(vec![self.plan.unranked(matching), constant(&is_near, 0.0)]);
            let response = self.send(self.body(&query, &clauses, page)).await?;
            let tiers = if matching == Match::All { Tiers::All } else { Tiers::Both };
            let mut hits = self.hits(response, tiers)?;
            let near: HashMap<Ordinal, Candidate> = near.into_iter().map(|of| (of.ordinal, of)).collect();
            for hit in &mut hits.hits {
                if let Some(Candidate { tier, score, .. }) = near.get(&hit.ordinal) {
                    (hit.tier, hit.score) = (*tier, *score);
                }
            }
            let SearchHits { complete, unfiltered_total, total, .. } = by_words;
            return Ok(SearchHits { complete, unfiltered_total, related: hits.total - total, ..hits });
        }
        let query = constant(&any(vec![self.plan.found(matching), is_near.clone()]), 1.0);
        clauses.push(is_near);
        let mut body = self.body(&query, &clauses, 0..near.len());
        body["stored_fields"] = json!("_none_");
        body["docvalue_fields"] = json!(["ordinal"]);
        let mut response = self.send(body).await?;
        let facets = self.counts(&mut response)?.facets;
        let passed = response.by_ordinal()?;
        let near: Vec<_> = near.into_iter().filter(|candidate| passed.contains_key(&candidate.ordinal)).collect();
        let before = usize::try_from(by_words.total).unwrap_or(usize::MAX);
        let place = |at: usize| at.saturating_sub(before).min(near.len());
        let (hits, texts) = self.read(&near[place(page.start)..place(page.end)]).await?;
        let related = near.len() as u64;
        let mut found = SearchHits { total: by_words.total + related, related, facets, ..by_words };
        found.hits.extend(hits);
        found.texts.extend(texts);
        Ok(found)
    }

    /// The related products, best first, whether or not they pass the filter. `found` is the number
    /// of products that the words match.
    async fn near(&self, related: &Related, matching: Match, found: u64) -> Result<Vec<Candidate>, EngineError> {
        let body = json!({
            "query": self.plan.sharing_topics(related, matching),
            "sort": [{"_score": "desc"}, {"ordinal": "asc"}],
            "size": MOST_COMPARED,
            "stored_fields": "_none_",
            "docvalue_fields": ["ordinal", "vector"],
            "_source": false,
            "track_scores": true,
            "track_total_hits": true,
        });
        let (vectors, is_demo) = (self.send(body).await?.vectors()?, self.is_demo());
        let candidate = |(ordinal, vector)| {
            let tier = if is_demo(ordinal) { Tier::RelatedDemo } else { Tier::Related };
            Some(Candidate { tier, score: related.likeness(&vector, found)?, ordinal })
        };
        let mut near: Vec<_> = vectors.into_iter().filter_map(candidate).collect();
        near.sort_unstable_by(|a, b| b.cmp(a));
        Ok(near)
    }
}
