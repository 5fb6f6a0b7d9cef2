//! What must hold whatever comes in. The coverage-guided fuzzing in `fuzz/` includes this too.

pub(crate) mod export;
pub(crate) mod query;
