//! Property tests on a real cluster: the engine must return the same results as a brute-force scan
//! of all documents.
//!
//! Features have eight-bit fractions, so scores differ by a few tenths of a percent, and documents
//! with nearly equal scores may come in a different order.

mod publication;

use std::io::Read as _;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::Method;
use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::cluster::{Cluster, ClusterError, ClusterRequest, ClusterSettings, Reason};
use super::parts::{Manifest, write_manifest, write_parts};
use super::{IndexPrefix, Parts, PartsError, Published};
use crate::catalogue::{AttributeCondition, Bulk, ReviewFilter, ReviewSort, SoftwareFilter, Span};
use crate::engine::tests::{Engines, Query, exports, large, merged, query, software};
use crate::engine::{Engine, EngineError, Hit, ReviewsRequest, SearchHits, SearchRequest};
use crate::error::chain;
use crate::export::Skipped;
use crate::generation::cluster::{self as generations, Filler, MergedSet};
use crate::generation::{Generation, MeaningOption, Snapshot};
use crate::record::{AttributeType, BUILT_IN};
use crate::scratch::Scratch;
use crate::search::Documents;
use crate::search::budget::Budget;
use crate::search::collect::Tier;
use crate::search::{Plan, Term};

/// The largest relative difference at which two scores count as equal.
const TOLERANCE: f32 = 0.005;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

