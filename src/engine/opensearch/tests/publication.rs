//! Publications on a real cluster: which generations are filled, which are published again, and how
//! lost indices are noticed.

use super::*;
use crate::engine::opensearch::{Publisher, is_missing};
use crate::generation::BuildError;
use crate::generation::cluster::{FillError, published_already};
use crate::scratch::SHARED_BYTES;

const FIRST: &str = "0000000000000001";
const SECOND: &str = "0000000000000002";

/// A directory in the cluster with its own prefix.
struct Directory {
    prefix: IndexPrefix,
    scratch: Scratch,
    _folder: tempfile::TempDir,
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(RUNTIME.block_on(CLUSTER.send(ClusterRequest::delete(&format!("/{}-*", self.prefix)))));
    }
}

impl Directory {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let prefix = format!("{name}.{:x}", std::process::id()).parse().expect("a prefix");
        Self { prefix, scratch: Scratch::new(folder.path(), SHARED_BYTES), _folder: folder }
    }

    /// Publishes a generation. Fails if it has to wait for another build's lease.
    fn try_publish(
        &self,
        name: &str,
        software: &[serde_json::Value],
        progress: &mut (dyn FnMut(u64, u64) -> ControlFlow<()> + Send),
    ) -> Result<Published, FillError> {
        let filler = Filler {
            cluster: Arc::clone(&CLUSTER),
            prefix: self.prefix.clone(),
            shards: None,
            waits: &mut |owner| panic!("{owner} holds the lease"),
            progress: &mut |done, all| progress(done, all),
        };
        let merged = merged(exports(software), &self.scratch);
        let (skipped, meaning) = (Skipped::default(), MeaningOption::On);
        let set = MergedSet { generation: Generation::named(name), skipped, meaning, merged };
        RUNTIME.block_on(filler.fill_and_publish(set))
    }

    /// Publishes a generation that has to be filled.
    fn fill(&self, name: &str, software: &[serde_json::Value]) -> Published {
        let mut filled = 0;
        let published = self.try_publish(name, software, &mut |done, _| {
            filled = done;
            ControlFlow::Continue(())
        });
        let published = published.expect("published");
        assert_eq!((filled, published.products), (2 * software.len() as u64, software.len() as u64));
        published
    }

    /// Publishes a generation that must not be filled again.
    fn publish_again(&self, name: &str, software: &[serde_json::Value]) -> Published {
        self.try_publish(name, software, &mut |_, _| ControlFlow::Break(())).expect("published")
    }

    fn published_already(&self, name: &str) -> Option<Published> {
        let generation = Generation::named(name);
        RUNTIME.block_on(published_already(&CLUSTER, &self.prefix, &generation)).expect("the cluster answers")
    }

    /// The names of all indices except the state index, each with its number of deleted documents.
    fn indices(&self) -> Vec<(String, String)> {
        let request = ClusterRequest::get(&format!("/_cat/indices/{}-*", self.prefix)).query("format", "json");
        let all: serde_json::Value = respond(request.query("h", "index,docs.deleted")).json().expect("JSON");
        let all = all.as_array().expect("a list").iter().map(|of| {
            let text = |name: &str| of[name].as_str().expect("text").to_owned();
            (text("index"), text("docs.deleted"))
        });
        let mut all: Vec<_> = all.filter(|(index, _)| !index.ends_with("-state")).collect();
        all.sort();
        all
    }
}

fn respond(request: ClusterRequest) -> super::super::cluster::ClusterResponse {
    RUNTIME.block_on(CLUSTER.send(request)).expect("a response")
}

/// What [`Directory::indices`] should return for these generations, without deleted documents.
fn clean(published: &[&Published]) -> Vec<(String, String)> {
    let of = |published: &&Published| {
        ["", "-parts", "-reviews"].map(|end| (format!("{}{end}", published.index), "0".to_owned()))
    };
    let mut all: Vec<_> = published.iter().flat_map(of).collect();
    all.sort();
    all
}

