//! What it costs to build and publish a generation, stage by stage, compared with bare tantivy
//! indexing the same terms: `make bench`.
//!
//! The build and bare tantivy take turns in one run. Everything runs on one thread, so the thread's
//! CPU time is measured, and medians are reported. Wall time is also shown, because it includes
//! waits for the disk.

#[path = "../corpus/mod.rs"]
#[allow(dead_code, reason = "this benchmark runs no queries")]
mod corpus;
#[path = "../search/cpu_time.rs"]
#[allow(dead_code, reason = "only criterion uses it")]
mod cpu_time;

mod bare;
mod terms;

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use software_directory::catalogue::{CatalogueWriter, Merged};
use software_directory::export::{IdPrefixes, Limits, TrustedKeys};
use software_directory::generation::source::{ReadSet, Source};
use software_directory::generation::store::{Manifest, Store, build_name};
use software_directory::generation::{Artifact, Generation, INDEX_FORMAT, MeaningOption, Processors, Snapshot, build};
use software_directory::scratch::Scratch;
use software_directory::search::{DocumentAnalyzer, SearchBuilder};
use software_directory::service::get_software;

use bare::Repeat;
use corpus::Failure;

/// The same allocator as in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many times everything is measured; the median is used.
const ROUNDS: usize = 5;

/// The build may take at most this many times as long as bare indexing.
const GOAL: f64 = 2.0;

fn main() -> ExitCode {
    corpus::exit(run())
}

fn run() -> Result<(), Failure> {
    let export = corpus::path()?;
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    std::fs::copy(&export, data.join("export.json"))?;
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        rounds.push(stages(&data, &folder.path().join(format!("index-{round}")))?);
    }
    let median = |of: fn(&Time) -> Duration, at: usize| {
        let mut times: Vec<_> = rounds.iter().map(|stages| of(&stages[at].1)).collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    let cpu = |at| median(|time| time.cpu, at).as_secs_f64() * 1e3;
    let clock = |at| median(|time| time.clock, at).as_secs_f64() * 1e3;
    let count = rounds[0].len() - BASELINES - LOOKUPS;
    let (total, total_clock) = ((0..count).map(cpu).sum::<f64>(), (0..count).map(clock).sum::<f64>());
    println!("\n{:48} {:>9} {:>9} {:>7}", "building and publishing", "ms CPU", "ms clock", "share");
    for (at, (name, _)) in rounds[0].iter().enumerate().take(count) {
        println!("{name:48} {:9.0} {:9.0} {:6.0}%", cpu(at), clock(at), cpu(at) / total * 100.0);
    }
    println!("{:48} {total:9.0} {total_clock:9.0}", "all of it");
    println!("\n{:48} {:>9} {:>9} {:>7} {:>6}", "tantivy alone, one segment", "ms CPU", "ms clock", "ratio", "goal");
    for (at, (name, _)) in rounds[0].iter().enumerate().skip(count + LOOKUPS) {
        let ratio = total / cpu(at);
        let missed = if ratio <= GOAL { "" } else { "  missed" };
        println!("{name:48} {:9.0} {:9.0} {ratio:7.2} {GOAL:6.1}{missed}", cpu(at), clock(at));
    }
    println!("\n{:48} {:>9}", "after loading", "ms CPU");
    for (at, (name, _)) in rounds[0].iter().enumerate().skip(count).take(LOOKUPS) {
        println!("{name:48} {:9.0}", cpu(at));
    }
    Ok(())
}

/// How many of the measurements are lookups, and how many are baselines for the build.
const LOOKUPS: usize = 2;
const BASELINES: usize = 2;

/// How long it takes to read all products' details in an order that defeats caches, and to copy
/// the same bytes once they've been assembled.
fn lookups(snapshot: &Snapshot, mut ids: Vec<Box<str>>) -> Stages {
    fastrand::Rng::with_seed(1).shuffle(&mut ids);
    let record = |id: &str| get_software(snapshot, id, None).expect("whole").expect("a product").0.body;
    let ((), made) = time(|| ids.iter().for_each(|id| drop(std::hint::black_box(record(id)))));
    let ready: Vec<Bytes> = ids.iter().map(|id| record(id)).collect();
    let ((), copied) = time(|| ready.iter().for_each(|body| drop(std::hint::black_box(body.to_vec()))));
    vec![("every product's response, assembled", made), ("the assembled responses, copied", copied)]
}

/// How long something took.
#[derive(Debug, Clone, Copy)]
struct Time {
    cpu: Duration,
    clock: Duration,
}

