//! Search.

use serde_json::{Map, Value, json};

use super::filter::FilterQuery;
use super::operations::{ListedProduct, Order};
use super::query::{FEW, HAS_ALL, IS_NAME, IS_PINNED, TextQuery, scaled};
use super::response::{Found, Hit};
use super::{Directory, Error, alternatives, facets};
use crate::catalogue::resource::QueryReport;
use crate::search::collect::Tier;
use crate::service::{MAX_QUERY_CHARACTERS, SearchHit, SearchPage, SearchSoftware, ServiceError, Translator, facet};

/// The aggregations that count products regardless of the filter, and those with all the words.
const UNFILTERED: &str = "unfiltered products";
const COMPLETE: &str = "complete products";

/// A query as sent.
struct Sent {
    query: Value,
    /// Whether it requires all the words.
    is_strict: bool,
    complete: Value,
}

impl Directory {
    /// Searches products.
    pub async fn search_software(&self, query: &SearchSoftware) -> Result<SearchPage<'static>, Error> {
        if query.highlight {
            return Err(Error::NotOffered("highlighting"));
        }
        let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
        let characters = q.map_or(0, |q| q.chars().count());
        if characters > MAX_QUERY_CHARACTERS {
            return Err(ServiceError::QueryTooLong { characters, most: MAX_QUERY_CHARACTERS }.into());
        }
        let filter = FilterQuery::new(&query.filter, &self.view.catalogue);
        let Some(text) = q.map(|q| TextQuery::new(q, query.prefix, &self.view)) else {
            let sent = Sent { query: json!({"match_all": {}}), is_strict: true, complete: Value::Null };
            let found = self.send_search(query, &filter, &sent).await?;
            return self.page(
                query,
                &found,
                &sent,
                QueryReport { with_all_words: found.total(), ..QueryReport::default() },
            );
        };
        let mut report = QueryReport {
            synonyms: text.synonyms.clone(),
            excluded: text.excluded(),
            pinned: text.pinned.clone(),
            ..QueryReport::default()
        };
        if let Some(alternatives) = alternatives::understand(self, &text).await? {
            report.alternatives_to = Some(alternatives.name.clone());
            report.alternatives_to_id.clone_from(&alternatives.similar_to);
            let sent = Sent { query: alternatives.query(), is_strict: false, complete: alternatives.listed() };
            let found = self.send_search(query, &filter, &sent).await?;
            report.with_all_words = found.count(COMPLETE);
            return self.page(query, &found, &sent, report);
        }
        let mut sent = Sent { query: text.strict(), is_strict: true, complete: Value::Null };
        let mut found = self.send_search(query, &filter, &sent).await?;
        report.with_all_words = found.total();
        // The filter must not change how a query is understood.
        let words = if filter.is_empty() { found.total() } else { found.count(UNFILTERED) };
        if words < FEW {
            sent = Sent { query: text.loose(query.typo), is_strict: false, complete: text.all_words() };
            found = self.send_search(query, &filter, &sent).await?;
            report.with_all_words = found.count(COMPLETE);
        }
        self.page(query, &found, &sent, report)
    }

    async fn send_search(
        &self,
        query: &SearchSoftware,
        filter: &FilterQuery,
        Sent { query: sent, is_strict, complete }: &Sent,
    ) -> Result<Found<ListedProduct>, Error> {
        let catalogue = &self.view.catalogue;
        let mut aggregations: Map<String, Value> = facets::aggregations(&query.facets, filter, catalogue);
        if !filter.is_empty() {
            aggregations.insert(UNFILTERED.to_owned(), json!({"filter": {"match_all": {}}}));
        }
        if !is_strict {
            let passing = filter.but_for(None);
            aggregations.insert(COMPLETE.to_owned(), json!({"filter": {"bool": {"filter": [complete, passing]}}}));
        }
        let mut body = json!({"query": sent, "aggs": aggregations});
        // Facets and the number of products found regardless of the filter need what it leaves out.
        if !filter.is_empty() {
            body["post_filter"] = filter.but_for(None);
        }
        let order = Order::of_search(&query.sort, query.q.is_some());
        self.send_page(body, &order, query.page).await
    }

    fn page(
        &self,
        query: &SearchSoftware,
        found: &Found<ListedProduct>,
        sent: &Sent,
        report: QueryReport,
    ) -> Result<SearchPage<'static>, Error> {
        let catalogue = &self.view.catalogue;
        let mut translator = Translator::new(catalogue, query.language.as_ref());
        let has_words = query.q.is_some();
        let mut last = f32::INFINITY;
        let data = found.hits.hits.iter().filter_map(|hit| Some((hit, hit.source.as_ref()?))).map(|(hit, source)| {
            let tier = tier(hit, sent.is_strict);
            // The score never increases from one hit to the next.
            let score = if has_words { score(hit, tier).min(last) } else { 0.0 };
            last = score;
            let item = source.translated(&mut translator)?;
            Ok::<_, Error>(SearchHit { item, tier, score, highlights: None })
        });
        let data = data.collect::<Result<_, _>>()?;
        let counts = facets::counts(found, &query.facets, catalogue);
        let counts = (!query.facets.is_empty()).then_some(&counts);
        let page = SearchPage {
            data,
            is_in_language: translator.is_any(),
            pagination: query.page.pagination(found.total()),
            query: report,
            facets: facet::all(catalogue, &query.facets, counts, query.language.as_ref()),
        };
        Ok(page.into_owned())
    }
}

fn tier<T>(hit: &Hit<T>, is_strict: bool) -> Tier {
    let is = |name: &str| hit.matched_queries.iter().any(|of| of == name);
    if is(IS_NAME) {
        Tier::ExactName
    } else if is(IS_PINNED) {
        Tier::Pinned
    } else if is_strict || is(HAS_ALL) {
        Tier::All
    } else {
        Tier::Some
    }
}

/// A score as shown: the tier plus the score by words, scaled to 0 to 1.
fn score<T>(hit: &Hit<T>, tier: Tier) -> f32 {
    let score = hit.score.unwrap_or_default();
    f32::from(tier.number()) + scaled(score)
}
