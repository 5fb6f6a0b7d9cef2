//! What `export` writes is what `import` reads.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use software_directory::curate::tabular::{self, ConvertOptions, Envelope, Mapping, ReadOptions, Table};
use software_directory::export::{Export, Limits, SourceFile, examine};
use software_directory::record::CalendarDate;

fn read(document: String) -> Export {
    let file = SourceFile::from_bytes(Path::new("x.json"), document.into());
    let today = CalendarDate::parse("2026-01-01").expect("a day");
    let report = examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
    assert!(report.is_valid(), "{:?}", report.findings);
    report.exports.into_iter().next().expect("an export")
}

/// The records' fields, ignoring the order of additional properties.
fn fields(export: &Export) -> Vec<String> {
    let sorted = |software: &software_directory::record::Software| {
        let mut software = software.clone();
        software.additional_properties.sort_by(|a, b| a.0.cmp(&b.0));
        format!("{software:?}")
    };
    export.software.iter().map(sorted).collect()
}

fn imported(table: &[u8], extension: &str) -> Export {
    let table = tabular::parse(table, extension, ReadOptions::default(), &|_, _| {}).expect("a table");
    read(made(&table))
}

/// The export created from a table.
fn made(table: &Table) -> String {
    let envelope = Envelope { name: "N".into(), license: "https://l.example/".into() };
    let categories = BTreeMap::new();
    let options =
        ConvertOptions { categories: &categories, date_order: None, known: None, fix: false, unique_ids: false };
    let mapping = Mapping::propose(table);
    let mut conversion = tabular::convert(table, &mapping, &options);
    let all: Vec<_> = (0..conversion.records.len()).collect();
    conversion.complete(table, &mapping, &all, HashMap::new(), false);
    tabular::document(&envelope, &[], &conversion.records)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[='+@;|\\\\,\"\n\r\t <>#é-]{0,4}",
        Just("#N/A".to_owned()),
        Just("n/a".to_owned()),
        Just("a, a".to_owned()),
        Just("31.12.2024".to_owned())
    ]
}

fn evidence() -> impl Strategy<Value = Value> {
    let date = prop_oneof![Just("2025-01-31".to_owned()), Just("31.12.2024".to_owned()), Just("2025-02-30".to_owned())];
    (0..6_usize, text(), date).prop_map(|(shape, text, date)| {
        let source = json!({"source": "https://s.example/", "checked_on": date, "quote": text});
        match shape {
            0 => json!({"url": source}),
            1 => json!({"tagline": source, "name": {"source": text}}),
            2 => json!({"url": [source, {"source": "https://t.example/"}]}),
            3 => json!({"url": source, "a.b;": {"source": "https://s.example/", "page": 3}}),
            4 => json!(text),
            _ => json!({}),
        }
    })
}

fn product() -> impl Strategy<Value = Value> {
    let texts = || proptest::collection::vec(text(), 0..3);
    (text(), texts(), texts(), text(), proptest::option::of(-5.0..9.0_f64), "[a-z: \";=]{1,3}", any::<bool>(), evidence()).prop_map(
        |(tagline, tags, labels, name, rating, key, unusable, evidence)| {
            let sources: Vec<_> = labels.iter().map(|label| json!([label, "https://s.example/?a=1;b"])).collect();
            let mut product = json!({"name": format!("n{name}"), "url": "https://a.example/;x", "tags": tags,
                "evidence_status": "pending-review", "tagline": if unusable { json!(5) } else { json!(tagline) },
                "rating": rating, "translations": {"de": {"tagline": "; =x\n ", "name": "ä"}}, key: {"a": [1.5, null, "x"]}});
            product["evidence"] = evidence;
            if !sources.is_empty() {
                product["sources"] = json!(sources);
            }
            product
        },
    )
}

