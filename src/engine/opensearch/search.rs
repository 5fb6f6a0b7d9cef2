//! Runs a search: sends its requests to the cluster and combines the responses.
//!
//! Most searches take one request. If too few products have all the words, a second request
//! is sent. For a page deep in a filtered list, another request comes first. Related products take
//! up to three more requests.

use std::ops::Range;

use serde_json::{Value, json};

use super::OpenSearchEngine;
use super::attributes::label_field;
use super::cluster::ClusterError;
use super::facets;
use super::filter::{FilterQuery, all};
use super::mapping::{MAX_WINDOW, rank_field};
use super::query::{Match, PlanQuery};
use super::response::{SearchResponse, StoredFields, Tiers, damaged, decoded, hit_texts};
use super::texts;
use crate::catalogue::{Order, Ordinal, SortedBy};
use crate::engine::{EngineError, Hit, HitTexts, SearchHits, SearchRequest};
use crate::search::Rerank;
use crate::search::collect::{Candidate, RERANKED, Tier, is_accidental};
use crate::search::related::FEW;

/// Number of rank buckets used to find a page deep in a filtered list.
const RANK_BUCKETS: usize = 10_000;

/// Name of the aggregation that counts all hits, filtered or not.
const FOUND: &str = "found";
const RANKS: &str = "ranks";

pub(super) struct Search<'e, 'r> {
    engine: &'e OpenSearchEngine,
    pub(super) request: &'r SearchRequest<'r>,
    pub(super) plan: PlanQuery<'r>,
    pub(super) filter: FilterQuery,
}

impl<'e, 'r> Search<'e, 'r> {
    pub(super) fn new(engine: &'e OpenSearchEngine, request: &'r SearchRequest<'r>) -> Self {
        let plan = PlanQuery::new(request.plan, engine);
        Self { engine, request, plan, filter: FilterQuery::new(request.filter, &engine.catalogue) }
    }

    /// Runs the search. Text, if requested, comes with the hits. If it's too large for one
    /// response, this reads as much of it as fits afterwards.
    pub(super) async fn run(mut self) -> Result<SearchHits, EngineError> {
        let budget = self.request.budget;
        match self.find().await {
            Ok(mut hits) => {
                texts::bound(&mut hits.texts, budget);
                Ok(hits)
            }
            Err(EngineError::Refused(error)) if self.request.texts && is_too_large(&*error) => {
                let request = SearchRequest { texts: false, ..self.request.clone() };
                let hits = Search::new(self.engine, &request).find().await?;
                let texts = self.engine.read_texts(&hits.hits, budget).await?;
                Ok(SearchHits { texts, ..hits })
            }
            Err(error) => Err(error),
        }
    }

    async fn find(&mut self) -> Result<SearchHits, EngineError> {
        // There's nothing past the last product, and an offset past it may be too large a number
        // for the cluster.
        let (Range { start, end }, documents) = (self.request.page.clone(), self.engine.documents);
        let page = start.min(documents)..end.min(documents);
        if page.end > MAX_WINDOW
            && let Some(SortedBy::Stored(order)) = self.request.order
        {
            let found = self.distant(order, page.clone()).await?;
            if self.request.plan.related.is_none() || found.unfiltered_total >= FEW as u64 {
                return Ok(found);
            }
            // Related products may come last, but never enough of them to reach this page.
            return self.ranked(page.start.min(MAX_WINDOW)..MAX_WINDOW).await;
        }
        if self.request.order.is_none() && matches!(self.request.plan.rerank, Rerank::ShortestName) {
            return self.names(page).await;
        }
        self.ranked(page).await
    }

    /// A page that the cluster can sort.
    async fn ranked(&mut self, page: Range<usize>) -> Result<SearchHits, EngineError> {
        let first = self.send(self.body(&self.query(Match::All), &self.filter.clauses(), page.clone())).await?;
        let all = found(&first);
        let (found, matching) = if self.plan.may_fall_back() && all < self.request.plan.enough as u64 {
            (self.with_some_words(first, all, page.clone()).await?, Match::Some)
        } else {
            (self.hits(first, Tiers::All)?, Match::All)
        };
        match &self.request.plan.related {
            Some(related) if related.follow(all, found.unfiltered_total) => {
                self.with_related(found, related, matching, page).await
            }
            _ => Ok(found),
        }
    }

