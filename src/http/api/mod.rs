//! Handlers, one file per resource, each in the same order: parameters, response, OpenAPI
//! attribute, handler.

pub(super) mod attributes;
pub(super) mod categories;
pub(super) mod changes;
pub(super) mod exports;
pub(super) mod feed;
pub(super) mod formats;
pub(super) mod glossary;
pub(super) mod health;
pub(super) mod mcp;
pub(super) mod reconcile;
pub(super) mod reviews;
pub(super) mod search;
pub(super) mod software;
pub(super) mod suggest;

pub use health::metrics_service;