proptest! {
    #[test]
    fn records_survive_csv_and_ndjson(products in proptest::collection::vec(product(), 1..6)) {
        let numbered: Vec<_> = products.into_iter().enumerate().map(|(n, mut product)| {
            product["id"] = json!(format!("-{n}"));
            product
        }).collect();
        let export = read(json!({"name": "N", "license": "https://l.example/", "software": numbered}).to_string());
        let mut csv = Vec::new();
        tabular::write_csv(&export, &mut csv).expect("memory");
        prop_assert_eq!(fields(&imported(&csv, "csv")), fields(&export), "{}", String::from_utf8_lossy(&csv));
        let mut ndjson = Vec::new();
        tabular::write_ndjson(&export, &mut ndjson).expect("memory");
        prop_assert_eq!(fields(&imported(&ndjson, "ndjson")), fields(&export));
    }

    #[test]
    fn an_update_with_its_own_table_changes_nothing(products in proptest::collection::vec(product(), 1..6)) {
        let numbered: Vec<_> = products.into_iter().enumerate().map(|(n, mut product)| {
            product["id"] = json!(format!("-{n}"));
            product
        }).collect();
        let document = json!({"name": "N", "license": "https://l.example/", "software": numbered, "glossary": []});
        let document = serde_json::to_string_pretty(&document).expect("JSON");
        let export = read(document.clone());
        let (mut csv, mut ndjson) = (Vec::new(), Vec::new());
        tabular::write_csv(&export, &mut csv).expect("memory");
        tabular::write_ndjson(&export, &mut ndjson).expect("memory");
        for (bytes, extension) in [(&csv, "csv"), (&ndjson, "ndjson")] {
            let table = tabular::parse(bytes, extension, ReadOptions::default(), &|_, _| {}).expect("a table");
            let mapping = Mapping::propose(&table);
            let categories = BTreeMap::new();
            let options =
                ConvertOptions { categories: &categories, date_order: None, known: None, fix: false, unique_ids: false };
            let mut conversion = tabular::convert(&table, &mapping, &options);
            let updated = tabular::update(&export, &table, &mapping, &mut conversion, (true, false), &mut |_| None);
            let updated = updated.expect("an update");
            prop_assert_eq!(&updated.json, &document, "{}", String::from_utf8_lossy(bytes));
            prop_assert_eq!(updated.cleared, 0);
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0..4_usize) {
        let extension = ["csv", "ndjson", "xlsx", "json"][kind];
        let bytes = if kind == 2 { [b"PK\x03\x04", &bytes[..]].concat() } else { bytes };
        if let Ok(table) = tabular::parse(&bytes, extension, ReadOptions::default(), &|_, _| {}) {
            made(&table);
        }
    }
}

#[test]
fn no_cell_is_a_formula() {
    let product = json!({"id": "=1", "name": "+1", "url": "https://a.example/", "tagline": "x;=1", "tags": ["-a", "-b"],
        "evidence_status": "pending-review", "n;=1": -5, "m": "y\t@z;=1"});
    let export = read(json!({"name": "N", "license": "https://l.example/", "software": [product]}).to_string());
    let mut csv = Vec::new();
    tabular::write_csv(&export, &mut csv).expect("memory");
    let text = String::from_utf8(csv).expect("text");
    let expected = [
        "id,name,url,evidence_status,tagline,tags,json:m,json:n;'=1",
        "'=1,'+1,https://a.example/,pending-review,x;'=1,'-a; '-b,\"\"\"y\\t@z;'=1\"\"\",'-5",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn evidence_has_columns_unless_a_property_has_several_sources() {
    let product = |evidence: Value| {
        json!({"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review",
            "pricing": "5", "a.b": 1, "sources": [["Docs", "https://a.example/docs"]], "evidence": evidence})
    };
    let csv = |evidence| {
        let document = json!({"name": "N", "license": "https://l.example/", "software": [product(evidence)]});
        let mut csv = Vec::new();
        tabular::write_csv(&read(document.to_string()), &mut csv).expect("memory");
        String::from_utf8(csv).expect("text")
    };
    let one = csv(json!({"pricing": {"source": "Docs", "checked_on": "2025-03-01"}, "a.b": {"source": "Docs"}}));
    let heads = one.lines().next().expect("a header");
    assert!(heads.contains(",evidence.a.b.source,evidence.pricing.checked_on,evidence.pricing.source,"), "{heads}");
    assert!(one.contains(",Docs,2025-03-01,Docs,"), "{one}");
    let several = csv(json!({"pricing": [{"source": "Docs"}, {"source": "https://b.example/"}]}));
    assert!(several.lines().next().expect("a header").contains(",json:evidence,"), "{several}");
}