static CLUSTER: LazyLock<Arc<Cluster>> = LazyLock::new(|| {
    let urls = std::env::var("OPENSEARCH_URLS").expect("OPENSEARCH_URLS isn't set; run make test-opensearch");
    let urls = urls.split(',').map(|url| ClusterSettings::parse_url(url).expect("a URL")).collect();
    let settings =
        ClusterSettings { request_timeout: std::time::Duration::from_secs(30), ..ClusterSettings::new(urls) };
    Arc::new(Cluster::new(settings).expect("settings"))
});

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
        // The OpenSearch engine reranks all hits, but not by meaning.
        local.scan.reranked = usize::MAX;
        local.scan.ranks_by_meaning = false;
        let (remote, index) = RUNTIME.block_on(async {
            let mut filler = Filler {
                cluster: Arc::clone(&CLUSTER),
                prefix: IndexPrefix::default(),
                shards: None,
                waits: &mut |_| {},
                progress: &mut |_, _| ControlFlow::Continue(()),
            };
            let generation = Generation::named(&name);
            let folder = tempfile::tempdir().expect("a folder");
            let merged = merged(exports(software), &Scratch::with_own_bytes(folder.path(), 10_000));
            let (skipped, meaning) = (Skipped::default(), MeaningOption::On);
            let merged = MergedSet { generation, skipped, meaning, merged };
            let indices = filler.fill(merged, None, jiff::Timestamp::now()).await.expect("filled");
            assert_eq!(indices.products, software.len() as u64);
            let published = Published {
                index: indices.index,
                generation: name.clone(),
                products: indices.products,
                shards: indices.shards,
                skipped: [0; 2],
                published_at: String::new(),
                format: generations::PARTS_FORMAT,
                previous: None,
            };
            (generations::open(&CLUSTER, &published).await.expect("opened"), published.index)
        });
        Self { local, remote, index }
    }

    fn compare_search(&self, query: &Query) -> Result<(), TestCaseError> {
        query.plans(&self.remote.search, self).iter().try_for_each(|plan| self.compare(plan, query))
    }

    fn compare(&self, plan: &Plan, query: &Query) -> Result<(), TestCaseError> {
        let budget = Budget::new(u64::MAX);
        let request = query.request(plan, &budget);
        let found = RUNTIME.block_on(self.remote.engine.search(&request)).expect("a search");
        let all = crate::engine::SearchRequest { page: 0..usize::MAX, ..request.clone() };
        let all = pollster::block_on(self.local.scan.search(&all)).expect("a scan");
        let counts = |hits: &SearchHits| (hits.total, hits.complete, hits.related);
        prop_assert_eq!(counts(&found), counts(&all), "{:?}", plan);
        prop_assert_eq!(found.unfiltered_total, all.unfiltered_total);
        compare_facets(&found, &all)?;
        let end = request.page.end.min(all.hits.len());
        let expected = &all.hits[request.page.start.min(end)..end];
        prop_assert_eq!(found.hits.len(), expected.len());
        prop_assert_eq!(found.texts.len(), if query.texts { expected.len() } else { 0 });
        for (at, (hit, there)) in found.hits.iter().zip(expected).enumerate() {
            let place = all.hits.iter().position(|other| other.ordinal == hit.ordinal).expect("found");
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
            prop_assert!(is_near(same, there), "{hit:?} instead of {there:?}, {same:?} {plan:?}");
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

fn is_near(one: &Hit, other: &Hit) -> bool {
    // A full-name match's score is the share of correctly spelled words.
    let least = if one.tier == Tier::ExactName { 0.5 } else { 0.0 };
    (one.score - other.score).abs() <= TOLERANCE * one.score.max(other.score).max(least)
}

impl Documents for Compared {
    type Error = EngineError;

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

#[test]
fn converting_a_cluster_error_preserves_its_kind_message_and_causes() {
    let error = |status: u16| {
        let status = http::StatusCode::from_u16(status).expect("a status");
        ClusterError::from_status("a", status, Reason::new(None, "busy"))
    };
    for (status, is_kind) in [
        (503, (|error| matches!(error, EngineError::Unavailable(_))) as fn(&EngineError) -> bool),
        (429, |error| matches!(error, EngineError::Overloaded(_))),
        (400, |error| matches!(error, EngineError::Refused(_))),
    ] {
        let of_engine = EngineError::from(error(status));
        assert!(is_kind(&of_engine), "{of_engine:?}");
        assert_eq!(chain(&of_engine), chain(&error(status)));
    }
}

/// `make test-rust` runs without a cluster and skips tests with this module in their path.
mod on_cluster {
    use super::*;

    static LARGE: LazyLock<Compared> = LazyLock::new(|| Compared::new(&large()));

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        #[ignore = "needs a cluster: make test-opensearch"]
        fn small_directory_in_a_cluster_matches_a_scan(
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
        fn large_directory_in_a_cluster_matches_a_scan(query in query()) {
            LARGE.compare_search(&query)?;
        }
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn both_engines_find_the_same_values_and_count_them_the_same_way() {
        let vendors = ["ISO 9001", "iso-9001", "Größe, GmbH", "a\0b", "", "-", "C++", "C#"];
        let long = vec!["x".repeat(400); 50].join(" ");
        let mut software: Vec<_> = large()[..40].to_vec();
        for (at, product) in software.iter_mut().enumerate() {
            product["vendor"] = vendors.get(at).copied().unwrap_or("Acme").into();
            product["tags"] =
                if at == 9 { vec![long.clone()] } else { (at..at + 90).map(|tag| format!("T {tag}")).collect() }.into();
        }
        let compared = Compared::new(&software);
        let (local, remote) = (&compared.local.snapshot.engine, &compared.remote.engine);
        let values = ["iso 9001", "GROSSE, GmbH", "größe,gmbh", "A\0B", "_", "c++", "c", "Acme, Inc.", &long];
        let keys: Vec<_> = values.iter().filter_map(|value| AttributeType::Text.key(value)).collect();
        let attributes: Vec<_> = (0..BUILT_IN.len()).collect();
        for attribute in attributes.iter().copied() {
            let found = RUNTIME.block_on(remote.has_values(attribute, &keys)).expect("values");
            assert_eq!(found, pollster::block_on(local.has_values(attribute, &keys)).expect("values"));
        }
        // One value is too long to be counted, but it's as rare as many others, so it wouldn't be
        // in the facet anyway.
        let vendors = ["iso 9001", "acme", "nobody"].map(|vendor| AttributeCondition::new("vendor", vendor)).to_vec();
        for filter in [SoftwareFilter::default(), SoftwareFilter { attributes: vendors, ..SoftwareFilter::default() }] {
            let (plan, budget) = (Plan::default(), Budget::new(u64::MAX));
            let request = SearchRequest {
                plan: &plan,
                filter: &filter,
                order: None,
                page: 0..40,
                facets: Some(&attributes),
                texts: false,
                budget: &budget,
            };
            let found = RUNTIME.block_on(remote.search(&request)).expect("a search");
            let expected = pollster::block_on(local.search(&request)).expect("a search");
            compare_facets(&found, &expected).expect("the same counts");
            assert_eq!(found.total, expected.total);
        }
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn hits_come_with_as_much_text_as_fits() {
        let mut software: Vec<_> = large()[..40].to_vec();
        for product in &mut software {
            // Each product takes slightly less than a megabyte, so they don't all fit in one
            // response.
            product["description"] = format!("audit \"{}\"", vec!["x".repeat(499); 1990].join(" ")).into();
        }
        let compared = Compared::new(&software);
        let (plan, budget, filter) = (Plan::default(), Budget::new(u64::MAX), SoftwareFilter::default());
        let request = SearchRequest {
            plan: &plan,
            filter: &filter,
            order: None,
            page: 0..40,
            facets: None,
            texts: true,
            budget: &budget,
        };
        let found = RUNTIME.block_on(compared.remote.engine.search(&request)).expect("hits");
        assert_eq!((found.hits.len(), found.texts.len(), budget.is_exceeded()), (40, 16, true));
        let there = pollster::block_on(compared.local.snapshot.engine.search(&request)).expect("hits");
        assert_eq!((&found.hits, &found.texts[..]), (&there.hits, &there.texts[..16]));
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn a_part_is_read_in_pieces_and_a_damaged_piece_is_an_error() {
        let index = format!("software-directory-parts-test{:x}", std::process::id());
        let content: Bytes = (0..2_500_000_u32).map(|at| at.to_le_bytes()[at as usize % 3]).collect::<Vec<_>>().into();
        let request = |method, path: &str, body: Bytes| {
            let path = format!("/{index}-parts{path}");
            let request =
                if body.is_empty() { ClusterRequest::new(method, &path) } else { ClusterRequest::put(&path, body) };
            RUNTIME.block_on(CLUSTER.send(request)).expect("a response").body
        };
        let parts = [("one".to_owned(), Bulk::Memory(content.clone()))];
        let parts = RUNTIME.block_on(write_parts(&CLUSTER, &index, &parts)).expect("written");
        let manifest = Manifest { parts, ..Manifest::default() };
        RUNTIME.block_on(write_manifest(&CLUSTER, &index, &manifest)).expect("written");
        let parts = RUNTIME.block_on(Parts::open(Arc::clone(&CLUSTER), &index)).expect("a manifest");
        assert!(parts.get("other").is_none());
        let part = parts.get("one").expect("a part");
        assert_eq!(RUNTIME.block_on(part.read()).expect("intact"), content);
        let _runtime = RUNTIME.enter();
        let bulk = Bulk::Pieces(Arc::new(part.clone().blocking()));
        // Read on a thread that may block, as a download does.
        let read = |start, length| {
            let reader = bulk.reader(Span { start, length }).expect("a part of it");
            let read = move || {
                let (mut reader, mut bytes) = (reader, Vec::new());
                reader.read_to_end(&mut bytes).map(|_| bytes)
            };
            std::thread::spawn(read).join().expect("no panic")
        };
        assert_eq!(read(0, 2_500_000).expect("intact"), content);
        assert_eq!(read(1_048_570, 20).expect("intact"), content[1_048_570..1_048_590]);

        // A piece stored under another piece's id is intact, but isn't mistaken for the other
        // piece.
        let first = request(Method::GET, "/_source/one-0", Bytes::new());
        request(Method::PUT, "/_doc/one-1", first);
        assert_eq!(read(0, 1_048_576).expect("the first piece is intact"), content[..1_048_576]);
        let error = read(0, 1_048_577).expect_err("damaged").to_string();
        assert!(
            RUNTIME.block_on(part.read()).is_err_and(|error| matches!(error, PartsError::Damaged { .. })),
            "{error}"
        );
        request(Method::DELETE, "/_doc/one-2", Bytes::new());
        assert!(read(2_100_000, 10).is_err());
        request(Method::DELETE, "", Bytes::new());
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn a_record_and_its_reviews_match_the_embedded_engine() {
        let mut software = large()[..20].to_vec();
        // An item that takes more bytes than a term or an indexed value can.
        software[0]["tags"] = (0..10).map(|tag| format!("{tag} {}", vec!["x".repeat(499); 40].join(" "))).collect();
        let compared = Compared::new(&software);
        let (local, remote) = (&compared.local.snapshot.engine, &compared.remote.engine);
        let reviews = ReviewsRequest { filter: ReviewFilter::default(), sort: ReviewSort::Newest, page: 0..10 };
        for id in ["p0", "p19", "p20", "", "P0", "p/0", "p0?"] {
            let record = RUNTIME.block_on(remote.record(id)).expect("a record");
            assert_eq!(record, pollster::block_on(local.record(id)).expect("a record"), "{id}");
            let hash = RUNTIME.block_on(remote.detail_hash(id)).expect("a hash");
            assert_eq!(hash, record.map(|record| record.detail_hash), "{id}");
            let found = RUNTIME.block_on(remote.reviews(id, &reviews)).expect("reviews");
            assert_eq!(found, pollster::block_on(local.reviews(id, &reviews)).expect("reviews"), "{id}");
        }
    }
}
