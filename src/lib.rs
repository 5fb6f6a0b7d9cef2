//! `software-directory` turns a folder of export files into a published software directory.
//!
//! Data flows one way, and the modules show it:
//!
//! ```text
//! export file → validated records → immutable snapshot (catalogue + index) → operation → HTTP response
//!   export         record             snapshot, search, engine                service      http, resource
//! ```

pub mod catalogue;
pub mod cli;
pub mod command;
pub mod diff;
pub mod engine;
mod error;
pub mod export;
pub mod external;
mod html;
pub mod http;
pub mod key;
mod lock;
mod markdown;
pub mod mcp;
mod nearest;
pub mod panics;
mod printable;
pub mod queries;
pub mod record;
pub mod report;
pub mod resource;
pub mod search;
pub mod service;
pub mod snapshot;
pub mod tabular;
