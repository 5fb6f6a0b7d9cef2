//! Files of queries and ids, one per line.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use software_directory::generation::Snapshot;

use crate::corpus::{self, Failure, Queries};

/// The seed for all random choices.
const SEED: u64 = 200_000;
/// The number of distinct queries, and also of draws with repetition.
const QUERIES: usize = 200_000;
/// The share of queries that are misspelled.
const MISSPELLED: f64 = 0.15;
/// How many queries are used to check responses.
const CHECKED: usize = 400;

/// Writes `distinct.txt`, `zipf.txt`, `ids.txt` and `checked.tsv` (a query and the record it was
/// drawn from).
pub(crate) fn write(folder: &Path) -> Result<(), Failure> {
    let exports = corpus::read(&corpus::path()?)?;
    let snapshot = Snapshot::build(corpus::read(&corpus::path()?)?)?;
    let mut draw = Queries::new(&exports, &snapshot, SEED);
    let mut random = Rng::with_seed(SEED);

    let mut seen = HashSet::new();
    let mut distinct = Vec::with_capacity(QUERIES);
    while distinct.len() < QUERIES {
        let query = if random.f64() < MISSPELLED { draw.pair().1 } else { draw.right() };
        if seen.insert(query.clone()) {
            distinct.push(query);
        }
    }
    // Zipf's law: the n-th most frequent query occurs 1/n times as often as the most frequent one.
    let mut sum = 0.0;
    let until: Vec<f64> = (1..=QUERIES)
        .map(|rank| {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let share = 1.0 / rank as f64;
            sum += share;
            sum
        })
        .collect();
    let zipf = (0..QUERIES).map(|_| {
        let at = random.f64() * sum;
        distinct[until.partition_point(|until| *until < at).min(QUERIES - 1)].as_str()
    });
    let ids: Vec<&str> = exports.iter().flat_map(|export| &export.software).map(|software| &*software.id).collect();
    let mut checked = String::new();
    for _ in 0..CHECKED {
        let (query, id) = draw.right_with_id();
        writeln!(checked, "{query}\t{id}")?;
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("zipf.txt"), zipf.collect::<Vec<_>>().join("\n"))?;
    fs::write(folder.join("distinct.txt"), distinct.join("\n"))?;
    let drawn = (0..QUERIES).map(|_| ids[random.usize(0..ids.len())]);
    fs::write(folder.join("ids.txt"), drawn.collect::<Vec<_>>().join("\n"))?;
    fs::write(folder.join("checked.tsv"), checked)?;
    Ok(())
}
