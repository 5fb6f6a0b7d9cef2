//! Builds query clauses for OpenSearch.

use serde_json::{Value, json};

use super::term::{self, TermField};
use crate::search::{Alternative, Term};

pub(super) fn scored(alternative: &Alternative, scale: f32) -> Value {
    let boost = alternative.weight * scale;
    match term::field(&alternative.term) {
        TermField::Terms => json!({"rank_feature": {
            "field": feature(&alternative.term), "boost": boost, "saturation": {"pivot": 1},
        }}),
        TermField::Names => json!({"function_score": {
            "query": constant(&has_term(&alternative.term), boost),
            "field_value_factor": {"field": "name_score"},
            "boost_mode": "multiply",
        }}),
    }
}

pub(super) fn has_term(term: &Term) -> Value {
    if let Some(stem) = term::stem(term) {
        return json!({"term": {"stems": stem}});
    }
    match term::field(term) {
        TermField::Terms => json!({"rank_feature": {"field": feature(term), "saturation": {"pivot": 1}}}),
        TermField::Names => json!({"term": {"names": term::name(term)}}),
    }
}

pub(super) fn has_any<'t>(terms: impl Iterator<Item = &'t Term>) -> Value {
    let (mut stems, mut filters) = (Vec::new(), Vec::new());
    for term in terms {
        match term::stem(term) {
            Some(stem) => stems.push(stem),
            None => filters.push(has_term(term)),
        }
    }
    if !stems.is_empty() {
        filters.push(json!({"terms": {"stems": stems}}));
    }
    any(filters)
}

fn feature(term: &Term) -> String {
    format!("terms.{}", term::name(term))
}

pub(super) fn constant(filter: &Value, boost: f32) -> Value {
    json!({"constant_score": {"filter": filter, "boost": boost}})
}

/// Matches any of several queries and takes the best of their scores. Matches nothing if there are
/// no queries.
pub(super) fn any_best(queries: Vec<Value>) -> Value {
    combined(queries, |queries| json!({"dis_max": {"queries": queries}}))
}

/// Matches any of several filters; matches nothing if there are no filters.
pub(super) fn any(filters: Vec<Value>) -> Value {
    combined(filters, |filters| json!({"bool": {"should": filters, "minimum_should_match": 1}}))
}

fn combined(mut clauses: Vec<Value>, combine: impl FnOnce(Vec<Value>) -> Value) -> Value {
    match clauses.len() {
        0 => json!({"match_none": {}}),
        1 => clauses.remove(0),
        _ => combine(clauses),
    }
}

/// Multiplies a query's score by 1 plus the weights of all functions that apply.
pub(super) fn multiplied(query: Value, mut functions: Vec<Value>) -> Value {
    if functions.is_empty() {
        return query;
    }
    functions.push(json!({"filter": {"match_all": {}}, "weight": 1.0}));
    json!({"function_score": {
        "query": query, "functions": functions, "score_mode": "sum", "boost_mode": "multiply",
    }})
}

/// Matches consecutive numbers, with several alternatives for each position.
pub(super) fn in_a_row(field: &str, positions: &[Vec<u32>]) -> Value {
    let position = |numbers: &Vec<u32>| {
        let mut clauses: Vec<_> =
            numbers.iter().map(|number| json!({"span_term": {field: format!("{number:x}")}})).collect();
        if clauses.len() == 1 { clauses.remove(0) } else { json!({"span_or": {"clauses": clauses}}) }
    };
    let mut clauses: Vec<_> = positions.iter().map(position).collect();
    if clauses.len() == 1 {
        return clauses.remove(0);
    }
    json!({"span_near": {"clauses": clauses, "slop": 0, "in_order": true}})
}
