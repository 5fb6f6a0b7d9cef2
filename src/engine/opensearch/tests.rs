//! Properties of the engine on a real cluster: it returns what a brute-force scan of all documents returns.
//!
//! Features have eight bits of fraction, so scores differ by some tenths of a percent, and documents of nearly equal scores may
//! come in another order.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::cluster::{Cluster, ClusterRequest, ClusterSettings};
use super::{IndexPrefix, Published};
use crate::catalogue::{ReviewFilter, ReviewSort};
use crate::engine::tests::{Engines, Query, exports, large, query, software};
use crate::engine::{Engine, Hit, ReviewsRequest, SearchHits};
use crate::search::budget::Budget;
use crate::search::collect::Tier;
use crate::search::expand::expand;
use crate::search::query::parse;
use crate::search::understand::Documents;
use crate::search::{Plan, Term, names};
use crate::snapshot::remote::{self, Filler};
use crate::snapshot::{Generation, Snapshot};

/// The largest difference of two scores that counts as none, as a share.
const TOLERANCE: f32 = 0.005;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

static CLUSTER: LazyLock<Arc<Cluster>> = LazyLock::new(|| {
    let urls = std::env::var("OPENSEARCH_URLS").expect("OPENSEARCH_URLS: make test-opensearch sets it");
    let urls = urls.split(',').map(|url| ClusterSettings::parse_url(url).expect("a URL")).collect();
    let settings =
        ClusterSettings { request_timeout: std::time::Duration::from_secs(30), ..ClusterSettings::new(urls) };
    Arc::new(Cluster::new(settings).expect("settings"))
});

/// A directory in memory and in the cluster.
struct Compared {
    local: Engines,
    remote: Arc<Snapshot>,
    index: String,
}

impl Drop for Compared {
    fn drop(&mut self) {
        let path = format!("/{0},{0}-reviews,{0}-parts", self.index);
        drop(RUNTIME.block_on(CLUSTER.send(ClusterRequest::delete(&path))));
    }
}

impl Compared {
    fn new(software: &[serde_json::Value]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:08x}{number:08x}", std::process::id());
        let mut local = Engines::new(software);
        // A cluster multiplies the scores of all hits.
        local.scan.reranked = usize::MAX;
        let remote = RUNTIME.block_on(async {
            let mut filler = Filler {
                cluster: Arc::clone(&CLUSTER),
                prefix: IndexPrefix::default(),
                shards: None,
                waits: &mut |_| {},
                progress: &mut |_, _| ControlFlow::Continue(()),
            };
            let generation = Generation::named(&name);
            let indices = filler.fill(exports(software), &generation, None, "now").await.expect("it is filled");
            assert_eq!(indices.products, software.len() as u64);
            let published = Published {
                index: indices.index,
                generation: name.clone(),
                products: indices.products,
                skipped: [0; 2],
                published_at: String::new(),
                format: remote::PARTS_FORMAT,
                previous: None,
            };
            remote::open(&CLUSTER, &published).await.expect("it opens")
        });
        Self { local, remote, index: IndexPrefix::default().generation(&name) }
    }

    fn compare_search(&self, query: &Query) -> Result<(), TestCaseError> {
        let (parsed, budget) = (parse(&query.text), Budget::new(u64::MAX));
        let expansion =
            expand(&self.remote.search, self, &query.text, &parsed, query.options, &budget).expect("frequencies");
        if !expansion.is_hopeless {
            self.compare(&expansion.plan, query)?;
        }
        if let Some(plan) = names::plan(&query.text) {
            self.compare(&plan, query)?;
        }
        Ok(())
    }

    fn compare(&self, plan: &Plan, query: &Query) -> Result<(), TestCaseError> {
        let budget = Budget::new(u64::MAX);
        let request = query.request(plan, &budget);
        let found = RUNTIME.block_on(self.remote.engine.search(&request)).expect("a search");
        let all = crate::engine::SearchRequest { page: 0..usize::MAX, ..request.clone() };
        let all = pollster::block_on(self.local.scan.search(&all)).expect("a scan");
        prop_assert_eq!((found.total, found.complete), (all.total, all.complete), "{:?}", plan);
        prop_assert_eq!(found.unfiltered_total, all.unfiltered_total);
        compare_facets(&found, &all)?;
        let end = request.page.end.min(all.hits.len());
        let expected = &all.hits[request.page.start.min(end)..end];
        prop_assert_eq!(found.hits.len(), expected.len());
        prop_assert_eq!(found.texts.len(), if query.texts { expected.len() } else { 0 });
        for (at, (hit, there)) in found.hits.iter().zip(expected).enumerate() {
            let place = all.hits.iter().position(|other| other.ordinal == hit.ordinal).expect("it is found");
            let same = &all.hits[place];
            prop_assert_eq!((hit.tier, &hit.item), (same.tier, &same.item));
            prop_assert_eq!(hit.tier, there.tier, "{:?}", plan);
            if query.texts {
                prop_assert_eq!(&found.texts[at], &all.texts[place]);
            }
            if query.order.is_some() {
                prop_assert_eq!(hit.ordinal, there.ordinal);
                continue;
            }
            prop_assert!(is_near(hit, same), "{hit:?} {same:?} {plan:?}");
            prop_assert!(is_near(same, there), "{hit:?} in place of {there:?}, {same:?} {plan:?}");
        }
        let mut ordinals: Vec<_> = found.hits.iter().map(|hit| hit.ordinal).collect();
        ordinals.sort_unstable();
        ordinals.dedup();
        prop_assert_eq!(ordinals.len(), found.hits.len());
        Ok(())
    }
}

