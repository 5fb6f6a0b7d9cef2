//! Tests the connection to a cluster of real nodes, which `cluster.py` starts. `make
//! test-opensearch` runs these tests, with a separate cluster for each group.

mod environment;
mod load;

/// `make test-rust` runs without a cluster and skips tests with this module in their path.
mod on_cluster {
    mod one_node;
    mod security;
    mod three_nodes;
}
