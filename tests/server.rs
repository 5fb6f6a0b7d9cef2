//! What callers and operators see: the API and pages, API keys, tools for assistants, and the binary
//! as a process. Tests that need a cluster are in `opensearch`.

mod api;
mod callers;
mod common;
mod keys;
mod mcp;
mod opensearch;
mod serve;
