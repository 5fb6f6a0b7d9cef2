//! Product search: understands a query, runs it and scores the hits for the response.

use std::mem::size_of;

use bytes::Bytes;

use super::highlight::Highlighter;
use super::page::scaled_score;
use super::similar::{only_alike, seek_similar};
use super::unknown::unknown_values;
use super::{
    ListItems, MAX_QUERY_CHARACTERS, SearchHit, SearchPage, SearchSoftware, ServiceError, SoftwareFilter, Translator,
    facet,
};
use crate::catalogue::resource::{Correction, QueryReport};
use crate::generation::Snapshot;
use crate::index::{Hit, IndexError, SearchHits, SearchRequest};
use crate::record::{AttributeNumber, AttributeType};
use crate::search::budget::{Budget, Stop};
use crate::search::expand::{Expansion, Options, expand};
use crate::search::facet_counts::FacetCounts;
use crate::search::identity::read;
use crate::search::query::ParsedQuery;
use crate::search::{Alternative, AttributeValues, MatchKind, Plan, Term, TermLookup, WordGroup};
use crate::text::analyse::{Word, written};

pub fn search_software(snapshot: &Snapshot, query: &SearchSoftware) -> Result<SearchPage<'static>, ServiceError> {
    let budget = budget(snapshot, &Stop::default());
    Ok(find_software_within(snapshot, query, &budget)?.page(snapshot, query).into_owned())
}

/// Does the expensive part of [`search_software`], with a custom budget. The results can be cached.
pub fn find_software_within(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    budget: &Budget,
) -> Result<SearchResults, ServiceError> {
    let (expansion, found) = understood(snapshot, query, budget)?;
    let highlights = query
        .highlight
        .then(|| Highlighter::new(snapshot, &expansion, budget, query.language.as_ref()).highlights(&found));
    let highlights = highlights.transpose()?;
    let mut items = ListItems::new(Translator::new(&snapshot.catalogue, query.language.as_ref()), &query.include);
    let texts = found.texts.iter().map(Some).chain(std::iter::repeat(None));
    let hits = found.hits.into_iter().zip(texts).map(|(hit, texts)| {
        let score = shown_score(&hit, &expansion.plan);
        Ok::<_, ServiceError>(Hit { score, item: items.item(hit.item, texts)?, ..hit })
    });
    let hits = hits.collect::<Result<_, _>>()?;
    let mut report = report(expansion.report, found.complete, found.related, budget);
    report.unknown.extend(unknown_values(&snapshot.catalogue, Some(&snapshot.records.columns), &query.filter));
    Ok(SearchResults {
        hits,
        is_in_language: items.translator.is_any(),
        are_own: items.needs_texts(),
        highlights,
        total: found.total,
        spent: budget.spent(),
        query: report,
        counts: found.facets.map(Box::new),
    })
}

/// Adds what the query found to a report.
pub(super) fn report(understood: QueryReport, with_all_words: u64, related: u64, budget: &Budget) -> QueryReport {
    QueryReport { with_all_words, related, incomplete: budget.is_exceeded(), ..understood }
}

/// Returns how the query was ultimately understood, and what it finds.
pub(super) fn understood(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    budget: &Budget,
) -> Result<(Expansion, SearchHits), ServiceError> {
    let q = query.q.as_deref().filter(|q| !q.trim().is_empty());
    let characters = q.map_or(0, |q| q.chars().count());
    if characters > MAX_QUERY_CHARACTERS {
        return Err(ServiceError::QueryTooLong { characters, most: MAX_QUERY_CHARACTERS });
    }
    let parsed = q.map(|q| read(snapshot, q)).transpose()?.unwrap_or_default();
    let (mut expansion, mut found) = understand_and_search(snapshot, query, &parsed, budget)?;
    // The filter must not change how a query is understood. That way, a facet value's count equals
    // the total of a search filtered by that value.
    if found.unfiltered_total == 0 && query.typo && !parsed.phrases.is_empty() {
        // No product has the phrases, so search for their words instead, and report that.
        let unquoted =
            parsed.phrases.iter().map(|phrase| unquoted(q.unwrap_or_default(), &parsed.words[phrase.clone()]));
        let unquoted: Vec<_> = unquoted.collect();
        (expansion, found) = understand_and_search(snapshot, query, &parsed.without_phrases(), budget)?;
        expansion.report.corrected.splice(0..0, unquoted);
    }
    Ok((expansion, found))
}

