//! Exports: parsing, the schema, checks across files, findings, and the `check` command.

mod budget;
mod cases;
mod check;
mod ignored;
mod links;
mod property;
mod reading;
mod render;
mod sarif;
mod schema;
mod set;
mod stale;
mod stdin;
