//! How well search ranks results, measured against human judgements and composed queries: `make
//! relevance`.
//!
//! Prints nDCG@10 on judged queries, both correctly spelled and misspelled; the share of composed
//! queries that find a product in a relevant category; the share of real misspellings that are
//! corrected to the right word; which names in real exports, when searched for, don't return their
//! product first; and what each weight contributes, by turning it off. Nothing is random, so two
//! runs print the same figures.
//!
//! `cargo bench --bench relevance -- FOLDER [sweep | names]`: FOLDER contains `relevance/`
//! (products.json, queries.tsv, qrels.tsv, typo/), `qhse/`, `typos/` and `exports/`. With `sweep`,
//! each line on standard input is a list of `weight=value`, and the figures for judged and composed
//! queries are printed with these weights. With `names`, only the exports' names are searched.

mod judged;
mod misspelled;
mod names;
mod qhse;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use software_directory::export::{self, ExportSet, IdPrefixes, Limits, Skipped};
use software_directory::generation::{Artifact, Generation, MeaningOption, Processors, Snapshot, build};
use software_directory::scratch::Scratch;
use software_directory::search::Ranking;
use software_directory::service::{PageRequest, SearchPage, SearchSoftware, search_software};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    match run(&folder, arguments.next().as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path, part: Option<&str>) -> Result<(), Failure> {
    let needed =
        ["relevance/products.json", "relevance/queries.tsv", "relevance/qrels.tsv", "relevance/typo/queries.tsv"];
    let needed = needed.into_iter().chain(["qhse/queries.json", "qhse/taxonomy.json", "typos/qhse-typos.tsv"]);
    for file in needed {
        if !folder.join(file).is_file() {
            return Err(format!(
                "there is no {file} in {:?}; name the folder with `make relevance MEASURE_DATA=…`. The judged \
                 queries come from o19s/chorus (Icecat products), the misspellings from Wikipedia; RANKING.md \
                 describes the file formats",
                folder.display().to_string()
            )
            .into());
        }
    }
    let exports = names::exports(&folder.join("exports"))?;
    if part == Some("names") {
        return names::report(&exports);
    }
    let judged = judged::Judged::read(&folder.join("relevance"))?;
    let composed = qhse::Composed::read(&folder.join("qhse"), Built::of(&real())?)?;
    if part == Some("sweep") {
        return judged.sweep(&composed);
    }
    judged.report()?;
    composed.report()?;
    let directory = Built::of(&bundled())?.open(Ranking::default())?;
    misspelled::report(&directory, &folder.join("typos/qhse-typos.tsv"))?;
    judged.ablation(&composed)?;
    names::report(&exports)
}

/// The bundled exports without the fictional products, which are never the right answer.
fn real() -> [PathBuf; 2] {
    ["data/qhse.json", "data/software-terms.json"].map(PathBuf::from)
}

/// The bundled exports.
fn bundled() -> [PathBuf; 3] {
    ["data/qhse.json", "data/software-terms.json", "demo/demo.json"].map(PathBuf::from)
}

/// A generation that has been built and can be opened with different weights.
struct Built {
    generation: Generation,
    artifact: Artifact,
}

impl Built {
    /// Builds a directory from some export files.
    fn of(files: &[PathBuf]) -> Result<Self, Failure> {
        let report = export::read(
            files,
            &Limits::default(),
            &IdPrefixes::default(),
            export::latest_day(jiff::Timestamp::now()),
            &|_, _| {},
        )?;
        if !report.is_valid() {
            return Err(format!("{files:?} aren't valid exports; see `software-directory check`").into());
        }
        let scratch = Scratch::in_memory();
        let set = ExportSet::of(report.exports, &scratch)?;
        let generation = Generation::of(&set)?;
        let parts = build(set, &scratch, Processors::All, MeaningOption::On, &mut |_, _| ControlFlow::Continue(()))?;
        Ok(Self { generation, artifact: Artifact::read(parts)? })
    }

    fn open(&self, ranking: Ranking) -> Result<Arc<Snapshot>, Failure> {
        Ok(Snapshot::open_ranked(self.generation.clone(), self.artifact.clone(), Skipped::default(), ranking)?)
    }
}

/// A query's first 50 hits.
fn search<'s>(snapshot: &'s Snapshot, query: &str, typo: bool) -> Result<SearchPage<'s>, Failure> {
    let query = SearchSoftware { typo, page: PageRequest { limit: 50, offset: 0 }, ..SearchSoftware::new(query) };
    Ok(search_software(snapshot, &query)?)
}

/// A tab-separated file's rows.
fn rows(path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}
