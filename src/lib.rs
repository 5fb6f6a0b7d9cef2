//! `software-directory` turns a folder of export files into a published software directory.
//!
//! Data flows one way, and the folders reflect that:
//!
//! ```text
//! export file → valid records → stored text, words, postings → generation → current directory → operation → response
//!   export        record          catalogue, search, index        generation    update             service     http, mcp
//! ```

pub mod catalogue;
pub mod cli;
mod client;
pub mod command;
pub mod curate;
mod error;
pub mod export;
mod file;
pub mod generation;
pub mod http;
pub mod index;
pub mod key;
pub mod mcp;
pub mod opensearch;
pub mod panics;
pub mod record;
pub mod scratch;
pub mod search;
pub mod service;
pub mod text;
pub mod update;
