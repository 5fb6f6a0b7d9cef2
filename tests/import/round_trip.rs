//! What `export` writes is what `import` reads.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use software_directory::curate::tabular::{
    self, Checked, ConvertOptions, Envelope, Mapping, MergeRows, ReadOptions, Table, TableFindings, UpdateOptions,
};
use software_directory::export::{Export, Limits, Severity, SourceFile, examine};
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

fn options(categories: &BTreeMap<String, String>) -> ConvertOptions<'_> {
    ConvertOptions { categories, date_order: None, known: None, fix: false, merge: MergeRows::default() }
}

/// The export created from a table.
fn made(table: &Table) -> String {
    let envelope = Envelope { name: "N".into(), license: "https://l.example/".into() };
    let categories = BTreeMap::new();
    let options = options(&categories);
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

/// A row of a table whose rows share names, addresses and ids, and have blank cells.
fn row() -> impl Strategy<Value = [String; 8]> {
    let of = |values: &'static [&'static str]| proptest::sample::select(values).prop_map(str::to_owned);
    [
        of(&["Micro", "micro", "Micro 2", "MICRO!", "Moss", "C++", "C", ""]).boxed(),
        of(&[
            "https://a.example/",
            "https://a.example",
            "http://www.a.example/",
            "https://b.example/",
            "b.example",
            "nowhere",
        ])
        .boxed(),
        of(&["", "a", "a, b", "b; c", "c, d", "a; d, e", "x"]).boxed(),
        of(&["", "V", "k.A.", "W"]).boxed(),
        of(&["", "31.12.2024", "2024-12-31", "November 2024", "2024-02-31", "soon 2025"]).boxed(),
        of(&["", "4,5", "3", "-"]).boxed(),
        of(&["", "Eins", "Zwei"]).boxed(),
        of(&["", "1", "2,5", "many"]).boxed(),
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
            let options = options(&categories);
            let mut conversion = tabular::convert(&table, &mapping, &options);
            let updated = tabular::update(&export, &table, &mapping, &mut conversion, UpdateOptions { remove_missing: true, ..UpdateOptions::default() }, &mut |_| None);
            let updated = updated.expect("an update");
            prop_assert_eq!(&updated.json, &document, "{}", String::from_utf8_lossy(bytes));
            prop_assert_eq!(updated.cleared, 0);
        }
    }

    #[test]
    fn any_table_that_can_be_imported_updates_its_export_without_a_change(
        rows in proptest::collection::vec(row(), 1..9),
        (fix, merge_rows, unique_ids, valid_rows, attribute) in any::<(bool, bool, bool, bool, bool)>(),
    ) {
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(["Name", "Website", "Tags", "Vendor", "Checked on", "Rating", "tagline:de", "Seats"]).expect("memory");
        for row in &rows {
            csv.write_record(row).expect("memory");
        }
        let csv = csv.into_inner().expect("memory");
        let table = tabular::parse(&csv, "csv", ReadOptions::default(), &|_, _| {});
        let Ok(table) = table else { return Ok(()) };
        let mut mapping = Mapping::propose(&table);
        if attribute {
            mapping.take_attribute(&table, "Seats").expect("a column");
        }
        let categories = BTreeMap::new();
        let options = ConvertOptions { fix, merge: MergeRows::chosen(merge_rows, unique_ids), ..options(&categories) };
        let path = Path::new("x.json");
        let today = CalendarDate::parse("2026-01-01").expect("a day");
        // As the command does: rows with errors are set aside if that's asked for.
        let import = |export: Option<&Export>| {
            let mut conversion = tabular::convert(&table, &mapping, &ConvertOptions { known: export, ..options });
            loop {
                let (json, rows) = match export {
                    None => {
                        let all: Vec<_> = (0..conversion.records.len()).collect();
                        conversion.complete(&table, &mapping, &all, HashMap::new(), unique_ids);
                        let rows = conversion.records.iter().map(|record| Some(record.row)).collect();
                        let envelope = Envelope { name: "N".into(), license: "https://l.example/".into() };
                        (tabular::document(&envelope, &mapping.attributes(&table), &conversion.records), rows)
                    }
                    Some(export) => {
                        let options = UpdateOptions { unique_ids, ..UpdateOptions::default() };
                        let updated = tabular::update(export, &table, &mapping, &mut conversion, options, &mut |_| None);
                        let updated = updated.expect("nothing to ask");
                        (updated.json, updated.rows)
                    }
                };
                let checked = Checked { table: &table, mapping: &mapping, path, json: &json, rows: &rows };
                tabular::check(&checked, today, &mut conversion.findings).expect("memory");
                if conversion.findings.count(Severity::Error).0 == 0 {
                    return Some(json);
                }
                if !valid_rows || !conversion.findings.is_about_rows() {
                    return None;
                }
                let mut rejected = conversion.findings.rejected().clone();
                rejected.extend(tabular::rejected(&checked, today).expect("memory"));
                conversion.records.retain(|record| record.rows().all(|row| !rejected.contains_key(&row)));
                if conversion.records.is_empty() {
                    return None;
                }
                conversion.findings = TableFindings::default();
            }
        };
        if let Some(json) = import(None) {
            let export = read(json.clone());
            prop_assert_eq!(import(Some(&export)), Some(json), "{}", String::from_utf8_lossy(&csv));
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
