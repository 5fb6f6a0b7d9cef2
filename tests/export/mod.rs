//! Exports: parsing, the schema, checks across files, findings, and the `check` command.

mod blemish;
mod budget;
mod check;
mod evidence;
mod found;
mod host;
mod ignored;
mod links;
mod named;
mod property;
mod reading;
mod record;
mod render;
mod sarif;
mod schema;
mod set;
mod similar;
mod stale;
mod stdin;
mod translation;
