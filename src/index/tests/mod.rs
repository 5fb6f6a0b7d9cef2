//! Property tests of the index: it must return the same results as a brute-force scan of
//! all documents.

mod random;
mod scan;

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::Value;

pub(super) use self::random::{exports, large, query, software};
use self::scan::Scan;
use super::{Hit, IndexError, SearchRequest};
use crate::catalogue::{Merged, SoftwareFilter, SortedBy};
use crate::export::{Export, ExportSet};
use crate::generation::Snapshot;
use crate::record::AttributeNumber;
use crate::scratch::Scratch;
use crate::search::budget::Budget;
use crate::search::collect::{RERANKED, Tier};
use crate::search::expand::{Options, expand};
use crate::search::identity::{plan_by_name, read};
use crate::search::{
    AttributeValues, DocumentAnalyzer, DocumentTables, Meaning, Plan, Ranking, SearchBuilder, SearchIndex, Term,
    TermLookup, WordGroup,
};

/// The same directory in the index and in the brute-force scan.
pub(super) struct Both {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) scan: Scan,
}

/// Exports merged into one directory.
pub(super) fn merged(exports: Vec<Export>, scratch: &Scratch) -> Merged {
    let set = ExportSet::of(exports, scratch).expect("written");
    Merged::of(set, scratch, |_, _| {}).expect("merged")
}

impl Both {
    pub(super) fn new(software: &[Value]) -> Self {
        let snapshot = Snapshot::build(exports(software)).expect("built");
        let merged = merged(exports(software), &Scratch::in_memory());
        let mut analyzer = DocumentAnalyzer::new(merged.synonyms(), merged.pins(), &merged.attributes).with_meanings();
        let mut builder = SearchBuilder::new(merged.scratch());
        let mut documents = Vec::new();
        for product in merged.products() {
            let product = product.expect("a record");
            analyzer.analyse(&product.software, merged.language(&product), merged.categories(&product.row.categories));
            builder.push(&analyzer).expect("in memory");
            documents.push(Scan::document(analyzer.terms()));
        }
        let vocabulary = analyzer.vocabulary().expect("words");
        let parts = builder.finish(&vocabulary).and_then(|parts| parts.read_all());
        let parts = parts.expect("in memory");
        let (_, DocumentTables { scorer, forward, meanings }) =
            SearchIndex::open(&parts, documents.len(), Ranking::default()).expect("opened");
        let (catalogue, records) = (Arc::clone(&snapshot.catalogue), snapshot.records());
        let (ranks_by_meaning, reranked) = (true, RERANKED);
        let scan = Scan { documents, scorer, forward, meanings, ranks_by_meaning, catalogue, reranked, records };
        Self { snapshot, scan }
    }

