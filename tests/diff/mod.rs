//! Differences between sets of exports: the comparison and its renderings.

mod property;
mod render;
mod sets;
