//! How often a property is tested: a few times with a fixed seed in `make test`, and many times
//! with a new seed in `make faults`, which sets `FAULTS=full`.

use proptest::test_runner::{Config, RngSeed};

/// `make faults` multiplies the number of cases by this.
const FULL: u32 = 25;

/// How many cases of a property to test, given the number in the quick run. A failure is printed in
/// full, so it can become a test.
pub(crate) fn cases(quick: u32) -> Config {
    let full = std::env::var("FAULTS").is_ok_and(|faults| faults == "full");
    let (cases, rng_seed) = if full { (quick * FULL, RngSeed::Random) } else { (quick, RngSeed::Fixed(20_261_121)) };
    Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() }
}
