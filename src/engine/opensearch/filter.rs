//! Filters as OpenSearch queries.

use serde_json::{Value, json};

use super::attributes::any_of;
use super::term;
use crate::catalogue::{Admission, Catalogue, SoftwareFilter, admitted};

/// A filter's clauses, each with the part of the filter it belongs to.
#[derive(Debug, Clone)]
pub(super) struct FilterQuery(Vec<(Admission, Value)>);

impl FilterQuery {
    /// Translates a filter. Unknown categories and values match nothing.
    pub(super) fn new(filter: &SoftwareFilter, catalogue: &Catalogue) -> Self {
        let mut clauses = Vec::new();
        let mut add = |part: Admission, clause: Value| clauses.push((part, clause));
        if !filter.ids.is_empty() {
            let ids: Vec<_> = filter.ids.iter().map(|id| term::document_id(id)).collect();
            add(Admission::ORDINAL, json!({"ids": {"values": ids}}));
        }
        if let Some(id) = &filter.except_id {
            let except = json!({"ids": {"values": [term::document_id(id)]}});
            add(Admission::ORDINAL, json!({"bool": {"must_not": [except]}}));
        }
        if !filter.categories.is_empty() {
            let categories: Vec<_> =
                filter.categories.iter().flat_map(|name| catalogue.categories_named(name)).collect();
            add(Admission::CATEGORY, json!({"terms": {"categories": categories}}));
        }
        if let Some(offering_type) = filter.offering_type {
            add(Admission::OFFERING_TYPE, json!({"term": {"offering_type": offering_type as usize}}));
        }
        if let Some(status) = filter.evidence_status {
            add(Admission::EVIDENCE_STATUS, json!({"term": {"evidence_status": status as usize}}));
        }
        if let Some(least) = filter.min_rating {
            add(Admission::RATING, json!({"range": {"rating": {"gte": least}}}));
        }
        if let Some(day) = filter.evidence_checked_before {
            add(Admission::EVIDENCE_CHECKED, json!({"range": {"checked_on": {"lt": day.number()}}}));
        }
        if let Some(day) = filter.evidence_checked_after {
            add(Admission::EVIDENCE_CHECKED, json!({"range": {"checked_on": {"gt": day.number()}}}));
        }
        match admitted(&filter.attributes, &catalogue.tables.attributes) {
            Some(attributes) => {
                for (attribute, ranges) in attributes {
                    add(Admission::attribute(attribute), any_of(attribute, &ranges));
                }
            }
            None => add(Admission::ORDINAL, json!({"match_none": {}})),
        }
        Self(clauses)
    }

    /// Whether every product passes.
    pub(super) fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clauses(&self) -> Vec<Value> {
        self.0.iter().map(|(_, clause)| clause.clone()).collect()
    }

    /// The products that pass all clauses except those of one part.
    pub(super) fn but_for(&self, part: Admission) -> Value {
        all(&self.0.iter().filter(|(of, _)| *of != part).map(|(_, clause)| clause.clone()).collect::<Vec<_>>())
    }
}

pub(super) fn all(clauses: &[Value]) -> Value {
    if clauses.is_empty() { json!({"match_all": {}}) } else { json!({"bool": {"filter": clauses}}) }
}
