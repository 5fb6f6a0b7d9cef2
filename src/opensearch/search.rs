//! Search, and queries for alternatives to a product: `alternative to Slack`, `open source Trello`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::filter::{FilterQuery, aggregations, counts};
use super::form::Part;
use super::operations::{ListedProduct, Order};
use super::query::{FEW, IS_NAME, IS_PINNED, TextQuery, like, scaled};
use super::response::{Found, Hit};
use super::{Directory, Error};
use crate::catalogue::resource::QueryReport;
use crate::search::collect::Tier;
use crate::search::intent::{Certainty, PossibleSubject, is_intent_word, names_kind, subjects};
use crate::service::parameter::definition::INCLUDE;
use crate::service::{
    MAX_QUERY_CHARACTERS, SearchHit, SearchPage, SearchSoftware, ServiceError, Translator, facet, unknown_values,
};
use crate::text::analyse::written;
use crate::text::english::is_function_word;

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
    pub async fn search_software(&self, query: &SearchSoftware) -> Result<SearchPage<'static>, Error> {
        if query.highlight {
            return Err(Error::NotOffered("highlighting"));
        }
        if !query.include.is_empty() {
            return Err(Error::NotOffered(INCLUDE.name));
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
            return self.page(query, &found, QueryReport { with_all_words: found.total(), ..QueryReport::default() });
        };
        let mut report = QueryReport {
            synonyms: text.synonyms.clone(),
            excluded: text.excluded(),
            pinned: text.pinned.clone(),
            ..QueryReport::default()
        };
        if let Some(alternatives) = understand(self, &text).await? {
            report.alternatives_to = Some(alternatives.name.clone());
            report.alternatives_to_id.clone_from(&alternatives.similar_to);
            let sent = Sent { query: alternatives.query(), is_strict: false, complete: alternatives.listed() };
            let found = self.send_search(query, &filter, &sent).await?;
            report.with_all_words = found.count(COMPLETE);
            return self.page(query, &found, report);
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
        self.page(query, &found, report)
    }

    async fn send_search(
        &self,
        query: &SearchSoftware,
        filter: &FilterQuery,
        Sent { query: sent, is_strict, complete }: &Sent,
    ) -> Result<Found<ListedProduct>, Error> {
        let catalogue = &self.view.catalogue;
        let mut aggregated: Map<String, Value> = aggregations(&query.facets, filter, catalogue);
        if !filter.is_empty() {
            aggregated.insert(UNFILTERED.to_owned(), json!({"filter": {"match_all": {}}}));
        }
        if !is_strict {
            let passing = filter.but_for(None);
            aggregated.insert(COMPLETE.to_owned(), json!({"filter": {"bool": {"filter": [complete, passing]}}}));
        }
        let mut body = json!({"query": sent, "aggs": aggregated});
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
        mut report: QueryReport,
    ) -> Result<SearchPage<'static>, Error> {
        let catalogue = &self.view.catalogue;
        report.unknown.extend(unknown_values(catalogue, None, &query.filter));
        let mut translator = Translator::new(catalogue, query.language.as_ref());
        let has_words = query.q.is_some();
        let mut last = f32::INFINITY;
        let data = found.hits.hits.iter().filter_map(|hit| Some((hit, hit.source.as_ref()?))).map(|(hit, source)| {
            let tier = tier(hit);
            // The score never increases from one hit to the next.
            let score = if has_words { score(hit, tier).min(last) } else { 0.0 };
            last = score;
            let item = source.translated(&mut translator)?;
            Ok::<_, Error>(SearchHit { item, tier, score, highlights: None })
        });
        let data = data.collect::<Result<_, _>>()?;
        let counted = counts(found, &query.facets, catalogue);
        let counts = (!query.facets.is_empty()).then_some(&counted);
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

fn tier<T>(hit: &Hit<T>) -> Tier {
    let is = |name: &str| hit.matched_queries.iter().any(|of| of == name);
    if is(IS_NAME) {
        Tier::ExactName
    } else if is(IS_PINNED) {
        Tier::Pinned
    } else {
        Tier::Words
    }
}

/// A score as shown: the tier plus the score by words, scaled to 0 to 1.
fn score<T>(hit: &Hit<T>, tier: Tier) -> f32 {
    let score = hit.score.unwrap_or_default();
    f32::from(tier.number()) + scaled(score)
}

/// How many names are looked up at most.
const MAX_NAMES: usize = 8;
/// How many products that are listed as alternatives stand for what they replace, if the product
/// itself isn't in the directory.
const EXAMPLES: usize = 5;
/// The boost of a product that's listed as an alternative.
const LISTED: f64 = 1e4;

/// A query for alternatives to a product.
#[derive(Debug)]
pub(super) struct Alternatives {
    /// The product's name, as written in the query.
    pub(super) name: String,
    /// The product's id, if it's in the directory and no product is listed as an alternative to it.
    pub(super) similar_to: Option<String>,
    /// The rest of the query.
    rest: String,
    /// What the alternatives have to be like.
    like: Vec<Value>,
}

