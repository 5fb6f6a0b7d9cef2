//! Arbitrary bytes as an export file.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/hostile/invariant/mod.rs"]
mod invariant;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariant::export::check(bytes));
