//! The cluster that the environment variables describe.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use software_directory::engine::opensearch::cluster::{
    Cluster, ClusterError, ClusterRequest, ClusterResponse, ClusterSettings,
};

/// Long enough for nodes to start on a busy machine.
const DEADLINE: Duration = Duration::from_mins(4);

/// A variable that `cluster.py` sets.
pub(crate) fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} isn't set: run make test-opensearch"))
}

/// The addresses of the nodes, with default settings.
pub(crate) fn settings() -> ClusterSettings {
    let urls = variable("OPENSEARCH_URLS");
    ClusterSettings::new(urls.split(',').map(|url| ClusterSettings::parse_url(url).expect("a URL")).collect())
}

/// The cluster, without pings.
pub(crate) fn cluster() -> Arc<Cluster> {
    Arc::new(Cluster::new(settings()).expect("a cluster"))
}

/// A node, controlled through the script that started it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) is_running: bool,
}

/// Sends a line to the script: `nodes`, `kill n1`, `stop n1`, `continue n1` or `start n1`.
pub(crate) fn control(line: &str) -> Vec<Node> {
    let mut stream = UnixStream::connect(variable("OPENSEARCH_CONTROL")).expect("the script's socket");
    writeln!(stream, "{line}").expect("written");
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let nodes = answer.as_array().unwrap_or_else(|| panic!("{line}: {answer}"));
    let node = |node: &Value| Node {
        name: node["name"].as_str().expect("a name").to_owned(),
        is_running: !node["pid"].is_null(),
    };
    nodes.iter().map(node).collect()
}

/// Retries an attempt until it succeeds.
pub(crate) async fn until<T, E: std::fmt::Debug>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => assert!(Instant::now() < deadline, "timed out waiting for: {what}: {error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A response as JSON.
pub(crate) async fn json(cluster: &Cluster, request: ClusterRequest) -> Value {
    cluster.send(request).await.and_then(|response| response.json()).expect("a response")
}

/// Creates an index of 300 documents, replacing any existing one, and waits until each shard has
/// its copies.
pub(crate) async fn fill(cluster: &Cluster, index: &str, replicas: u32) {
    drop(cluster.send(ClusterRequest::delete(&format!("/{index}"))).await);
    let settings = format!(r#"{{"settings":{{"number_of_shards":2,"number_of_replicas":{replicas}}}}}"#);
    let patient = Duration::from_mins(1);
    cluster.send(ClusterRequest::put(&format!("/{index}"), settings).timeout(patient)).await.expect("an index");
    let documents: Vec<_> = (0..300)
        .map(|n| format!("{{\"index\":{{\"_id\":\"d{n}\"}}}}\n{{\"n\":{n},\"text\":\"word w{n}\"}}\n"))
        .collect();
    let request =
        ClusterRequest::bulk(&format!("/{index}/_bulk"), documents.concat()).query("refresh", "true").timeout(patient);
    assert_eq!(json(cluster, request).await["errors"], false);
    let request = ClusterRequest::get("/_cluster/health").query("wait_for_status", "green").query("timeout", "50s");
    assert_eq!(json(cluster, request.timeout(patient)).await["timed_out"], false);
}

/// Searches the documents from [`fill`], all of which contain the word.
pub(crate) async fn search(cluster: &Cluster, index: &str) -> Result<ClusterResponse, ClusterError> {
    let body = r#"{"query":{"match":{"text":"word"}},"size":10,"track_total_hits":true}"#;
    cluster.send(ClusterRequest::search(&format!("/{index}/_search"), body)).await
}