    /// Adds products with only some of the words to those with all of them. `all` is how many
    /// products have all the words, whether or not they pass the filter.
    async fn with_some_words(
        &mut self,
        mut first: SearchResponse,
        all: u64,
        page: Range<usize>,
    ) -> Result<SearchHits, EngineError> {
        self.plan.accidental = self.accidental(all).await?;
        if !self.plan.accidental.is_empty() {
            let mut clauses = self.filter.clauses();
            clauses.push(self.plan.complete());
            first = self.send(self.body(&self.query(Match::All), &clauses, page.clone())).await?;
        }
        let complete = first.total();
        if self.request.order.is_some() {
            let both = self.send(self.body(&self.query(Match::Some), &self.filter.clauses(), page)).await?;
            return Ok(SearchHits { complete, ..self.hits(both, Tiers::Both)? });
        }
        // The first response contains the products with all the words. Products with only some of
        // the words come after them.
        let (best, best_texts) = first.hits(Tiers::All, self.is_demo(), self.request.texts)?;
        let before = usize::try_from(complete).unwrap_or(usize::MAX);
        let rest = page.start.saturating_sub(before)..page.end.saturating_sub(before);
        let mut clauses = self.filter.clauses();
        clauses.push(json!({"bool": {"must_not": [self.plan.complete()]}}));
        let second = self.send(self.body(&self.query(Match::Some), &clauses, rest)).await?;
        let mut hits = self.hits(second, Tiers::Some)?;
        hits.hits.splice(0..0, best);
        hits.texts.splice(0..0, best_texts);
        Ok(SearchHits { total: hits.total + complete, complete, ..hits })
    }

    /// Finds the documents that have all the words only by accident. Few documents have all the
    /// words when this is called.
    async fn accidental(&self, all: u64) -> Result<Vec<Ordinal>, EngineError> {
        if all < 2 {
            return Ok(Vec::new());
        }
        let mut body = self.body(&self.plan.ranked(Match::All), &[], 0..self.request.plan.enough);
        body["stored_fields"] = json!("_none_");
        body["docvalue_fields"] = json!(["ordinal", "name_words"]);
        body["aggs"] = json!({});
        let candidates = self.send(body).await?.candidates(self.is_demo())?;
        let of_tier = |tier| candidates.iter().map(|(of, _)| *of).filter(move |of| of.tier == tier);
        let best = of_tier(Tier::All).map(|of| of.score).fold(0.0, f32::max);
        let accidental = of_tier(Tier::All).chain(of_tier(Tier::Demo)).filter(|of| is_accidental(of.score, best));
        Ok(accidental.map(|of| of.ordinal).collect())
    }

    fn query(&self, matching: Match) -> Value {
        if self.request.order.is_none() { self.plan.ranked(matching) } else { self.plan.unranked(matching) }
    }

    /// A page of products found by name. The first products are reranked by the length of their
    /// shortest name, so this determines the order first and then reads the page's items.
    async fn names(&self, page: Range<usize>) -> Result<SearchHits, EngineError> {
        let mut body = self.body(&self.query(Match::All), &self.filter.clauses(), 0..page.end.max(RERANKED));
        body["stored_fields"] = json!("_none_");
        body["docvalue_fields"] = json!(["ordinal", "name_words"]);
        let mut response = self.send(body).await?;
        let mut candidates = response.candidates(self.is_demo())?;
        let head = candidates.len().min(RERANKED);
        for (candidate, words) in &mut candidates[..head] {
            candidate.score /= *words;
        }
        candidates[..head].sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        let found = self.counts(&mut response)?;
        let candidates: Vec<_> = candidates.into_iter().map(|(candidate, _)| candidate).collect();
        let wanted = self.request.page_of(&candidates);
        if wanted.is_empty() {
            return Ok(found);
        }
        let (hits, texts) = self.read(wanted).await?;
        Ok(SearchHits { hits, texts, ..found })
    }

    /// Reads the candidates' hits.
    pub(super) async fn read(&self, candidates: &[Candidate]) -> Result<(Vec<Hit>, Vec<HitTexts>), EngineError> {
        let ordinals: Vec<_> = candidates.iter().map(|candidate| candidate.ordinal).collect();
        let (stored, columns) = self.fields();
        let fields = json!({"stored_fields": stored, "docvalue_fields": columns});
        let mut stored = self.engine.documents(&ordinals, &fields).await?;
        let (mut hits, mut texts) = (Vec::with_capacity(candidates.len()), Vec::new());
        for Candidate { tier, score, ordinal } in candidates.iter().copied() {
            let StoredFields { item, detail, words, .. } = stored.remove(&ordinal).ok_or_else(|| damaged("ordinal"))?;
            if self.request.texts {
                texts.push(hit_texts(detail, &words)?);
            }
            hits.push(Hit { ordinal, tier, score, item: decoded(item, "item")? });
        }
        Ok((hits, texts))
    }

    /// The stored fields and columns to read for a page.
    fn fields(&self) -> (Value, Value) {
        let stored = if self.request.texts { json!(["detail", "words"]) } else { json!("_none_") };
        (stored, json!(["ordinal", "item"]))
    }