#[derive(Deserialize)]
struct Source {
    id: String,
}

/// Finds out whether the query asks for alternatives to a product that the index knows.
pub(super) async fn understand(directory: &Directory, query: &TextQuery<'_>) -> Result<Option<Alternatives>, Error> {
    let (text, words) = (query.text, &query.parsed.words);
    let is_plain = |of: &PossibleSubject| !of.words.clone().any(|at| query.parsed.is_in_phrase(at));
    let subjects: Vec<_> = subjects(words).into_iter().filter(is_plain).take(MAX_NAMES).collect();
    if subjects.is_empty() {
        return Ok(None);
    }
    let index = directory.index.prefix.alias(Part::Products);
    let names: Vec<_> = subjects.iter().map(|of| written(text, &words[of.words.clone()])).collect();
    let mut aggregations = Map::new();
    let mut any = Vec::new();
    for (at, name) in names.iter().enumerate() {
        aggregations.insert(format!("named {at}"), json!({"filter": named(name)}));
        aggregations.insert(format!("listed {at}"), json!({"filter": listed(name)}));
        let clause = |kind: &str, filter: Value, boost: u8| json!({"constant_score": {"filter": filter, "boost": boost, "_name": format!("{kind} {at}")}});
        any.extend([clause("named", named(name), 2), clause("listed", listed(name), 1)]);
    }
    let body = json!({
        "size": 50, "_source": ["id"], "track_total_hits": false, "aggs": aggregations,
        "query": {"bool": {"should": any}}, "sort": ["_score", {"directory.quality": "desc"}],
    });
    let found: Found<Source> = directory.send(Part::Products, &body).await?;
    for (at, subject) in subjects.iter().enumerate() {
        let (is_named, is_listed) = (found.count(&format!("named {at}")) > 0, found.count(&format!("listed {at}")) > 0);
        let others: Vec<_> = (0..words.len())
            .filter(|at| !subject.words.contains(at) && !subject.cue.contains(at))
            .filter(|at| {
                let word = &words[*at];
                !is_intent_word(text, word) && !names_kind(&word.folded) && !is_function_word(&word.folded)
            })
            .collect();
        let is_meant = match subject.certainty_beside(others.len()) {
            Certainty::Explicit | Certainty::Clear => is_named || is_listed,
            Certainty::Likely => is_listed || (is_named && others.is_empty()),
            Certainty::Description => is_listed && !is_named && others.is_empty(),
        };
        if !is_meant {
            continue;
        }
        let of_kind = |kind: &str| {
            let name = format!("{kind} {at}");
            let hits = found.hits.hits.iter().filter(move |hit| hit.matched_queries.contains(&name));
            hits.filter_map(|hit| Some((&hit.id, &hit.source.as_ref()?.id))).collect::<Vec<_>>()
        };
        let (own, alternatives) = (of_kind("named"), of_kind("listed"));
        let examples = if own.is_empty() { &alternatives[..alternatives.len().min(EXAMPLES)] } else { &own[..1] };
        let rest = others.iter().map(|at| &text[words[*at].start..words[*at].end]);
        return Ok(Some(Alternatives {
            name: names[at].to_owned(),
            similar_to: own.first().filter(|_| !is_listed).map(|(_, id)| (*id).clone()),
            rest: rest.collect::<Vec<_>>().join(" "),
            like: examples.iter().map(|(key, _)| json!({"_index": index, "_id": key})).collect(),
        }));
    }
    Ok(None)
}

impl Alternatives {
    /// The products that say they're alternatives, then those with the same categories and tags.
    pub(super) fn query(&self) -> Value {
        let mut any = vec![json!({"constant_score": {"filter": self.listed(), "boost": LISTED}})];
        if !self.like.is_empty() {
            any.push(like(&self.like, &["categories.id", "tags.keyword"]));
        }
        let mut should = Vec::new();
        if !self.rest.is_empty() {
            should.push(json!({"match": {"all": {"query": self.rest, "analyzer": "loose_synonyms"}}}));
        }
        json!({"bool": {
            "must": [{"bool": {"should": any, "minimum_should_match": 1}}], "should": should, "must_not": [named(&self.name)],
        }})
    }

    /// A query for the products that say they're alternatives.
    pub(super) fn listed(&self) -> Value {
        listed(&self.name)
    }
}

fn named(name: &str) -> Value {
    json!({"bool": {"should": [{"term": {"name.keyword": name}}, {"term": {"aliases.keyword": name}}]}})
}

fn listed(name: &str) -> Value {
    let says = |phrase: String, slop: u8| json!({"match_phrase": {"all": {"query": phrase, "slop": slop, "analyzer": "words"}}});
    json!({"bool": {"should": [
        {"match_phrase": {"alternative_to": name}},
        says(format!("alternative to {name}"), 3),
        says(format!("replacement for {name}"), 3),
        says(format!("{name} alternative"), 0),
        says(format!("{name} replacement"), 0),
        says(format!("{name} clone"), 0),
    ]}})
}
