//! A brute-force search that scores and sorts every document. Tests compare the index with it.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;

use crate::catalogue::{Admission, Catalogue, Columns, Filter, Order, Ordinal, Records, STARS, SortedBy};
use crate::index::{Explanation, IndexError, Satisfied, SearchHits, SearchRequest, hits};
use crate::record::AttributeNumber;
use crate::search::collect::{RankedHit, Tier, pinned_score};
use crate::search::facet_counts::{AttributeCounts, FacetCounts, most_frequent};
use crate::search::forward::{Forward, has_words};
use crate::search::meaning::Meanings;
use crate::search::score::{Occurrences, Scorer};
use crate::search::{FEW, MOST_COMPARED, Plan, Related, Signals, Term, WordGroup};

/// BM25's `k1 + 1`, by which inverse document frequencies are multiplied.
const SCALE: f32 = 2.2;

/// Stores each document's terms with their packed frequencies.
#[derive(Debug)]
pub(in crate::index) struct Scan {
    pub(super) documents: Vec<HashMap<Term, u32>>,
    pub(super) scorer: Scorer,
    pub(super) forward: Forward,
    pub(super) meanings: Meanings,
    /// Whether hits are reranked by meaning.
    pub(in crate::index) ranks_by_meaning: bool,
    pub(super) catalogue: Arc<Catalogue>,
    /// How many hits are reranked by signals.
    pub(in crate::index) reranked: usize,
    pub(super) records: Arc<Records>,
}

/// A document's score for each group; `None` for groups that the document doesn't satisfy.
type Scores = Vec<Option<f32>>;

impl Scan {
    /// A stored document's terms.
    pub(super) fn document(terms: impl Iterator<Item = (Term, Occurrences)>) -> HashMap<Term, u32> {
        terms.map(|(term, occurrences)| (term, occurrences.packed())).collect()
    }

    fn columns(&self) -> &Columns {
        &self.records.columns
    }

    pub(super) fn document_count(&self, term: &Term) -> u32 {
        self.documents.iter().map(|terms| u32::from(terms.contains_key(term))).sum()
    }

    /// The factor by which a group's scores are multiplied.
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    fn scale(&self, group: &WordGroup) -> f32 {
        let frequency = group.alternatives.iter().map(|of| self.document_count(&of.term)).max().unwrap_or(0) as f32;
        let all = self.documents.len() as f32;
        (1.0 + (all - frequency + 0.5).max(0.5) / (frequency + 0.5)).ln() * SCALE
    }

    fn scores(&self, groups: &[(&WordGroup, f32)], ordinal: Ordinal) -> Scores {
        let terms = &self.documents[ordinal as usize];
        let score = |(group, scale): &(&WordGroup, f32)| {
            let of = group.alternatives.iter().filter_map(|alternative| {
                let packed = terms.get(&alternative.term)?;
                Some(scale * alternative.weight * self.scorer.score(*packed, ordinal))
            });
            of.reduce(f32::max)
        };
        groups.iter().map(score).collect()
    }

    fn rank(&self, ranked: &mut [RankedHit], signals: &Signals) {
        ranked.sort_by(|a, b| b.cmp(a));
        let head = ranked.len().min(self.reranked);
        let none = Meanings::default();
        let meanings = if self.ranks_by_meaning { &self.meanings } else { &none };
        signals.rerank(&self.forward, meanings, &mut ranked[..head], usize::MAX);
    }

    fn is_admitted(&self, plan: &Plan, ordinal: Ordinal) -> bool {
        let terms = &self.documents[ordinal as usize];
        !plan.excluded.iter().any(|term| terms.contains_key(term))
            && plan.phrases.iter().all(|phrase| has_words(&self.forward, ordinal, phrase))
            && !plan.excluded_phrases.iter().any(|phrase| has_words(&self.forward, ordinal, phrase))
    }

    /// The documents that are close to the query's meaning but weren't found; none if enough
    /// documents have all the words.
    fn related(
        &self,
        plan: &Plan,
        last: &[Ordinal],
        complete: usize,
        found: &[(Ordinal, Admission)],
    ) -> Vec<RankedHit> {
        let follow = |related: &&Related| complete < related.enough && found.len() < FEW;
        let Some(related) = plan.related.as_ref().filter(follow) else { return Vec::new() };
        let topics: Vec<_> = related.topics().collect();
        let shared = |ordinal: Ordinal| -> u16 {
            let terms = &self.documents[ordinal as usize];
            topics.iter().filter(|(topic, _)| terms.contains_key(topic)).map(|(_, weight)| *weight).sum()
        };
        let mut sharing: Vec<_> = (0..)
            .take(self.documents.len())
            .filter(|ordinal| found.iter().all(|(of, _)| of != ordinal) && self.is_admitted(plan, *ordinal))
            .map(|ordinal| (Reverse(shared(ordinal)), ordinal))
            .filter(|(Reverse(shared), _)| *shared > 0)
            .collect();
        sharing.sort_unstable();
        let compared = sharing.into_iter().take(MOST_COMPARED).map(|(_, ordinal)| ordinal);
        let hit = |ordinal| {
            let tier = if self.columns().is_demo(ordinal) { Tier::RelatedDemo } else { Tier::Related };
            let likeness = related.likeness(self.meanings.of(ordinal), found.len() as u64)?;
            Some(RankedHit { tier, score: if last.contains(&ordinal) { 0.0 } else { likeness }, ordinal })
        };
        compared.filter_map(hit).collect()
    }

