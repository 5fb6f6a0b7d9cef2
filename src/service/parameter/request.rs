//! Reads requests to operations from their parameters' values.

use super::Values;
use super::definition::{
    ANY_EVIDENCE_BEFORE, ATTRIBUTE, ATTRIBUTES, CATEGORY, EVIDENCE_CHECKED_AFTER, EVIDENCE_CHECKED_BEFORE,
    EVIDENCE_STATUS, EXPORT, FACETS, GLOSSARY_Q, HIGHLIGHT, IDS, INCLUDE, LIMIT, LIST_SORT, MAX_STARS, MIN_RATING,
    MIN_STARS, NAME_Q, OFFERING_TYPE, OFFSET, PREFIX, QUERIED_OFFSET, REVIEW_SORT, SEARCH_Q, SEARCH_SORT,
    SEARCHED_OFFSET, SIMILAR_LIMIT, TYPO, VERIFIED,
};
use crate::service::{
    AttributeCondition, ListGlossary, ListReviews, ListSimilar, ListSoftware, ReviewFilter, SearchSoftware,
    SoftwareFilter,
};

impl ListSoftware {
    /// Reads everything but the language, which depends on the directory.
    pub fn from_values(values: &mut Values<'_>) -> Self {
        Self {
            q: values.query(&NAME_Q),
            filter: SoftwareFilter::from_values(values),
            sort: values.one(&LIST_SORT),
            include: values.names(&INCLUDE),
            page: values.page(&LIMIT, &QUERIED_OFFSET),
            language: None,
        }
    }
}

impl SoftwareFilter {
    /// Reads the filter that all lists and searches of products share, and ids.
    pub fn from_values(values: &mut Values<'_>) -> Self {
        Self { ids: values.many(&IDS), ..software_filter(values) }
    }
}

fn software_filter(values: &mut Values<'_>) -> SoftwareFilter {
    SoftwareFilter {
        categories: values.many(&CATEGORY),
        exports: values.many(&EXPORT),
        offering_type: values.one(&OFFERING_TYPE),
        evidence_status: values.one(&EVIDENCE_STATUS),
        min_rating: values.one(&MIN_RATING),
        evidence_checked_before: values.one(&EVIDENCE_CHECKED_BEFORE),
        evidence_checked_after: values.one(&EVIDENCE_CHECKED_AFTER),
        any_evidence_before: values.one(&ANY_EVIDENCE_BEFORE),
        attributes: ATTRIBUTES
            .iter()
            .flat_map(|attribute| {
                let values = values.many(attribute).into_iter();
                values.map(|value| AttributeCondition { property: attribute.name.to_owned(), value })
            })
            .collect::<Vec<_>>()
            .into_iter()
            .chain(values.many(&ATTRIBUTE))
            .collect(),
        ..SoftwareFilter::default()
    }
}

impl SearchSoftware {
    pub fn from_values(values: &mut Values<'_>) -> Self {
        let q = values.query(&SEARCH_Q);
        let mut facets = Vec::new();
        for facet in values.many(&FACETS) {
            if !facets.contains(&facet) {
                facets.push(facet);
            }
        }
        Self {
            q,
            filter: software_filter(values),
            sort: values.one(&SEARCH_SORT).unwrap_or_default(),
            facets,
            highlight: values.flag(&HIGHLIGHT),
            typo: values.flag(&TYPO),
            prefix: values.one(&PREFIX).unwrap_or_default(),
            include: values.names(&INCLUDE),
            page: values.page(&LIMIT, &QUERIED_OFFSET),
            language: None,
        }
    }
}

impl ListSimilar {
    pub fn from_values(values: &mut Values<'_>) -> Self {
        Self { filter: software_filter(values), page: values.page(&SIMILAR_LIMIT, &SEARCHED_OFFSET), language: None }
    }
}

impl ListGlossary {
    pub fn from_values(values: &mut Values<'_>) -> Self {
        Self { q: values.query(&GLOSSARY_Q), page: values.page(&LIMIT, &QUERIED_OFFSET) }
    }
}

impl ListReviews {
    pub fn from_values(values: &mut Values<'_>) -> Self {
        Self {
            filter: ReviewFilter {
                min_rating: values.one(&MIN_STARS),
                max_rating: values.one(&MAX_STARS),
                verified: values.one(&VERIFIED),
            },
            sort: values.one(&REVIEW_SORT).unwrap_or_default(),
            page: values.page(&LIMIT, &OFFSET),
        }
    }
}