fn compare_facets(found: &SearchHits, expected: &SearchHits) -> Result<(), TestCaseError> {
    let trimmed = |hits: &SearchHits| {
        let mut facets = hits.facets.clone()?;
        while facets.categories.last() == Some(&0) {
            facets.categories.pop();
        }
        Some(facets)
    };
    prop_assert_eq!(trimmed(found), trimmed(expected));
    Ok(())
}

/// Whether the scores of two hits are equal but for rounding.
fn is_near(one: &Hit, other: &Hit) -> bool {
    // Of a whole name the score is the share of spelled words.
    let least = if one.tier == Tier::Title { 0.5 } else { 0.0 };
    (one.score - other.score).abs() <= TOLERANCE * one.score.max(other.score).max(least)
}

impl Documents for Compared {
    type Error = crate::engine::EngineError;

    fn document_frequency(&self, term: &Term) -> Result<u32, Self::Error> {
        let frequency = self.remote.engine.document_frequency(term)?;
        assert_eq!(frequency, self.local.scan.document_frequency(term)?, "{term:?}");
        Ok(frequency)
    }

    fn categories(&self, term: &Term) -> Result<Vec<String>, Self::Error> {
        let categories = self.remote.engine.categories(term)?;
        assert_eq!(categories, self.local.scan.categories(term)?, "{term:?}");
        self.remote.categories(term)
    }
}

/// `make test-rust`, which has no cluster, leaves out the tests with this name in their paths.
mod on_cluster {
    use super::*;

    static LARGE: LazyLock<Compared> = LazyLock::new(|| Compared::new(&large()));

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        #[ignore = "needs a cluster: make test-opensearch"]
        fn small_directory_in_a_cluster_is_searched_as_by_a_scan(
            software in software(),
            queries in prop::collection::vec(query(), 12),
        ) {
            let compared = Compared::new(&software);
            for query in &queries {
                compared.compare_search(query)?;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(192))]

        #[test]
        #[ignore = "needs a cluster: make test-opensearch"]
        fn large_directory_in_a_cluster_is_searched_as_by_a_scan(query in query()) {
            LARGE.compare_search(&query)?;
        }
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn record_and_its_reviews_are_those_of_the_embedded_engine() {
        let compared = Compared::new(&large()[..20]);
        let (local, remote) = (&compared.local.snapshot.engine, &compared.remote.engine);
        let reviews = ReviewsRequest { filter: ReviewFilter::default(), sort: ReviewSort::Newest, page: 0..10 };
        for id in ["p0", "p19", "p20", "", "P0", "p/0", "p0?"] {
            let record = RUNTIME.block_on(remote.record(id)).expect("a record");
            assert_eq!(record, pollster::block_on(local.record(id)).expect("a record"), "{id}");
            let found = RUNTIME.block_on(remote.reviews(id, &reviews)).expect("reviews");
            assert_eq!(found, pollster::block_on(local.reviews(id, &reviews)).expect("reviews"), "{id}");
        }
    }
}
