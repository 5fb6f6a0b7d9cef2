//! Checks that sets in scratch files are read, checked and reported like sets in memory.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::ExportSet;
use crate::export::{Code, Finding, IdPrefixes, Limits, Report, SourceFile, latest_day};
use crate::record::CalendarDate;
use crate::scratch::Scratch;

/// How many bytes of rows to keep in memory: few enough that nearly all rows are sorted on disk.
const OWN_BYTES: usize = 200;

fn today() -> CalendarDate {
    latest_day(jiff::Timestamp::UNIX_EPOCH)
}

fn files(documents: &[String]) -> impl Iterator<Item = Result<SourceFile, Box<Finding>>> {
    // File order and id order differ.
    let names = ["a-b.json", "a.json", "b.json", "c.json"];
    names.into_iter().zip(documents).map(|(name, document)| {
        let file = SourceFile::from_bytes(Path::new(name), document.clone().into_bytes().into());
        Ok(file?.prefixed(&IdPrefixes::default()))
    })
}

fn read(documents: &[String], scratch: &Scratch) -> Report {
    let set = ExportSet::read(files(documents), &Limits::default(), today(), scratch, &|_| {}).expect("read");
    let report = set.into_report(&Limits::default()).expect("read");
    let exports = report.exports.len();
    assert_eq!(exports + usize::try_from(report.skipped.exports).expect("few"), report.counts.files);
    report
}

fn compare(documents: &[String]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let report = read(documents, &Scratch::with_own_bytes(folder.path(), OWN_BYTES));
    let expected = read(documents, &Scratch::in_memory());
    prop_assert_eq!(&report.findings, &expected.findings);
    prop_assert_eq!(&report.left_out, &expected.left_out);
    prop_assert_eq!((report.counts, report.skipped), (expected.counts, expected.skipped));
    prop_assert_eq!(format!("{:#?}", report.exports), format!("{:#?}", expected.exports));
    Ok(())
}

/// A product with one of a few ids, possibly lacking a required property.
fn product() -> impl Strategy<Value = Value> {
    (0..12_u32, 0..12_u32, 0..40_u32).prop_map(|(id, fault, other)| {
        let id = if other % 7 == 0 { format!("P{id}") } else { format!("p{id}") };
        let category = ["Scheduling", "Schedulings", "Audit", "Audits", "Permit"][other as usize % 5];
        let tag = ["audit trail", "Audit-Trails", "audit trail, risk", "risk"][other as usize % 4];
        let mut product = json!({
            "id": id, "name": format!("A{}", other % 11), "url": format!("https://a.example/{}", other % 9),
            "evidence_status": "pending-review", "category": category, "tags": [tag],
        });
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
    fn a_set_in_scratch_files_reads_like_one_in_memory(documents in prop::collection::vec(document(), 1..5)) {
        compare(&documents)?;
    }
}

#[test]
fn a_file_that_repeats_another_causes_one_finding() {
    let products: Vec<_> = (0..300).map(|id| {
        json!({"id": format!("p{id}"), "name": "A", "url": "https://a.example", "evidence_status": "pending-review"})
    }).collect();
    let document = |software: &[Value]| {
        json!({"name": "n", "license": "https://example.org/licence", "software": software}).to_string()
    };
    compare(&[document(&products), document(&products[..200])]).expect("the same");
    let report = read(&[document(&products), document(&products[..200])], &Scratch::in_memory());
    assert_eq!(report.error_count(), 1, "{:?}", report.findings);
    assert_eq!(report.skipped.records, 200);
    assert_eq!(report.exports.iter().map(|export| export.software.len()).collect::<Vec<_>>(), [300, 0]);
}

#[test]
fn duplicates_and_orphans_past_the_limit_are_still_counted() {
    let products: Vec<_> = (0..150)
        .map(|_| json!({"id": "p", "name": "A", "url": "https://a.example", "evidence_status": "pending-review"}))
        .collect();
    let reviews: Vec<_> = (0..150).map(|id| json!({"id": format!("r{id}"), "software_id": "q", "rating": 3})).collect();
    let document =
        json!({"name": "n", "license": "https://example.org/licence", "software": products, "reviews": reviews});
    compare(&[document.to_string()]).expect("the same");
    let report = read(&[document.to_string()], &Scratch::in_memory());
    let counts = report.code_counts();
    assert_eq!((counts[&Code::DuplicateSoftwareId], counts[&Code::UnknownSoftware]), (149, 150));
    assert_eq!(report.findings.len(), 200, "the first hundred of each are described");
}