/// Expands a parsed query and runs it.
fn understand_and_search(
    snapshot: &Snapshot,
    query: &SearchSoftware,
    parsed: &ParsedQuery,
    budget: &Budget,
) -> Result<(Expansion, SearchHits), ServiceError> {
    let understanding = budget.for_understanding();
    let mut expansion = match query.q.as_deref().filter(|q| !q.trim().is_empty()) {
        Some(q) => expand(
            &snapshot.search,
            snapshot,
            q,
            parsed,
            Options { typo: query.typo, prefix: query.prefix },
            &understanding,
        )?,
        None => Expansion::default(),
    };
    seek_similar(snapshot, &mut expansion, &understanding)?;
    budget.charge_understanding(&understanding);
    if understanding.is_exceeded() {
        // There may be a better correction, and the search won't run.
        expansion.report.corrected.clear();
    }
    let alike = match &expansion.report.alternatives_to_id {
        Some(id) => Some(only_alike(snapshot, &query.filter, &expansion.plan, id, budget)?),
        None => None,
    };
    let mut attributes: Vec<_> = query
        .facets
        .iter()
        .filter_map(|facet| snapshot.catalogue.tables.attributes.number(facet.property()?))
        .collect();
    attributes.sort_unstable();
    attributes.dedup();
    let attributes = (!query.facets.is_empty()).then_some(attributes);
    let request = SearchRequest {
        plan: &expansion.plan,
        filter: alike.as_ref().unwrap_or(&query.filter),
        order: query.sort.sorted_by(&snapshot.catalogue.tables.attributes),
        page: query.page.range(),
        facets: attributes.as_deref(),
        texts: (query.highlight && !expansion.slots.is_empty())
            || Translator::new(&snapshot.catalogue, query.language.as_ref()).needs_texts()
            || !query.include.is_empty(),
        budget,
    };
    let found = if expansion.finds_nothing() {
        SearchHits { facets: request.facets.map(|_| FacetCounts::default()), ..SearchHits::default() }
    } else {
        snapshot.index.search(&request)?
    };
    Ok((expansion, found))
}

/// How many values of an attribute a word in a query can stand for: the versions of a licence.
const MAX_VALUES: usize = 20;

impl TermLookup for Snapshot {
    type Error = IndexError;

    fn document_frequency(&self, term: &Term) -> Result<u32, IndexError> {
        self.index.document_frequency(term)
    }

