//! Drives the HTTP API the way callers do: in-process when the response matters, and over real
//! sockets when the wire does.

mod any_request;
mod attributes;
mod authentication;
mod categories;
mod changes;
mod conditional;
mod corrections;
mod cors;
mod documents;
mod examples;
mod exports;
mod feed;
mod fixture;
mod formats;
mod glossary;
mod health;
mod history;
mod languages;
mod log;
mod long_texts;
mod memory;
mod methods;
mod metrics;
mod openapi;
mod openapi_generators;
mod openapi_reference;
mod pages;

mod paging;
mod parameters;
mod problems;
mod public_api;
mod quota;
mod reconcile;
mod request_id;
mod reviews;
mod search;
mod server;
mod service;
mod sign_in;
mod software;
mod suggest;
mod visitors;