    /// A page deep in a stored order. To avoid having the cluster sort everything before the page,
    /// this selects a range of ranks.
    async fn distant(&mut self, order: Order, page: Range<usize>) -> Result<SearchHits, EngineError> {
        let rank = rank_field(order);
        if self.filter.is_open() && self.request.plan.finds_all() && self.request.facets.is_none() {
            let total = self.engine.documents as u64;
            let range = json!({"range": {rank: {"gte": page.start, "lt": page.end}}});
            let body = self.body(&self.query(Match::All), &[range], 0..page.len());
            let hits = self.hits(self.send(body).await?, Tiers::All)?;
            return Ok(SearchHits { total, complete: total, unfiltered_total: total, ..hits });
        }
        let mut matching = Match::All;
        let mut first = self.send(self.ranks(matching, rank)).await?;
        let mut complete = first.total();
        let all = found(&first);
        if self.plan.may_fall_back() && all < self.request.plan.enough as u64 {
            self.plan.accidental = self.accidental(all).await?;
            let mut clauses = self.filter.clauses();
            clauses.push(self.plan.complete());
            complete = self.send(self.body(&self.query(Match::All), &clauses, 0..0)).await?.total();
            matching = Match::Some;
            first = self.send(self.ranks(matching, rank)).await?;
        }
        let bucket = first.bucket_of(RANKS, page.start as u64);
        let tiers = if matching == Match::All { Tiers::All } else { Tiers::Both };
        let mut hits = SearchHits { complete, ..self.hits(first, tiers)? };
        if let Some((least, before)) = bucket {
            let skipped = page.start.saturating_sub(usize::try_from(before).unwrap_or(usize::MAX));
            let mut clauses = self.filter.clauses();
            clauses.push(json!({"range": {rank: {"gte": least}}}));
            let mut body = self.body(&self.query(matching), &clauses, skipped..skipped + page.len());
            body["aggs"] = json!({});
            let found = self.send(body).await?;
            (hits.hits, hits.texts) = found.hits(tiers, self.is_demo(), self.request.texts)?;
        }
        Ok(hits)
    }

    /// The body of a request for counts without hits, and for the number of hits in each range of
    /// ranks.
    fn ranks(&self, matching: Match, rank: &str) -> Value {
        let mut body = self.body(&self.query(matching), &self.filter.clauses(), 0..0);
        let interval = self.engine.documents.div_ceil(RANK_BUCKETS).max(1);
        let histogram = json!({"histogram": {"field": rank, "interval": interval, "min_doc_count": 1}});
        body["aggs"][RANKS] = json!({"filter": all(&self.filter.clauses()), "aggs": {"values": histogram}});
        body
    }

    /// Builds a request body. The clauses apply only to the hits and their total.
    pub(super) fn body(&self, query: &Value, clauses: &[Value], page: Range<usize>) -> Value {
        let mut sort = Vec::new();
        match self.request.order {
            Some(SortedBy::Stored(order)) => sort.push(json!({rank_field(order): "asc"})),
            Some(SortedBy::Attribute { attribute, descending }) => {
                let order = if descending { "desc" } else { "asc" };
                sort.push(json!({label_field(attribute): {"order": order, "missing": "_last"}}));
                sort.push(json!({rank_field(Order::Name): "asc"}));
            }
            None => {
                if self.engine.has_demos() {
                    sort.push(json!({"demo": "asc"}));
                }
                if !self.request.plan.groups.is_empty() || !self.request.plan.names.is_empty() {
                    sort.push(json!({"_score": "desc"}));
                }
                sort.push(json!({"ordinal": "asc"}));
            }
        }
        let tables = &self.engine.catalogue.tables;
        let facets = self.request.facets.map(|of| facets::aggregations(&self.filter, of, tables, self.engine.shards));
        let mut aggregations = facets.unwrap_or_default();
        let is_filtered = !clauses.is_empty();
        if is_filtered {
            aggregations.insert(FOUND.to_owned(), json!({"filter": {"match_all": {}}}));
        }
        let (stored, columns) = self.fields();
        let mut body = json!({
            "query": query,
            "sort": sort,
            "from": page.start,
            "size": page.len(),
            "stored_fields": stored,
            "docvalue_fields": columns,
            "_source": false,
            "track_scores": true,
            "track_total_hits": true,
            "aggs": aggregations,
        });
        if is_filtered {
            body["post_filter"] = all(clauses);
        }
        body
    }

    pub(super) async fn send(&self, body: Value) -> Result<SearchResponse, EngineError> {
        self.engine.search_index(&body).await
    }

    /// Reads a response's hits. The total also serves as the number of products with all the words.
    pub(super) fn hits(&self, mut response: SearchResponse, tiers: Tiers) -> Result<SearchHits, EngineError> {
        let counts = self.counts(&mut response)?;
        let (hits, texts) = response.hits(tiers, self.is_demo(), self.request.texts)?;
        Ok(SearchHits { hits, texts, ..counts })
    }

    pub(super) fn counts(&self, response: &mut SearchResponse) -> Result<SearchHits, EngineError> {
        let (total, unfiltered_total) = (response.total(), found(response));
        let tables = &self.engine.catalogue.tables;
        let counts = |attributes| facets::counts(tables, attributes, |name| response.values(name));
        let facets = self.request.facets.map(counts).transpose()?;
        Ok(SearchHits { total, complete: total, unfiltered_total, facets, ..SearchHits::default() })
    }

    pub(super) fn is_demo(&self) -> impl Fn(u32) -> bool + use<'_, 'e, 'r> {
        |ordinal| ordinal >= self.engine.real
    }
}

fn is_too_large(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref().is_some_and(ClusterError::is_too_large)
}

/// The number of documents found without the filter.
fn found(response: &SearchResponse) -> u64 {
    response.count(FOUND).unwrap_or_else(|| response.total())
}
