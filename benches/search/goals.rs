//! Performance goals. The two sides of a ratio take turns in one run, so that other load affects
//! both equally.

use std::time::Duration;

use software_directory::generation::Snapshot;
use software_directory::service::SearchSoftware;

use crate::{ask, cpu_time};

/// How many times both sides are measured; the median is used.
const ROUNDS: usize = 15;

/// Maximum CPU time for any request with Debian's 59,204 packages. A search in a larger directory
/// may take more, because its work budget grows with the records.
pub(crate) const WORST: Duration = Duration::from_millis(5);

/// A goal: the maximum ratio of the cost of the queries in `of` to that of the queries in `to`.
pub(crate) struct Ratio<'q> {
    pub(crate) name: &'static str,
    pub(crate) of: &'q [SearchSoftware],
    pub(crate) to: &'q [SearchSoftware],
    pub(crate) at_most: f64,
}

/// Measures and prints the ratios.
pub(crate) fn ratios(snapshot: &Snapshot, goals: &[Ratio<'_>]) {
    println!("\n{:56} {:>10} {:>10} {:>7} {:>7}", "ratio, CPU time per query", "µs", "to µs", "ratio", "goal");
    for goal in goals {
        let mut rounds: Vec<_> = (0..ROUNDS)
            .map(|_| {
                let (of, to) = (per_query(snapshot, goal.of), per_query(snapshot, goal.to));
                (of / to, of, to)
            })
            .collect();
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, of, to) = rounds[ROUNDS / 2];
        let met = if ratio <= goal.at_most { "" } else { "  missed" };
        println!("{:56} {of:10.1} {to:10.1} {ratio:7.2} {:>7.1}{met}", goal.name, goal.at_most);
    }
}

/// Microseconds of CPU time.
fn per_query(snapshot: &Snapshot, queries: &[SearchSoftware]) -> f64 {
    let time = cpu_time::of(|| {
        for query in queries {
            std::hint::black_box(ask::answer(snapshot, query));
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let count = queries.len() as f64;
    time.as_secs_f64() * 1e6 / count
}

/// Measures the worst queries and prints them, slowest first.
pub(crate) fn worst(snapshot: &Snapshot, queries: &[(String, SearchSoftware)]) {
    let mut measured: Vec<_> = queries
        .iter()
        .map(|(name, query)| {
            let mut times: Vec<_> =
                (0..ROUNDS).map(|_| cpu_time::of(|| std::hint::black_box(ask::answer(snapshot, query)))).collect();
            times.sort_unstable();
            (times[ROUNDS / 2], times[ROUNDS - 1], ask::answer(snapshot, query).pagination.total, name)
        })
        .collect();
    measured.sort_unstable_by_key(|(median, ..)| std::cmp::Reverse(*median));
    println!(
        "\n{:56} {:>10} {:>10} {:>9}   (goal: {} ms)",
        "worst query, CPU time",
        "µs",
        "most",
        "found",
        WORST.as_millis()
    );
    for (median, most, total, name) in measured {
        let met = if median <= WORST { "" } else { "  missed" };
        println!("{name:56} {:10} {:10} {total:9}{met}", median.as_micros(), most.as_micros());
    }
}
