//! Invariants for any input. The coverage-guided fuzzing in `fuzz/` checks them too.

pub(crate) mod export;
pub(crate) mod query;
