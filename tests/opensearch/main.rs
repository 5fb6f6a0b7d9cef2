//! The connection to a cluster on real nodes, which `cluster.py` starts. `make test-opensearch` runs them; each group needs
//! another cluster.

mod environment;
mod load;

/// `make test-rust`, which has no cluster, leaves out the tests with this name in their paths.
mod on_cluster {
    mod one_node;
    mod security;
    mod three_nodes;
}
