//! Queries for alternatives to a product: `alternative to Slack`, `open source Trello`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::prefix::Part;
use super::query::TextQuery;
use super::response::Found;
use super::{Directory, Error};
use crate::search::intent::is_intent_word;
use crate::search::intent::{Certainty, PossibleSubject, names_kind, subjects};
use crate::text::analyse::written;
use crate::text::english::is_function_word;

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
        let is_meant = match subject.certainty {
            Certainty::Explicit => is_named || is_listed,
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
        let mut any =
            vec![json!({"constant_score": {"filter": self.listed(), "boost": LISTED, "_name": super::query::HAS_ALL}})];
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

/// A query for products like these.
pub(super) fn like(documents: &[Value], fields: &[&str]) -> Value {
    json!({"more_like_this": {
        "fields": fields, "like": documents, "min_term_freq": 1, "min_doc_freq": 2, "max_query_terms": 25,
        "minimum_should_match": 1,
    }})
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
