//! Requests and their errors on a single node.

use serde_json::{Value, json};
use software_directory::engine::opensearch::cluster::{ClusterError, ClusterRequest, Unavailability};

use crate::environment::{cluster, fill, json, search, until};

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn documents_are_written_found_and_read() {
    let cluster = cluster();
    fill(&cluster, "documents", 0).await;
    let found: Value = search(&cluster, "documents").await.expect("hits").json().expect("JSON");
    assert_eq!(found["hits"]["total"]["value"], 300);
    let document = json(&cluster, ClusterRequest::get("/documents/_doc/d7").query("_source_includes", "n")).await;
    assert_eq!(document["_source"], json!({ "n": 7 }));
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn cluster_errors_are_told_apart() {
    let cluster = cluster();
    fill(&cluster, "errors", 0).await;
    let kind = |error: &ClusterError| match error {
        ClusterError::NotFound { reason, .. } | ClusterError::Rejected { reason, .. } => reason.kind.clone(),
        other => panic!("{other:?}"),
    };
    let missing = cluster.send(ClusterRequest::get("/errors/_doc/none")).await.expect_err("no document");
    assert!(matches!(missing, ClusterError::NotFound { .. }) && kind(&missing).is_none(), "{missing:?}");
    let missing = cluster.send(ClusterRequest::get("/nowhere/_doc/none")).await.expect_err("no index");
    assert!(matches!(missing, ClusterError::NotFound { .. }), "{missing:?}");
    assert_eq!(kind(&missing).as_deref(), Some("index_not_found_exception"));

    let body = format!(r#"{{"query":{{"{}":{{}}}}}}"#, "x".repeat(5000));
    let rejected = cluster.send(ClusterRequest::search("/errors/_search", body)).await.expect_err("no such query");
    assert!(matches!(rejected, ClusterError::Rejected { .. }) && rejected.to_string().len() < 1000, "{rejected}");
    assert_eq!(kind(&rejected).as_deref(), Some("parsing_exception"));

    let stored = json(&cluster, ClusterRequest::get("/errors/_doc/d1")).await;
    let compare_and_set = || {
        let request = ClusterRequest::put("/errors/_doc/d1", "{}").once();
        request
            .query("if_seq_no", stored["_seq_no"].to_string())
            .query("if_primary_term", stored["_primary_term"].to_string())
    };
    assert!(cluster.send(compare_and_set()).await.is_ok());
    let conflict = cluster.send(compare_and_set()).await.expect_err("another sequence number");
    assert!(conflict.is_conflict() && !conflict.is_temporary(), "{conflict:?}");
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn pings_notice_that_the_node_answers() {
    let cluster = cluster();
    assert_eq!(cluster.health().nodes[0].answers, None);
    let pings = cluster.start_pings();
    until("an answer", async || if cluster.health().is_available() { Ok(()) } else { Err(cluster.health()) }).await;
    assert_eq!((pings.len(), cluster.health().answering()), (1, 1));
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn a_red_index_is_reported_as_such() {
    let cluster = cluster();
    drop(cluster.send(ClusterRequest::delete("/red")).await);
    // No node is allowed to hold the index's shard.
    let settings = r#"{"settings":{"number_of_replicas":0,"index.routing.allocation.require._name":"none"}}"#;
    json(&cluster, ClusterRequest::put("/red", settings).query("wait_for_active_shards", "0")).await;
    for request in [ClusterRequest::search("/red/_search", "{}"), ClusterRequest::get("/red/_doc/a")] {
        let error = cluster.send(request).await.expect_err("no shard");
        let is_red = matches!(error, ClusterError::Unavailable(Unavailability::MissingShards { .. }));
        assert!(is_red && error.is_temporary(), "{error:?}");
    }
    json(&cluster, ClusterRequest::delete("/red")).await;
}

/// Also tests that the cluster accepts documents again on its own.
#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn full_disk_is_reported_as_such() {
    let cluster = cluster();
    fill(&cluster, "full", 0).await;
    // The node checks its disk every ten seconds.
    set_watermarks(&cluster, &json!("100000gb")).await;
    let write = || cluster.send(ClusterRequest::put("/full/_doc/more", "{}"));
    let error = until("the disk is full", async || match write().await {
        Ok(response) => Err(response.status),
        Err(error) => Ok(error),
    });
    let error = error.await;
    assert!(matches!(error, ClusterError::DiskFull { .. }) && !error.is_temporary(), "{error:?}");
    let create = || cluster.send(ClusterRequest::put("/full-too", r#"{"settings":{"number_of_replicas":0}}"#));
    let error = until("no index can be created", async || match create().await {
        Ok(_) => Err(cluster.send(ClusterRequest::delete("/full-too")).await.map(drop)),
        Err(error) => Ok(error),
    });
    let error = error.await;
    assert!(matches!(error, ClusterError::DiskFull { .. }), "{error:?}");
    assert!(search(&cluster, "full").await.is_ok(), "searches still work");
    set_watermarks(&cluster, &Value::Null).await;
    until("the disk has room again", async || write().await.map(drop)).await;
    until("an index can be created again", async || create().await.map(drop)).await;
    json(&cluster, ClusterRequest::delete("/full-too")).await;
}

/// Sets how much free space a disk must have; null for the value from the node's configuration.
async fn set_watermarks(cluster: &software_directory::engine::opensearch::cluster::Cluster, room: &Value) {
    let of = |name: &str| (format!("cluster.routing.allocation.disk.watermark.{name}"), room.clone());
    let settings: serde_json::Map<_, _> = ["low", "high", "flood_stage"].map(of).into_iter().collect();
    json(cluster, ClusterRequest::put("/_cluster/settings", json!({ "persistent": settings }).to_string())).await;
}
