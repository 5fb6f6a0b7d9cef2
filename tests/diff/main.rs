//! Differences between sets of exports: the comparison and its renderings.

#[path = "../common/cases.rs"]
mod cases;
mod property;
mod render;
mod sets;
