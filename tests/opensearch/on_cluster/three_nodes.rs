//! Node faults under a load of searches. No search that starts two seconds after the fault may
//! fail.
//!
//! The tests share the nodes, so they run one after the other, and each restores the cluster before
//! it starts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use software_directory::engine::opensearch::cluster::{Cluster, ClusterError, ClusterRequest, Pings, Unavailability};

use crate::environment::{cluster, control, fill, json, search, until};
use crate::load::Load;

const INDEX: &str = "faults";

/// A healthy cluster with an index in which each shard has a replica.
async fn healthy() -> (Arc<Cluster>, Pings) {
    restore();
    let cluster = cluster();
    let pings = cluster.start_pings();
    until("three nodes", async || nodes(&cluster, 3).await).await;
    fill(&cluster, INDEX, 1).await;
    (cluster, pings)
}

/// Starts nodes that aren't running, and resumes those that are stopped.
fn restore() {
    for node in control("nodes") {
        control(&format!("{} {}", if node.is_running { "continue" } else { "start" }, node.name));
    }
}

/// Whether the cluster reports this many nodes and a manager.
async fn nodes(cluster: &Cluster, count: u32) -> Result<(), String> {
    let request = ClusterRequest::get("/_cluster/health").query("timeout", "1s");
    let health: Value =
        cluster.send(request).await.and_then(|response| response.json()).map_err(|error| error.to_string())?;
    if health["number_of_nodes"] == count { Ok(()) } else { Err(health.to_string()) }
}

/// The names of the manager and of one other node.
async fn manager_and_other(cluster: &Cluster) -> (String, String) {
    let manager = json(cluster, ClusterRequest::get("/_cat/cluster_manager").query("format", "json")).await;
    let manager = manager[0]["node"].as_str().expect("a manager").to_owned();
    let other = control("nodes").into_iter().map(|node| node.name).find(|name| *name != manager);
    (manager, other.expect("another node"))
}

/// Puts the cluster under load, kills or stops a node, and waits until the cluster has noticed.
async fn fault(name: &str, verb: &str, of_manager: bool) {
    let (cluster, _pings) = healthy().await;
    let (manager, other) = manager_and_other(&cluster).await;
    let load = Load::start(&cluster, INDEX);
    load.until_searches(100, Instant::now()).await;
    let begin = Instant::now();
    control(&format!("{verb} {}", if of_manager { manager } else { other }));
    until("the cluster has two nodes", async || nodes(&cluster, 2).await).await;
    println!("{name}: the cluster noticed after {} ms", begin.elapsed().as_millis());
    // The cluster may notice before the next ping.
    until("two nodes answer", async || {
        let health = cluster.health();
        if health.answering() == 2 { Ok(()) } else { Err(health) }
    })
    .await;
    load.end(name, begin).await;
    restore();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn killing_a_data_node_fails_no_searches() {
    fault("kill -9 of a data node", "kill", false).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn killing_the_manager_fails_no_searches() {
    fault("kill -9 of the manager", "kill", true).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn stopping_the_manager_fails_no_searches() {
    fault("SIGSTOP of the manager", "stop", true).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn stopping_a_data_node_fails_no_searches() {
    fault("SIGSTOP of a data node", "stop", false).await;
}

/// Tests both nodes that have died and nodes that have gone silent.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn unreachable_cluster_is_unavailable_and_recovers_on_its_own() {
    for (verb, name) in [("kill", "kill -9 of all nodes"), ("stop", "SIGSTOP of all nodes")] {
        let (cluster, _pings) = healthy().await;
        let begin = Instant::now();
        for node in control("nodes") {
            control(&format!("{verb} {}", node.name));
        }
        until("no node answers", async || match search(&cluster, INDEX).await {
            Err(ClusterError::Unavailable(Unavailability::NoNode { .. })) => Ok(()),
            other => Err(other),
        })
        .await;
        let (noticed, again) = (begin.elapsed(), Instant::now());
        let error = search(&cluster, INDEX).await.expect_err("no node");
        println!(
            "{name}: no node answers after {} ms, and the next error takes {} µs: {error}",
            noticed.as_millis(),
            again.elapsed().as_micros()
        );
        assert!(error.is_unavailable() && !cluster.health().is_available(), "{error:?}");
        restore();
        let restored = Instant::now();
        until("searches succeed again", async || search(&cluster, INDEX).await.map(drop)).await;
        println!("{name}: searches succeed again {} ms after the nodes were restored", restored.elapsed().as_millis());
        let load = Load::start(&cluster, INDEX);
        until("three nodes", async || nodes(&cluster, 3).await).await;
        load.end(&format!("recovery from {name}"), Instant::now()).await;
    }
}

/// The deadline also applies if a cluster is merely slow. No request exceeds the deadline by more
/// than one attempt takes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn request_that_no_node_answers_in_time_ends_at_the_deadline() {
    let (cluster, _pings) = healthy().await;
    let request = || ClusterRequest::get("/_cluster/health").query("wait_for_nodes", "4").query("timeout", "60s");
    let error = cluster.send(request().timeout(Duration::from_secs(1))).await.expect_err("there is no fourth");
    let is_deadline = matches!(&error, ClusterError::Unavailable(Unavailability::Attempts { attempts: 2, .. }));
    assert!(is_deadline, "{error:?}");
}
