//! How often a property is tried: quickly and always the same way in `make test`, at length and each time anew in
//! `make faults`, which sets `FAULTS=full`.

use proptest::test_runner::{Config, RngSeed};

/// How many times as often `make faults` tries.
const FULL: u32 = 25;

/// The number of a property's cases, given that of the quick run. A failure is printed whole, for a test of its own.
pub(crate) fn cases(quick: u32) -> Config {
    let full = std::env::var("FAULTS").is_ok_and(|faults| faults == "full");
    let (cases, rng_seed) = if full { (quick * FULL, RngSeed::Random) } else { (quick, RngSeed::Fixed(20_261_121)) };
    Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() }
}