type Stages = Vec<(&'static str, Time)>;

fn time<T>(work: impl FnOnce() -> T) -> (T, Time) {
    let (cpu, clock) = (cpu_time::now(), Instant::now());
    let made = std::hint::black_box(work());
    (made, Time { cpu: cpu_time::now().saturating_sub(cpu), clock: clock.elapsed() })
}

/// One round: what a reload does, from files to a published generation, and the baselines.
fn stages(data: &Path, index: &Path) -> Result<Stages, Failure> {
    let source = Source::Folder(data.to_owned());
    let scratch = Scratch::in_memory();
    let read_again = || source.read(&Limits::default(), &IdPrefixes::default(), &scratch, &|_, _| {});
    let (set, read) = time(read_again);
    let ReadSet { set, stamp } = set?;
    if !set.report.is_valid() {
        return Err("the export isn't valid; see `software-directory check`".into());
    }
    let (generation, name) = time(|| Generation::of(&set));
    let (generation, skipped) = (generation?, set.report.skipped);
    // The build stages before indexing.
    let (merged, order) = time(|| Merged::of(set, &scratch, |_, _| {}));
    let merged = merged?;
    let (analysed, analysis) = time(|| {
        let (mut analyzer, mut search) =
            (DocumentAnalyzer::new(merged.synonyms(), merged.pins(), &merged.attributes), SearchBuilder::new(&scratch));
        for product in merged.products().flatten() {
            analyzer.analyse(&product.software, merged.language(&product), merged.categories(&product.row.categories));
            search.push(&analyzer)?;
            analyzer.terms().for_each(drop);
        }
        Ok::<_, Failure>((analyzer, search))
    });
    let (analyzer, search) = analysed?;
    let (parts, words) = time(|| {
        let vocabulary = analyzer.vocabulary()?;
        Ok::<_, Failure>(search.finish(&vocabulary)?)
    });
    drop(parts?);
    let set = read_again()?.set;
    let (catalogue, answers) = time(|| {
        let mut writer = CatalogueWriter::new(&merged)?;
        merged.products().try_for_each(|product| writer.push(&product?).map(drop))?;
        writer.finish()
    });
    drop(catalogue?);
    drop(merged);
    let mut ids = Vec::new();
    for export in &set.exports {
        set.for_each_product(export, |_, software| {
            ids.push(software.id.clone());
            Ok(())
        })?;
    }
    let (parts, all) =
        time(|| build(set, &scratch, Processors::One, MeaningOption::On, &mut |_, _| ControlFlow::Continue(())));
    let parts = parts?;
    let measured = [order, answers, analysis, words];
    let indexing = Time {
        cpu: all.cpu.saturating_sub(measured.iter().map(|time| time.cpu).sum()),
        clock: all.clock.saturating_sub(measured.iter().map(|time| time.clock).sum()),
    };
    let (opened, check) =
        time(|| Ok::<_, Failure>(Snapshot::open(generation.clone(), Artifact::read(parts.clone())?, skipped)?));
    let software_count = opened?.software_count() as u64;
    let store = Store::new(index);
    let built_at = jiff::Timestamp::now().to_string();
    let about = Manifest {
        format: INDEX_FORMAT,
        generation: generation.clone(),
        build: build_name(&built_at),
        built_at,
        software_count,
        inputs: stamp.clone(),
        id_prefixes: IdPrefixes::default(),
        meaning: MeaningOption::On,
        trusted_keys: TrustedKeys::default(),
        skipped,
        parts: Vec::new(),
    };
    let (manifest, persist) = time(|| store.save(&parts, about, None));
    let manifest = manifest?;
    drop(parts);
    let (loaded, verify) = time(|| Ok::<_, Failure>(Snapshot::open(generation, store.load(&manifest)?, skipped)?));
    let answers_of = lookups(&*loaded?, ids);
    std::fs::remove_dir_all(index)?;
    let mut stages = vec![
        ("read, parse and validate", read),
        ("name the generation", name),
        ("merge, and order by quality and name", order),
        ("write and compress the responses", answers),
        ("analyse the text", analysis),
        ("assign word numbers, build the forward index", words),
        ("index", indexing),
        ("open, to check", check),
        ("persist", persist),
        ("read back, verify and open", verify),
    ];
    stages.extend(answers_of);
    for (name, repeat) in [("each term as often as in the index", Repeat::Code), ("each term once", Repeat::Once)] {
        let merged = Merged::of(read_again()?.set, &scratch, |_, _| {})?;
        let texts = bare::prepare(&merged, repeat);
        let (index, bare) = time(|| bare::index(&texts));
        drop(index?);
        stages.push((name, bare));
    }
    Ok(stages)
}
