//! Exports: parsing, the schema, checks across files, findings, and the command `check`.

mod blemish;
mod budget;
mod check;
mod found;
mod host;
mod ignored;
mod reading;
mod record;
mod render;
mod schema;
mod set;
mod similar;