    fn sort(&self, ranked: &mut [RankedHit], order: SortedBy) {
        ranked.sort_by_key(|hit| self.columns().order(Order::Name).ranks[hit.ordinal as usize]);
        match order {
            SortedBy::Stored(order) => {
                ranked.sort_by_key(|of| self.columns().order(order).ranks[of.ordinal as usize]);
            }
            SortedBy::Attribute { attribute, descending } => {
                let column = self.columns().attribute(attribute);
                let key = |of: &RankedHit| column.of(of.ordinal).first().map(|value| column.key(*value));
                ranked.sort_by(|a, b| match (key(a), key(b)) {
                    (Some(a), Some(b)) if descending => b.cmp(a),
                    (Some(a), Some(b)) => a.cmp(b),
                    (a, b) => b.is_some().cmp(&a.is_some()),
                });
            }
        }
    }

    /// Counts facets, each of which ignores its own part of the filter.
    fn facets(&self, found: &[(Ordinal, Admission)], attributes: &[AttributeNumber]) -> FacetCounts {
        let columns = self.columns();
        let mut counts = FacetCounts::default();
        counts.categories.resize(columns.category_count(), 0);
        counts.exports.resize(columns.export_count(), 0);
        for (ordinal, admission) in found {
            let at = *ordinal as usize;
            if admission.passed_but_for(Admission::CATEGORY) {
                columns.categories_of(*ordinal).iter().for_each(|category| counts.categories[*category as usize] += 1);
            }
            if admission.passed_but_for(Admission::OFFERING_TYPE) {
                counts.offering_types[columns.offering_type[at] as usize] += 1;
            }
            if admission.passed_but_for(Admission::EVIDENCE_STATUS) {
                counts.evidence_statuses[columns.evidence_status[at] as usize] += 1;
            }
            if admission.passed_but_for(Admission::EXPORT) {
                counts.exports[columns.exports[at] as usize] += 1;
            }
            if admission.passed_but_for(Admission::RATING) {
                for stars in (0_u8..).take(STARS) {
                    let has = columns.rating[at].is_some_and(|rating| rating >= f64::from(stars + 1));
                    counts.ratings[usize::from(stars)] += u64::from(has);
                }
            }
        }
        for attribute in attributes {
            let column = columns.attribute(*attribute);
            let is_counted = |found: &&(Ordinal, Admission)| found.1.passed_but_for(Admission::attribute(*attribute));
            if !column.ranges().is_empty() {
                let in_range = |numbers: &Range<u32>| {
                    let has = |(ordinal, _): &&(Ordinal, Admission)| numbers.contains(&column.of(*ordinal)[0]);
                    let with_value = found.iter().filter(is_counted).filter(|found| !column.of(found.0).is_empty());
                    with_value.filter(has).count() as u64
                };
                let values = column.ranges().iter().map(|(name, numbers)| (name.clone(), in_range(numbers))).collect();
                counts.attributes.push(AttributeCounts { attribute: *attribute, values });
                continue;
            }
            let mut by_value = vec![0; column.len()];
            for (ordinal, _) in found.iter().filter(is_counted) {
                column.of(*ordinal).iter().for_each(|value| by_value[*value as usize] += 1);
            }
            counts.attributes.push(AttributeCounts { attribute: *attribute, values: most_frequent(column, &by_value) });
        }
        counts
    }
}

