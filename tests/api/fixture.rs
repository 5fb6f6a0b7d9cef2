//! A small directory whose records are easy to tell apart: 25 numbered tools, products with odd
//! ids, and two exports.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use software_directory::export::{self, Export, ExportSet, Finding, Limits, Skipped, SourceFile};
use software_directory::generation::{Artifact, Generation, MeaningOption, Processors, Snapshot, build};
use software_directory::record::CalendarDate;
use software_directory::scratch::Scratch;
use software_directory::update::Directory;

/// Ids that are awkward in paths.
pub(crate) const ODD_IDS: [&str; 12] =
    ["a/b", "ends/", "/", ".", "..", "%", "%2F", "a b", "a+b", "?q=1#x", "ünï😀", "\u{0}"];

/// The first export, as written in its file.
pub(crate) fn tools_document() -> String {
    let rated = json!({
        "id": "tool-rated", "name": "Rated Gauge", "url": "https://rated.example/", "tagline": "Measures things",
        "category": "Measuring", "vendor": "Gauge Makers", "standards": ["ISO 9001"], "languages": ["de", "en"],
        "deployment": ["on-premises"], "tags": ["measuring", "tools"], "rating": 4.50, "review_count": 7,
        "evidence_status": "vendor-sources-reviewed", "evidence_checked_on": "2025-03-01",
        "sources": [["Home page", "https://rated.example/about"]],
        "evidence": {
            "vendor": {"source": "Home page", "checked_on": "2025-02-01", "quote": "Made by <Gauge Makers>"},
            "standards": [
                {"source": "Home page"},
                {"source": "https://standards.example/9001", "archived": "https://archive.example/9001"}
            ]
        },
        "serial": 12_345_678_901_234_567_890_u64
    });
    let template = json!({
        "id": "tool-template", "name": "Audit Template", "url": "https://template.example/", "category": "Templates",
        "evidence_status": "pending-review", "offering_type": "document-templates"
    });
    let reviewed = json!({
        "id": "tool-reviewed", "name": "Lockout Planner", "url": "https://lockout.example/",
        "categories": ["Safety", "Tools"], "evidence_status": "pending-review"
    });
    let numbered = (1..=25).map(|number| {
        json!({
            "id": format!("tool-{number:02}"), "name": format!("Tool {number}"),
            "url": format!("https://tool-{number}.example/"), "category": "Tools", "evidence_status": "pending-review"
        })
    });
    let odd = ODD_IDS.iter().enumerate().map(|(at, id)| {
        json!({
            "id": id, "name": format!("Odd {at}"), "url": "https://odd.example/", "evidence_status": "pending-review"
        })
    });
    let software: Vec<Value> = [rated, template, reviewed].into_iter().chain(numbered).chain(odd).collect();
    let document = json!({
        "name": "Tools", "license": "https://creativecommons.org/licenses/by/4.0/", "as_of": "2025-06-30",
        "software": software,
        "categories": [{"name": "Safety", "description": "Staying in one piece"}, {"name": "Empty"}],
        "reviews": [
            {"id": "r1", "software_id": "tool-reviewed", "rating": 5, "title": "Good", "created_at": "2025-01-02"},
            {"id": "r2", "software_id": "tool-reviewed", "rating": 2, "created_at": "2025-02-03T04:05:06Z",
             "author": "Ada", "verified": true}
        ],
        "glossary": [
            {"term": "Lockout tagout", "definition": "Isolating energy before work.", "abbreviations": ["LOTO"],
             "source": {"title": "A handbook", "url": "https://handbook.example/"}},
            {"term": "Near miss", "definition": "An event that nearly harmed someone."}
        ]
    });
    serde_json::to_string_pretty(&document).expect("JSON")
}

/// The second export, with a different licence.
pub(crate) fn extra_document() -> String {
    let document: Value = json!({
        "name": "Extra", "license": "https://opensource.org/license/mit",
        "software": [{"id": "extra", "name": "Extra", "url": "urn:isbn:0451450523", "evidence_status": "pending-review"}]
    });
    document.to_string()
}

/// The number of products.
pub(crate) const PRODUCTS: u64 = 3 + 25 + ODD_IDS.len() as u64 + 1;

/// The directory, built once.
pub(crate) fn directory() -> Arc<Directory> {
    static BUILT: LazyLock<Arc<Snapshot>> =
        LazyLock::new(|| snapshot(&[("tools", &tools_document()), ("extra", &extra_document())]));
    let directory = Directory::default();
    directory.publish(Arc::clone(&BUILT));
    Arc::new(directory)
}

/// A generation of one export that reports these numbers of exports and records as skipped.
pub(crate) fn skipping(skipped: Skipped) -> Arc<Snapshot> {
    let documents = [("extra", &*extra_document())];
    let scratch = Scratch::in_memory();
    let set = ExportSet::of(read(&documents), &scratch).expect("in memory");
    let generation = Generation::of(&set).expect("in memory").skipping(skipped);
    let parts = build(set, &scratch, Processors::One, MeaningOption::On, &mut |_, _| ControlFlow::Continue(()))
        .expect("a generation");
    let artifact = Artifact::read(parts).expect("in memory");
    Snapshot::open(generation, artifact, skipped).expect("a generation")
}

/// A generation of these exports, each given as an id and a document.
pub(crate) fn snapshot(documents: &[(&str, &str)]) -> Arc<Snapshot> {
    Snapshot::build(read(documents)).expect("a generation")
}

/// A generation of the export files in a folder.
pub(crate) fn snapshot_of(folder: &Path) -> Arc<Snapshot> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    Snapshot::build(examine(files.map(|path| SourceFile::open(&path, &Limits::default())).collect()))
        .expect("a generation")
}

fn read(documents: &[(&str, &str)]) -> Vec<Export> {
    let sources = documents
        .iter()
        .map(|(id, document)| SourceFile::from_bytes(Path::new(&format!("{id}.json")), (*document).to_owned().into()))
        .collect();
    examine(sources)
}

fn examine(sources: Vec<Result<SourceFile, Box<Finding>>>) -> Vec<Export> {
    let today = CalendarDate::parse("2026-01-01").expect("a date");
    let report = export::examine(sources, &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    report.exports
}
