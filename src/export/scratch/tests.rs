//! Properties of sets beyond memory: they are read, checked and reported as sets in memory.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::examine_scratch;
use crate::export::{Code, Export, Finding, IdPrefixes, Limits, Report, SourceFile, examine, latest_day};
use crate::record::CalendarDate;
use crate::scratch::Scratch;

/// The findings that only a set in memory reports.
const IN_MEMORY: [Code; 4] = [Code::SharedUrl, Code::SharedName, Code::NearMissCategory, Code::SimilarId];

/// The bytes of rows in memory: nearly all of them are sorted on disk.
const SORT_BYTES: usize = 200;

fn today() -> CalendarDate {
    latest_day(jiff::Timestamp::UNIX_EPOCH)
}

fn files(documents: &[String]) -> impl Iterator<Item = Result<SourceFile, Box<Finding>>> {
    // The order of files and that of ids differ.
    let names = ["a-b.json", "a.json", "b.json", "c.json"];
    names.into_iter().zip(documents).map(|(name, document)| {
        let file = SourceFile::from_bytes(Path::new(name), document.clone().into_bytes().into());
        Ok(file?.prefixed(&IdPrefixes::default()))
    })
}

fn in_memory(documents: &[String]) -> Report {
    let mut report = examine(files(documents).collect(), &Limits::default(), today(), &|_| {});
    report.findings.retain(|finding| !IN_MEMORY.contains(&finding.code));
    report.left_out.retain(|left_out| !IN_MEMORY.contains(&left_out.code));
    report.exports.sort_by(|a, b| a.id.cmp(&b.id));
    report
}

fn external(documents: &[String]) -> (Report, Vec<Export>) {
    let folder = tempfile::tempdir().expect("a folder");
    let scratch = Scratch::with_own_bytes(folder.path(), SORT_BYTES);
    let set = examine_scratch(files(documents), &Limits::default(), today(), &scratch, &|_| {}).expect("read");
    let exports = set.exports().map(|export| export.expect("read"));
    let exports: Vec<_> = exports.collect();
    assert_eq!(exports.len(), set.export_count());
    (set.report, exports)
}

fn compare(documents: &[String]) -> Result<(), TestCaseError> {
    let expected = in_memory(documents);
    let (report, exports) = external(documents);
    prop_assert_eq!(&report.findings, &expected.findings);
    prop_assert_eq!(&report.left_out, &expected.left_out);
    prop_assert_eq!((report.counts, report.skipped), (expected.counts, expected.skipped));
    prop_assert_eq!(format!("{exports:#?}"), format!("{:#?}", expected.exports));
    Ok(())
}

/// A product: of few ids, some without a property that it needs.
fn product() -> impl Strategy<Value = Value> {
    (0..12_u32, 0..12_u32).prop_map(|(id, fault)| {
        let mut product = json!({"id": format!("p{id}"), "name": "A", "url": "https://a.example", "evidence_status": "pending-review"});
        if fault == 0 {
            product["id"] = Value::Null;
        } else if fault == 1 {
            product["url"] = json!("no URL");
        }
        product
    })
}

fn review() -> impl Strategy<Value = Value> {
    (0..16_u32, 0..15_u32, 0..7_u32).prop_map(
        |(id, product, rating)| json!({"id": format!("r{id}"), "software_id": format!("p{product}"), "rating": rating}),
    )
}

fn document() -> impl Strategy<Value = String> {
    let term = (0..4_u32, 0..5_u32).prop_map(
        |(term, related)| json!({"term": format!("T{term}"), "definition": "d", "related": [format!("t{related}")]}),
    );
    let synonyms =
        (0..4_u32, 0..4_u32).prop_map(|(one, other)| json!({"terms": [format!("s{one}"), format!("s{other} x")]}));
    let parts = (
        prop::collection::vec(product(), 0..14),
        prop::collection::vec(review(), 0..10),
        prop::collection::vec(term, 0..3),
        prop::collection::vec(synonyms, 0..3),
        0..20_u32,
    );
    parts.prop_map(|(software, reviews, glossary, synonyms, fault)| {
        let mut document = json!({
            "name": "n", "license": "https://example.org/licence",
            "software": software, "reviews": reviews, "glossary": glossary, "synonyms": synonyms,
        });
        match fault {
            0 => return "{".to_owned(),
            1 => document["license"] = Value::Null,
            2 => document["id_prefix"] = json!("x:"),
            _ => {}
        }
        document.to_string()
    })
}

proptest! {
    #[test]
    fn set_is_read_as_in_memory(documents in prop::collection::vec(document(), 1..5)) {
        compare(&documents)?;
    }
}

#[test]
fn file_that_repeats_another_one_is_one_finding() {
    let products: Vec<_> = (0..300).map(|id| {
        json!({"id": format!("p{id}"), "name": "A", "url": "https://a.example", "evidence_status": "pending-review"})
    }).collect();
    let document = |software: &[Value]| {
        json!({"name": "n", "license": "https://example.org/licence", "software": software}).to_string()
    };
    compare(&[document(&products), document(&products[..200])]).expect("the same");
    let (report, exports) = external(&[document(&products), document(&products[..200])]);
    assert_eq!(report.error_count(), 1, "{:?}", report.findings);
    assert_eq!(report.skipped.records, 200);
    assert_eq!(exports.iter().map(|export| export.software.len()).collect::<Vec<_>>(), [0, 300]);
}

#[test]
fn duplicates_and_orphans_beyond_those_described_are_counted() {
    let products: Vec<_> = (0..150)
        .map(|_| json!({"id": "p", "name": "A", "url": "https://a.example", "evidence_status": "pending-review"}))
        .collect();
    let reviews: Vec<_> = (0..150).map(|id| json!({"id": format!("r{id}"), "software_id": "q", "rating": 3})).collect();
    let document =
        json!({"name": "n", "license": "https://example.org/licence", "software": products, "reviews": reviews});
    compare(&[document.to_string()]).expect("the same");
    let (report, _) = external(&[document.to_string()]);
    let counts = report.code_counts();
    assert_eq!((counts[&Code::DuplicateSoftwareId], counts[&Code::UnknownSoftware]), (149, 150));
    assert_eq!(report.findings.len(), 200, "the first hundred of each are described");
}