/// `make test-rust` runs without a cluster and skips tests with this module in their path.
mod on_cluster {
    use super::*;

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn an_interrupted_fill_is_replaced_and_does_not_block_other_builds() {
        // About 12 MiB of documents, enough for several bulk requests.
        let product = |number: usize| {
            let description = format!("audit {number} ").repeat(200);
            let url = "https://a.org/";
            serde_json::json!({"id": format!("p{number}"), "name": "A", "url": url, "evidence_status": "pending-review",
                "description": description})
        };
        let software: Vec<_> = (0..2000).map(product).collect();
        let directory = Directory::new("broken-off");
        let broken = directory.try_publish(FIRST, &software, &mut |done, _| {
            if done == 3500 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(broken, Err(FillError::Build(BuildError::Stopped))));
        assert_eq!(directory.indices().len(), 3, "the interrupted fill");
        let published = directory.fill(FIRST, &software);
        assert_eq!(directory.indices(), clean(&[&published]));
        assert_eq!(directory.published_already(FIRST), Some(published));
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn the_previous_generation_can_be_published_again_without_a_fill() {
        let (old, new) = (large()[..20].to_vec(), large()[..21].to_vec());
        let directory = Directory::new("again");
        let first = directory.fill(FIRST, &old);
        let second = directory.fill(SECOND, &new);
        assert_eq!(second.previous.as_deref(), Some(first.index.as_str()));
        let again = directory.publish_again(FIRST, &old);
        assert_eq!((&again.index, again.previous.as_deref()), (&first.index, Some(second.index.as_str())));
        assert_eq!((again.products, again.shards), (first.products, first.shards));
        assert_eq!(directory.publish_again(FIRST, &old), again, "it's already being served");
        let snapshot = RUNTIME.block_on(generations::open(&CLUSTER, &again)).expect("opened");
        let since = |name| snapshot.merged_changes.since(&snapshot.changes, name, 0..10).map(|changes| changes.total);
        assert_eq!((since(SECOND), since(FIRST)), (Some(1), Some(0)), "the log continues");

        respond(ClusterRequest::delete(&format!("/{}-parts", second.index)));
        let refilled = directory.fill(SECOND, &new);
        assert_ne!(refilled.index, second.index, "the previous generation was incomplete, so it was filled again");
        assert_eq!(directory.indices().len(), 6, "the damaged generation was deleted");
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn a_damaged_generation_does_not_count_as_published() {
        let directory = Directory::new("damaged");
        let software = large()[..20].to_vec();
        let dynamic = || Bytes::from_static(br#"{"settings":{"number_of_replicas":0}}"#);
        let damages: [&dyn Fn(&str); 5] = [
            &|index| drop(respond(ClusterRequest::delete(&format!("/{index}")))),
            &|index| drop(respond(ClusterRequest::delete(&format!("/{index}-parts")))),
            &|index| {
                let found = ClusterRequest::search(&format!("/{index}/_search"), r#"{"size":1}"#);
                let found: serde_json::Value = respond(found).json().expect("JSON");
                let id = found["hits"]["hits"][0]["_id"].as_str().expect("an id");
                respond(ClusterRequest::delete(&format!("/{index}/_doc/{id}")).query("refresh", "true"));
            },
            &|index| {
                let piece = respond(ClusterRequest::get(&format!("/{index}-parts/_source/changes-0"))).body;
                respond(ClusterRequest::put(&format!("/{index}-parts/_doc/search-0"), piece));
            },
            // The new index is as empty as the one it replaces, but has a different mapping.
            &|index| {
                respond(ClusterRequest::delete(&format!("/{index}-reviews")));
                respond(ClusterRequest::put(&format!("/{index}-reviews"), dynamic()));
            },
        ];
        let mut published = directory.fill(FIRST, &software);
        for damage in damages {
            assert_eq!(directory.published_already(FIRST).as_ref(), Some(&published));
            damage(&published.index);
            assert_eq!(directory.published_already(FIRST), None);
            let filled = directory.fill(FIRST, &software);
            assert_ne!(filled.index, published.index, "servers never search an index that's being filled");
            published = filled;
        }
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn an_index_with_the_generations_name_but_a_different_mapping_is_replaced() {
        let directory = Directory::new("foreign");
        let foreign = format!("/{}", directory.prefix.fill(FIRST, jiff::Timestamp::UNIX_EPOCH));
        respond(ClusterRequest::put(&format!("{foreign}/_doc/a"), r#"{"terms":"a"}"#));
        let published = directory.fill(FIRST, &large()[..20]);
        assert_eq!(directory.indices(), clean(&[&published]));
    }

    #[test]
    #[ignore = "needs a cluster: make test-opensearch"]
    fn requests_to_a_deleted_index_fail_as_unavailable() {
        let directory = Directory::new("deleted");
        let published = directory.fill(FIRST, &large()[..20]);
        let snapshot = RUNTIME.block_on(generations::open(&CLUSTER, &published)).expect("opened");
        let missing = || RUNTIME.block_on(is_missing(&CLUSTER, &published.index));
        let errors = || {
            let engine = &snapshot.engine;
            let (plan, budget, filter) = (Plan::default(), Budget::new(u64::MAX), SoftwareFilter::default());
            let request = SearchRequest {
                plan: &plan,
                filter: &filter,
                order: None,
                page: 0..20,
                facets: None,
                texts: false,
                budget: &budget,
            };
            let reviews = ReviewsRequest { filter: ReviewFilter::default(), sort: ReviewSort::Newest, page: 0..10 };
            RUNTIME.block_on(async {
                [
                    engine.search(&request).await.err(),
                    engine.record("p0").await.err(),
                    engine.detail_hash("p0").await.err(),
                    engine.reviews("p0", &reviews).await.err(),
                ]
            })
        };
        assert!(errors().iter().all(Option::is_none) && !missing());
        respond(ClusterRequest::delete(&format!("/{}", published.index)));
        assert!(errors().iter().all(|error| matches!(error, Some(EngineError::Unavailable(_)))), "{:?}", errors());
        assert!(missing());
        respond(ClusterRequest::delete(&format!("/{}-*", directory.prefix)));
        let state = Publisher::new(Arc::clone(&CLUSTER), directory.prefix.clone());
        assert!(RUNTIME.block_on(state.published()).expect("the cluster answers").is_none());
        assert!(errors().iter().all(|error| matches!(error, Some(EngineError::Unavailable(_)))) && missing());
    }
}
