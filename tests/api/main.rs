//! Drives the HTTP API as callers do: in-process where the answer is the point, over real sockets where the wire is.

mod authentication;
mod cors;
mod documents;
mod health;
mod methods;
mod openapi;
mod problems;
mod request_id;
mod server;
mod service;