    fn categories(&self, term: &Term) -> Result<Vec<String>, IndexError> {
        let categories = &self.catalogue.tables.categories;
        let found = self.index.categories(term)?;
        let mut ids: Vec<_> = found.into_iter().map(|category| categories[category as usize].id.clone()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn attribute_values(&self, key: &str) -> Vec<AttributeValues> {
        let of = |(number, names): &(AttributeNumber, Vec<String>)| {
            let (attribute, column) =
                (self.catalogue.tables.attributes.get(*number), self.records.columns.attribute(*number));
            let values = match attribute.kind {
                AttributeType::Boolean if names.iter().all(|name| name != key) => return None,
                AttributeType::Boolean => column.find_versions("true"),
                _ => column.find_versions(key),
            };
            let values = values.take(MAX_VALUES).map(|value| (column.key(value).into(), column.label(value).into()));
            let values: Vec<_> = values.collect();
            let property = attribute.property.clone();
            (!values.is_empty()).then_some(AttributeValues { attribute: *number, property, values })
        };
        if key.is_empty() { Vec::new() } else { self.understood.iter().filter_map(of).collect() }
    }

    fn has_all(&self, terms: &[Term], budget: &Budget) -> Result<bool, IndexError> {
        let alternative = |term: &Term| Alternative::new(MatchKind::Exact, term.clone(), 1.0);
        let group = |term| WordGroup { alternatives: vec![alternative(term)], required: true, indispensable: true };
        let plan = Plan { groups: terms.iter().map(group).collect(), ..Plan::default() };
        let filter = SoftwareFilter::default();
        let request =
            SearchRequest { plan: &plan, filter: &filter, order: None, page: 0..0, facets: None, texts: false, budget };
        Ok(self.index.search(&request)?.total > 0)
    }
}

fn unquoted(text: &str, phrase: &[Word]) -> Correction {
    let words = written(text, phrase);
    Correction { from: format!("\"{words}\""), to: words.to_owned() }
}

/// The budget for one request, whose work ends early once the stop signal is set.
pub fn budget(snapshot: &Snapshot, stop: &Stop) -> Budget {
    Budget::for_documents(snapshot.software_count()).until(stop)
}

/// The score that a response shows for a hit: the tier plus the score scaled to 0 to 1. It never
/// increases from one hit to the next.
pub(super) fn shown_score(hit: &Hit, plan: &Plan) -> f32 {
    if plan.names.is_empty() {
        return 0.0;
    }
    f32::from(hit.tier.number()) + scaled_score(hit.score)
}

/// A search's results for one page. The hits' items are slices of the generation's data, not
/// copies, unless they're translated.
#[derive(Debug)]
pub struct SearchResults {
    pub(super) hits: Box<[Hit]>,
    pub(super) is_in_language: bool,
    /// Whether the items are the results' own rather than slices of the generation's data.
    pub(super) are_own: bool,
    /// Each hit's highlights, if requested.
    pub(super) highlights: Option<Box<[Bytes]>>,
    pub total: u64,
    /// The budget units that the search took.
    pub spent: u64,
    pub(super) query: QueryReport,
    pub(super) counts: Option<Box<FacetCounts>>,
}

impl SearchResults {
    /// Builds the page, given the snapshot and the query that were used for the search.
    pub fn page<'s>(&'s self, snapshot: &'s Snapshot, query: &SearchSoftware) -> SearchPage<'s> {
        let data = self.hits.iter().enumerate().map(|(at, hit)| SearchHit {
            item: hit.item.clone(),
            tier: hit.tier,
            score: hit.score,
            highlights: self.highlights.as_ref().map(|highlights| highlights[at].clone()),
        });
        SearchPage {
            data: data.collect(),
            is_in_language: self.is_in_language,
            pagination: query.page.pagination(self.total),
            query: self.query.clone(),
            facets: facet::all(&snapshot.catalogue, &query.facets, self.counts.as_deref(), query.language.as_ref()),
        }
    }

    pub fn size_bytes(&self) -> usize {
        let correction = |of: &Correction| size_of::<Correction>() + of.from.len() + of.to.len();
        let corrections: usize =
            [&self.query.corrected, &self.query.synonyms].into_iter().flatten().map(correction).sum();
        let query = &self.query;
        let words = query.dropped.iter().chain(&query.excluded).chain(&query.unwanted).chain(&query.alternatives_to);
        let unknown = query.unknown.iter().flat_map(|unknown| unknown.nearest.iter().chain([&unknown.value]));
        let understood = query.understood.iter().flat_map(|of| of.values.iter().chain([&of.words, &of.attribute]));
        let words = words.chain(unknown).chain(understood).chain(&query.alternatives_to_id);
        let words: usize = words.map(|word| size_of::<String>() + word.len()).sum();
        let highlights: usize =
            self.highlights.iter().flatten().map(|highlights| size_of::<Bytes>() + highlights.len()).sum();
        let counts = self.counts.as_ref().map_or(0, |counts| counts.size_bytes());
        let items = self.hits.iter().filter(|_| self.are_own).map(|hit| hit.item.len()).sum::<usize>();
        size_of::<Self>() + size_of_val(&*self.hits) + items + corrections + words + highlights + counts
    }
}
