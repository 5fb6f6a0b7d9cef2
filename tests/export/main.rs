//! Exports: parsing, the schema, checks across files, findings, and the command `check`.

mod budget;
mod check;
mod found;
mod named;
mod reading;
mod record;
mod render;
mod sarif;
mod schema;
mod set;
mod stale;
mod stdin;
