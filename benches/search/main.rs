//! What searches cost, measured in-process: `make bench`.
//!
//! The corpus is an export in `MEASURE_DATA` (Debian 12's packages). The queries are one to three
//! words drawn from its records with a fixed seed, the same words with one edit, and the worst
//! queries that a caller can send. The thread's CPU time is measured. After Criterion's figures
//! come the ratios that must hold; the two sides of each ratio take turns.
//!
//! `cargo bench --bench search -- goals` prints only those, and `-- generated` the worst of 50,000
//! generated queries, searches and pages of hostile records, and the worst request for each
//! endpoint.

#[path = "../corpus/mod.rs"]
mod corpus;

mod ask;
mod cpu_time;
mod endpoints;
mod generated;
mod goals;
mod hostile;
mod worst;

use std::process::ExitCode;

use criterion::Criterion;
use software_directory::generation::Snapshot;
use software_directory::service::SearchSoftware;

use corpus::{Failure, Queries};
use cpu_time::CpuTime;
use goals::Ratio;

/// The same allocator as in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The seed for all random choices.
const SEED: u64 = 59_204;
/// How many queries a measurement cycles through.
const QUERIES: usize = 500;

fn main() -> ExitCode {
    corpus::exit(run())
}

fn run() -> Result<(), Failure> {
    let path = corpus::path()?;
    let mut exports = corpus::read(&path)?;
    let snapshot = Snapshot::build(corpus::read(&path)?)?;
    if std::env::args().any(|argument| argument == "generated") {
        let mut built = corpus::read(&path)?;
        for exports in [&mut built, &mut exports] {
            generated::add_synonyms(exports, &snapshot, SEED);
        }
        let snapshot = Snapshot::build(built)?;
        generated::report(&exports, &snapshot, SEED);
        hostile::report()?;
        return endpoints::report(&path, &exports, &snapshot, SEED);
    }
    let mut draw = Queries::new(&exports, &snapshot, SEED);
    let right: Vec<String> = (0..QUERIES).map(|_| draw.right()).collect();
    let pairs: Vec<_> = (0..QUERIES).map(|_| draw.pair()).collect();
    let asked = |how: fn(&str) -> SearchSoftware| right.iter().map(|q| how(q)).collect::<Vec<_>>();
    let paired_right: Vec<_> = pairs.iter().map(|pair| ask::plain(&pair.0)).collect();
    let paired_wrong: Vec<_> = pairs.iter().map(|pair| ask::plain(&pair.1)).collect();
    let (plain, strict) = (asked(ask::plain), asked(ask::strict));
    let (facets, highlights) = (asked(ask::with_facets), asked(ask::with_highlights));
    let worst = worst::queries(&snapshot, &mut draw);
    drop(exports);
    let found: u64 = plain.iter().map(|query| ask::answer(&snapshot, query).pagination.total).sum();
    println!(
        "{} products from {}; {QUERIES} queries with seed {SEED} find {} each on average",
        snapshot.software_count(),
        path.display(),
        found / QUERIES as u64
    );

    if !std::env::args().any(|argument| argument == "goals") {
        let mut criterion = Criterion::default().with_measurement(CpuTime).sample_size(30).configure_from_args();
        let sets = [
            ("spelled right", &plain),
            ("spelled right, typo=false", &strict),
            ("spelled right, with a long word", &paired_right),
            ("misspelled", &paired_wrong),
            ("every facet", &facets),
            ("highlights", &highlights),
        ];
        for (name, queries) in sets {
            group(&mut criterion, &snapshot, name, queries);
        }
        for letters in 1..=3 {
            let beginnings = right.iter().map(|q| ask::plain(&q.chars().take(letters).collect::<String>())).collect();
            group(&mut criterion, &snapshot, &format!("prefixes of {letters}"), &beginnings);
        }
        criterion.final_summary();
    }
    if std::env::args().skip(1).any(|argument| argument == "--profile-time") {
        return Ok(());
    }
    goals::ratios(
        &snapshot,
        &[
            Ratio { name: "typo=true to typo=false, spelled right", of: &plain, to: &strict, at_most: 1.3 },
            Ratio { name: "misspelled to spelled right", of: &paired_wrong, to: &paired_right, at_most: 3.0 },
            Ratio { name: "every facet to plain", of: &facets, to: &plain, at_most: 2.0 },
            Ratio { name: "highlights to plain", of: &highlights, to: &plain, at_most: 2.0 },
        ],
    );
    goals::worst(&snapshot, &worst);
    Ok(())
}

fn group(criterion: &mut Criterion<CpuTime>, snapshot: &Snapshot, name: &str, queries: &Vec<SearchSoftware>) {
    let mut group = criterion.benchmark_group("search");
    group.throughput(cpu_time::per_query(queries.len()));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            for query in queries {
                std::hint::black_box(ask::answer(snapshot, query));
            }
        });
    });
    group.finish();
}
