//! OpenSearch as an engine.

pub mod cluster;
