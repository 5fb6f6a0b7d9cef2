//! Tests a directory in a cluster of real nodes, which `cluster.py` starts. `make test-opensearch`
//! runs these tests, with a separate cluster for each group.

mod environment;

/// `make test-rust` runs without a cluster and skips tests with this module in their path.
mod on_cluster {
    mod edits;
    mod faults;
    mod operations;
    mod security;
    mod served;
}
