//! Compares the schema layer with an implementation of JSON Schema: they agree on thousands of
//! mutated exports.

pub(crate) mod document;
mod mutation;

use std::cell::Cell;

use self::document::Node;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};
use software_directory::export::{self, Code, Limits, Severity, SourceFile};
use software_directory::record::CalendarDate;

/// The errors in a file with this text, except those from the set layer.
fn errors(text: &str) -> Vec<String> {
    let file = SourceFile::from_bytes("export.json".as_ref(), text.to_owned().into());
    let today = CalendarDate::parse("2025-06-01").expect("a date");
    let report = export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
    let of_set = [Code::DuplicateSoftwareId, Code::DuplicateReviewId, Code::DuplicateTerm, Code::UnknownSoftware];
    let errors = report.findings.iter().filter(|finding| finding.severity() == Severity::Error);
    let of_file = errors.filter(|finding| !of_set.contains(&finding.code));
    of_file
        .map(|finding| format!("{} {}: {}", finding.code.as_str(), finding.location.pointer, finding.message))
        .collect()
}

fn published() -> jsonschema::Validator {
    let schema = serde_json::from_str(export::schema()).expect("the schema is JSON");
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).expect("the schema compiles")
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(202_012), ..ProptestConfig::default() }
}

/// Compares the verdicts on many documents, and checks that enough of them are valid and enough are
/// invalid.
fn assert_agreement(cases: u32, documents: impl Strategy<Value = Node>) {
    let published = published();
    let (valid, invalid) = (Cell::new(0), Cell::new(0));
    let compared = TestRunner::new(config(cases)).run(&documents, |document| {
        let expected = published.is_valid(&document.to_serde());
        let errors = errors(&document.to_string());
        if errors.is_empty() != expected {
            return Err(TestCaseError::fail(format!("the schema says {expected}, we say {errors:?} for {document}")));
        }
        let count = if expected { &valid } else { &invalid };
        count.set(count.get() + 1);
        Ok(())
    });
    if let Err(error) = compared {
        panic!("{error}");
    }
    assert!(valid.get() > cases / 20, "only {} valid documents of {cases}", valid.get());
    assert!(invalid.get() > cases / 20, "only {} invalid documents of {cases}", invalid.get());
}

#[test]
fn the_published_schema_is_a_valid_schema() {
    let schema = serde_json::from_str(export::schema()).expect("the schema is JSON");
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
}

#[test]
fn the_unmutated_export_is_valid() {
    let document = document::valid();
    assert_eq!(errors(&document.to_string()), [""; 0]);
    assert!(published().is_valid(&document.to_serde()));
}

#[test]
fn mutated_exports_get_the_same_verdict_from_the_published_schema() {
    assert_agreement(6_000, mutation::mutated());
}

#[test]
fn odd_addresses_get_the_same_verdict_from_the_published_schema() {
    let with_license = |license: String| {
        let mut document = document::valid();
        document.set("license", Node::text(&license));
        document
    };
    assert_agreement(6_000, mutation::address().prop_map(with_license));
}

#[test]
fn nearly_valid_dates_get_the_same_verdict_from_the_published_schema() {
    let with_date = |date: String| {
        let mut document = document::valid();
        document.first_record().set("evidence_checked_on", Node::text(&date));
        document
    };
    assert_agreement(2_000, mutation::date().prop_map(with_date));
}

/// Compares the verdicts on one document, and returns it.
fn verdict(document: &Node) -> bool {
    let is_valid = errors(&document.to_string()).is_empty();
    assert_eq!(published().is_valid(&document.to_serde()), is_valid);
    is_valid
}

#[test]
fn text_at_its_limit_gets_the_same_verdict_from_the_published_schema() {
    let with = |key: &str, length: usize| {
        let mut document = document::valid();
        document.first_record().set(key, Node::text(&"é ".repeat(length / 2)));
        document
    };
    for key in ["tagline", "unknown"] {
        assert!(verdict(&with(key, 1_000_000)), "{key}");
        assert!(!verdict(&with(key, 1_000_002)), "{key}");
    }
}

#[test]
fn ids_and_addresses_at_their_limit_get_the_same_verdict_from_the_published_schema() {
    let padded = |head: &str, length: usize| Node::text(&format!("{head}{}", "é".repeat(length - head.len())));
    let address = |length: usize| Node::text(&format!("https://a.example/{}", "x".repeat(length - 18)));
    for (key, at_limit, beyond) in [
        ("id", padded("a", 500), padded("a", 501)),
        ("url", address(2_000), address(2_001)),
        ("license", address(2_000), address(2_001)),
        ("repository", address(2_000), address(2_001)),
    ] {
        let with = |value: Node| {
            let mut document = document::valid();
            if key == "license" {
                document.set(key, value);
            } else {
                document.first_record().set(key, value);
            }
            verdict(&document)
        };
        assert_eq!((with(at_limit), with(beyond)), (true, key == "repository"), "{key}");
    }
}

