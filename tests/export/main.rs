//! Exports: parsing, the schema, checks across files, findings, and the command `check`.

mod budget;
mod check;
mod found;
mod reading;
mod record;
mod render;
mod schema;
mod set;