impl Scan {
    pub(super) fn search(&self, request: &SearchRequest<'_>) -> Result<SearchHits, IndexError> {
        let plan = request.plan;
        let filter = Filter::resolve(request.filter, &self.catalogue, &self.records);
        let mut groups: Vec<_> = plan.groups.iter().map(|group| (group, self.scale(group))).collect();
        // Sum the scores in the same order as the index.
        groups.sort_by_key(|(group, _)| !group.required);
        let ordinals = || (0..).take(self.documents.len());
        let with =
            |name: &Term| ordinals().filter(|at| self.documents[*at as usize].contains_key(name)).collect::<Vec<_>>();
        let mut names: Vec<Ordinal> = plan.names.iter().flat_map(with).collect();
        names.retain(|ordinal| !self.columns().is_demo(*ordinal));
        let last: Vec<Ordinal> = plan.last.iter().flat_map(with).collect();
        let pinned: Vec<Vec<Ordinal>> = plan.pinned.iter().map(with).collect();
        let place_of =
            |ordinal| pinned.iter().position(|of| of.contains(&ordinal)).filter(|_| !self.columns().is_demo(ordinal));
        let has_required = groups.iter().any(|(group, _)| group.required);
        let any_of = |scores: &Scores, of: &dyn Fn(&WordGroup) -> bool| {
            groups.iter().zip(scores).any(|((group, _), score)| of(group) && score.is_some())
        };
        let all_of = |scores: &Scores, of: &dyn Fn(&WordGroup) -> bool| {
            groups.iter().zip(scores).all(|((group, _), score)| !of(group) || score.is_some())
        };
        let is_complete = |scores: &Scores| match has_required {
            _ if groups.is_empty() => true,
            true => all_of(scores, &|group| group.required || group.indispensable),
            false => any_of(scores, &|_| true),
        };
        // If a required group is indispensable, every hit satisfies it.
        let is_given = groups.iter().any(|(group, _)| group.required && group.indispensable);
        let has_some = |scores: &Scores| {
            if is_given {
                all_of(scores, &|group| group.indispensable)
            } else {
                any_of(scores, &|group| group.required)
            }
        };
        let admitted: Vec<_> = ordinals()
            .filter(|ordinal| self.is_admitted(plan, *ordinal))
            .map(|ordinal| (ordinal, self.scores(&groups, ordinal)))
            .collect();
        let complete = admitted.iter().filter(|(_, scores)| is_complete(scores)).count();
        let falls_back = has_required && complete < plan.enough;
        let sum = |scores: &Scores| scores.iter().flatten().fold(0.0, |sum, score| sum + score);
        let mut found = Vec::new();
        let mut ranked = Vec::new();
        let mut with_all_words = 0;
        for (ordinal, scores) in admitted {
            let is_complete = is_complete(&scores);
            if !(is_complete || falls_back && has_some(&scores)) {
                continue;
            }
            let admission = filter.admit(self.columns(), ordinal);
            found.push((ordinal, admission));
            let score = sum(&scores);
            let tier = match ordinal {
                _ if names.contains(&ordinal) => Tier::ExactName,
                _ if place_of(ordinal).is_some() => Tier::Pinned,
                _ => Tier::Words,
            };
            let tier = if self.columns().is_demo(ordinal) { tier.demo() } else { tier };
            if admission.passed() {
                with_all_words += u64::from(is_complete);
                let score = if last.contains(&ordinal) { 0.0 } else { score };
                let place = place_of(ordinal).filter(|_| tier == Tier::Pinned);
                ranked.push(RankedHit { tier, score: place.map_or(score, pinned_score), ordinal });
            }
        }
        let (by_words, unfiltered_total) = (ranked.len(), found.len() as u64);
        for hit in self.related(plan, &last, complete, &found) {
            let admission = filter.admit(self.columns(), hit.ordinal);
            found.push((hit.ordinal, admission));
            ranked.extend(admission.passed().then_some(hit));
        }
        let total = ranked.len() as u64;
        if let Some(order) = request.order {
            self.sort(&mut ranked, order);
        } else {
            self.rank(&mut ranked, &plan.signals);
        }
        let hits = hits::with_items(&self.records, request.page_of(&ranked));
        let texts = request.texts.then(|| hits::texts(&self.records, &self.forward, &hits, request.budget));
        Ok(SearchHits {
            hits,
            texts: texts.transpose()?.unwrap_or_default(),
            total,
            complete: with_all_words,
            related: total - by_words as u64,
            unfiltered_total,
            facets: request.facets.map(|attributes| self.facets(&found, attributes)),
        })
    }

    pub(super) fn explain(&self, request: &SearchRequest<'_>, ordinal: Ordinal) -> Explanation {
        let plan = request.plan;
        let groups: Vec<_> = plan.groups.iter().map(|group| (group, self.scale(group))).collect();
        let satisfied = |score| Satisfied { alternative: 0, score, shares: [0.0; 4] };
        let groups = self.scores(&groups, ordinal).into_iter().map(|score| score.map(satisfied)).collect();
        Explanation {
            groups,
            excluded: Vec::new(),
            has_excluded_phrase: false,
            lacking: Vec::new(),
            is_last: false,
            signals: plan.signals.shares(&self.forward, &self.meanings, ordinal),
            admission: Filter::resolve(request.filter, &self.catalogue, &self.records).admit(self.columns(), ordinal),
        }
    }
}