    /// Runs a plan on both and compares the results.
    fn compare(&self, plan: &Plan, query: &Query) -> Result<(), TestCaseError> {
        let budget = Budget::new(u64::MAX);
        let request = query.request(plan, &budget);
        let hits = self.snapshot.index.search(&request).expect("an index in memory");
        let expected = self.scan.search(&request).expect("a scan");
        prop_assert_eq!(hits.total, expected.total);
        prop_assert_eq!(hits.complete, expected.complete);
        prop_assert_eq!(hits.related, expected.related);
        prop_assert_eq!(hits.unfiltered_total, expected.unfiltered_total);
        prop_assert_eq!(hits.facets, expected.facets);
        let keys = |hits: &[Hit]| {
            // A search with a custom order doesn't use scores.
            let score = |score: f32| if query.order.is_none() { score.to_bits() } else { 0 };
            hits.iter().map(|hit| (hit.ordinal, hit.tier, score(hit.score), hit.item.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(keys(&hits.hits), keys(&expected.hits));
        prop_assert_eq!(hits.texts.len(), if query.texts { hits.hits.len() } else { 0 });
        prop_assert_eq!(&hits.texts, &expected.texts);
        if query.order.is_none() {
            for (place, hit) in (query.start..).zip(&hits.hits) {
                self.compare_explanation(&request, hit, place < RERANKED)?;
            }
        }
        Ok(())
    }

    /// Compares a hit's explanation with its score. Full-name matches are ranked by spelling, and
    /// pinned products by position.
    fn compare_explanation(
        &self,
        request: &SearchRequest<'_>,
        hit: &Hit,
        is_reranked: bool,
    ) -> Result<(), TestCaseError> {
        let explanation = self.snapshot.index.explain(request, hit.ordinal).expect("an index in memory");
        prop_assert!(
            explanation.excluded.is_empty() && !explanation.has_excluded_phrase && explanation.lacking.is_empty()
        );
        prop_assert!(explanation.admission.passed());
        let shares = explanation.signals;
        // Hits that rank below the reranked ones are scored by words alone.
        let signals = &request.plan.signals;
        let score = match hit.tier {
            Tier::Pinned => hit.score,
            _ if explanation.is_last => 0.0,
            Tier::Related | Tier::RelatedDemo => shares.meaning,
            Tier::ExactName if is_reranked => shares.spelling,
            _ if is_reranked => {
                let score = explanation.score();
                let worth = |of: &Meaning| of.worth(score, shares.meaning);
                (score + signals.meaning.as_ref().map_or(0.0, worth)) * signals.factor(shares)
            }
            _ => explanation.score(),
        };
        let is_near = (score - hit.score).abs() <= 1e-4 * score.abs().max(1.0);
        prop_assert!(is_near, "{hit:?}: {explanation:?}, {shares:?}");
        let of_scan = self.scan.explain(request, hit.ordinal);
        for (ours, theirs) in explanation.groups.iter().zip(&of_scan.groups) {
            prop_assert_eq!(ours.map(|of| of.score.to_bits()), theirs.map(|of| of.score.to_bits()));
            let sum = ours.map_or(1.0, |of| of.shares.iter().sum());
            prop_assert!((sum - 1.0).abs() < 1e-4, "{ours:?}");
        }
        Ok(())
    }

    fn compare_search(&self, query: &Query) -> Result<(), TestCaseError> {
        query.plans(&self.snapshot.search, self).iter().try_for_each(|plan| self.compare(plan, query))
    }
}

impl TermLookup for Both {
    type Error = IndexError;

    fn document_frequency(&self, term: &Term) -> Result<u32, Self::Error> {
        let frequency = self.snapshot.index.document_frequency(term)?;
        assert_eq!(frequency, self.scan.document_count(term), "{term:?}");
        Ok(frequency)
    }

    fn categories(&self, term: &Term) -> Result<Vec<String>, Self::Error> {
        self.snapshot.categories(term)
    }

    fn attribute_values(&self, key: &str) -> Vec<AttributeValues> {
        self.snapshot.attribute_values(key)
    }

    fn has_all(&self, terms: &[Term], budget: &Budget) -> Result<bool, Self::Error> {
        self.snapshot.has_all(terms, budget)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) options: Options,
    pub(super) filter: SoftwareFilter,
    pub(super) order: Option<SortedBy>,
    pub(super) start: usize,
    pub(super) limit: usize,
    pub(super) facets: Option<Vec<AttributeNumber>>,
    pub(super) texts: bool,
}

impl Query {
    /// Plans for a search, for a search that ranks products with the first word last, and for a
    /// search by name.
    pub(super) fn plans(&self, index: &SearchIndex, documents: &impl TermLookup<Error = IndexError>) -> Vec<Plan> {
        let (parsed, budget) = (read(documents, &self.text).expect("frequencies"), Budget::new(u64::MAX));
        let expansion = expand(index, documents, &self.text, &parsed, self.options, &budget).expect("frequencies");
        let plan = (!expansion.finds_nothing()).then_some(expansion.plan);
        let with_last = plan.clone().map(|plan| {
            let optional = |group: &WordGroup| WordGroup { required: false, indispensable: false, ..group.clone() };
            let last = parsed.words.iter().take(1).map(|word| Term::NameWord(word.folded.as_str().into()));
            Plan { groups: plan.groups.iter().map(optional).collect(), last: last.collect(), names: Vec::new(), ..plan }
        });
        plan.into_iter().chain(with_last).chain(plan_by_name(&self.text)).collect()
    }

    pub(super) fn request<'q>(&'q self, plan: &'q Plan, budget: &'q Budget) -> SearchRequest<'q> {
        SearchRequest {
            plan,
            filter: &self.filter,
            order: self.order,
            page: self.start..self.start + self.limit,
            facets: self.facets.as_deref(),
            texts: self.texts,
            budget,
        }
    }
}

static LARGE: LazyLock<Both> = LazyLock::new(|| Both::new(&large()));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn small_directory_matches_a_scan(software in software(), queries in prop::collection::vec(query(), 12)) {
        let both = Both::new(&software);
        for query in &queries {
            both.compare_search(query)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn large_directory_matches_a_scan(query in query()) {
        LARGE.compare_search(&query)?;
    }
}