#[test]
fn optional_members_that_cannot_be_used_are_valid() {
    let terms = (0..201).map(|n| format!("\"t{n}\"")).collect::<Vec<_>>().join(",");
    for (key, value) in [
        ("id_prefix", r#""a/""#),
        ("id_prefix", "5"),
        ("attributes", r#"[{"property": "rating", "label": "Stars"}]"#),
        ("attributes", r#"[{"property": "tags", "label": "Topics", "type": "number"}]"#),
        ("attributes", r#"{"property": 7}"#),
        ("synonyms", &format!(r#"[{{"terms": [{terms}]}}]"#)),
    ] {
        let mut document = document::valid();
        document.set(key, Node::parse(value));
        assert!(verdict(&document), "{key}: {value}");
    }
}

#[test]
fn numbers_at_the_limit_get_the_same_verdict_from_the_published_schema() {
    for (number, valid) in [("1.7976931348623157e308", true), ("-1.7976931348623157e308", true)] {
        let mut document = document::valid();
        document.first_record().set("unknown", Node::Raw(number.to_owned()));
        assert_eq!(verdict(&document), valid, "{number}");
    }
    // serde rejects larger numbers.
    let mut document = document::valid();
    document.first_record().set("unknown", Node::Raw("[1e400]".to_owned()));
    assert_eq!(errors(&document.to_string()).len(), 1);
}

#[test]
fn the_schema_for_editors_also_knows_what_is_only_a_warning() {
    let schema = serde_json::from_str(&export::editor_schema()).expect("the schema is JSON");
    let editor = jsonschema::draft202012::options().should_validate_formats(true).build(&schema);
    let (editor, published) = (editor.expect("the schema compiles"), published());
    let data = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).expect("a folder");
    let files = data.map(|entry| entry.expect("an entry").path());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let text = std::fs::read_to_string(&file).expect("a file");
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        if document.get("software").is_some() {
            let errors: Vec<_> = editor.iter_errors(&document).map(|error| error.to_string()).take(3).collect();
            assert_eq!(errors, [""; 0], "{}", file.display());
        }
    }
    let with = |envelope: &str, record: &str| {
        format!(
            r#"{{"name": "N", "license": "https://l.example/"{envelope}, "software": [
            {{"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review"{record}}}]}}"#
        )
    };
    let of_envelope = [
        r#", "pins": [{"queries": ["a"]}]"#,
        r#", "pins": [{"queries": "a", "software": ["a"]}]"#,
        r#", "glossary": [{"term": "LOTO"}]"#,
        r#", "glossary": [{"term": "LOTO", "definition": "d", "source": {"url": "no URI"}}]"#,
        r#", "reviews": [{"id": "r", "software_id": "a", "rating": 9}]"#,
        r#", "categories": [{"description": "d"}]"#,
        r#", "categories": [{"name": "C", "translations": {"de": {"name": 5}}}]"#,
        r#", "synonyms": [{"from": ["a"]}]"#,
        r#", "attributes": [{"property": "a:b", "label": "L"}]"#,
        r#", "attributes": [{"property": "a", "label": "L", "type": "integer"}]"#,
        r#", "attributes": [{"property": "a", "label": "L", "max_age_days": 0}]"#,
        r#", "pins": [{"queries": [""], "software": ["a"]}]"#,
        r#", "glossary": [{"term": "", "definition": "d"}]"#,
        r#", "synonyms": [{"terms": ["a"]}]"#,
        r#", "synonyms": [{"terms": ["a", "b"], "from": ["c"]}]"#,
        r#", "language": "deutsch""#,
        r#", "as_of": "yesterday""#,
        r#", "corrections": "http://a.example/{id}""#,
        r#", "corrections": "https://a.example/{slug}""#,
    ];
    let of_record = [
        r#", "tags": "a, b""#,
        r#", "tags": [5]"#,
        r#", "tagline": 5"#,
        r#", "repository": "no URI""#,
        r#", "rating": 7"#,
        r#", "translations": {"de": "Text"}"#,
        r#", "translations": {"deutsch": {"tagline": "t"}}"#,
        r#", "translations": {"de": {"tag_line": "t"}}"#,
        &format!(r#", "evidence": {{"name": {{"source": "https://a.example/", "quote": "{}"}}}}"#, "q".repeat(501)),
    ];
    let documents = of_envelope.map(|envelope| with(envelope, "")).into_iter();
    let right = r#", "tags": "a", "aliases": ["b"], "tagline": null, "translations": {"de": {"tagline": "t"}}"#;
    assert!(editor.is_valid(&Node::parse(&with("", right)).to_serde()));
    let right = r#", "language": "de-AT", "corrections": "https://a.example/?id={id}", "synonyms": [{"from": ["a"], "to": "b"}]"#;
    assert!(editor.is_valid(&Node::parse(&with(right, "")).to_serde()));
    for document in documents.chain(of_record.map(|record| with("", record))) {
        let value = Node::parse(&document).to_serde();
        assert!(published.is_valid(&value) && !editor.is_valid(&value), "{document}");
    }
}
