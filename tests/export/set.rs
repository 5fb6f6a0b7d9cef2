//! The set layer: what files must agree on, what remains when invalid parts are skipped, and advice
//! that involves several files.

use super::found::found;
use super::reading::{envelope, examine, record};
use software_directory::export::{Export, Report};

fn ids(export: &Export) -> Vec<&str> {
    export.software.iter().map(|software| &*software.id).collect()
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// The records that the products' spans point to in the document.
fn spanned(export: &Export) -> Vec<serde_json::Value> {
    let parse =
        |span: &std::ops::Range<usize>| serde_json::from_slice(&export.document[span.clone()]).expect("a record");
    export.software_spans.iter().map(parse).collect()
}

#[test]
fn a_product_id_in_two_files_is_reported_with_both_locations() {
    let one = envelope(&format!(r#""software": [{}]"#, record("a", "")));
    let two = envelope(&format!("\n\"software\": [{}, {}]", record("b", ""), record("a", "")));
    let report = examine(&[("data/one.json", &one), ("data/two.json", &two)]);
    assert_eq!(found(&report), [("duplicate_software_id", "\"a\"".to_owned(), "/software/1/id".to_owned())]);
    let finding = &report.findings[0];
    assert_eq!(finding.location.file.to_str(), Some("data/two.json"));
    assert_eq!(finding.location.place.as_ref().map(|place| place.line), Some(2));
    assert_eq!(finding.related[0].location.file.to_str(), Some("data/one.json"));
    assert_eq!(finding.related[0].location.pointer, "/software/0/id");
    assert!(!report.is_valid());
}

#[test]
fn the_first_valid_definition_is_kept() {
    let broken = r#"{"id": "a", "name": "", "url": "https://a.example/", "evidence_status": "pending-review"}"#;
    let text =
        envelope(&format!(r#""software": [{broken}, {}, {}]"#, record("a", r#", "n": 1"#), record("a", r#", "n": 2"#)));
    let report = examine(&[("x.json", &text)]);
    assert_eq!(codes(&report), ["empty_text", "duplicate_software_id", "duplicate_software_id"]);
    assert_eq!(spanned(&report.exports[0])[0]["n"], 1);
    assert_eq!(report.exports[0].software.len(), 1);
}

#[test]
fn a_review_needs_a_unique_id_and_an_existing_product() {
    let reviews = r#""reviews": [
        {"id": "r", "software_id": "a", "rating": 5}, {"id": "r", "software_id": "a", "rating": 4},
        {"id": "s", "software_id": "zzz", "rating": 3}
    ]"#;
    let text = envelope(&format!(r#""software": [{}], {reviews}"#, record("a", "")));
    let report = examine(&[("x.json", &text)]);
    let expected =
        [("duplicate_review_id", "\"r\"", "/reviews/1/id"), ("unknown_software", "\"zzz\"", "/reviews/2/software_id")];
    assert_eq!(found(&report), expected.map(|(code, text, pointer)| (code, text.to_owned(), pointer.to_owned())));
    let left: Vec<_> = report.exports[0].reviews.iter().map(|review| review.rating).collect();
    assert_eq!(left, [5]);
}

#[test]
fn a_review_may_be_in_a_different_file_from_its_product() {
    let products = envelope(&format!(r#""software": [{}]"#, record("a", "")));
    let reviews = envelope(r#""software": [], "reviews": [{"id": "r", "software_id": "a", "rating": 5}]"#);
    assert_eq!(found(&examine(&[("p.json", &products), ("r.json", &reviews)])), []);
}

#[test]
fn a_review_is_left_out_with_its_product_without_a_separate_error() {
    let broken = r#"{"id": "a", "name": "", "url": "https://a.example/", "evidence_status": "pending-review"}"#;
    let text =
        envelope(&format!(r#""software": [{broken}], "reviews": [{{"id": "r", "software_id": "a", "rating": 5}}]"#));
    let report = examine(&[("x.json", &text)]);
    assert_eq!(codes(&report), ["empty_text", "review_without_product"]);
    assert_eq!((report.error_count(), report.warning_count()), (1, 1));
    assert!(report.exports[0].reviews.is_empty());
}

#[test]
fn reviews_of_products_in_an_unreadable_file_are_not_errors() {
    let reviews = envelope(r#""software": [], "reviews": [{"id": "r", "software_id": "a", "rating": 5}]"#);
    let report = examine(&[("p.json", "{\"name\": "), ("r.json", &reviews)]);
    assert_eq!(codes(&report), ["truncated", "review_without_product"]);
}

#[test]
fn reviews_left_out_with_one_product_are_reported_as_one_finding() {
    let broken = record("a", "").replace("https://a.example/", "a");
    let reviews = ["a", "a", "a", "no", "no"].iter().enumerate();
    let reviews: Vec<_> =
        reviews.map(|(n, id)| format!(r#"{{"id": "r{n}", "software_id": "{id}", "rating": 5}}"#)).collect();
    let text = envelope(&format!(r#""software": [{broken}], "reviews": [{}]"#, reviews.join(", ")));
    let report = examine(&[("x.json", &text)]);
    let unknown = "there is no product `no` in the directory";
    let messages: Vec<_> = report.findings.iter().skip(1).map(|finding| &*finding.message).collect();
    let left_out = "this review is left out because its product `a` is left out; 2 more reviews are about this product";
    assert_eq!(messages, [left_out, unknown, unknown], "reviews of unknown products are separate errors");
    assert_eq!(report.skipped.records, 6);
}

#[test]
fn a_review_of_a_product_with_an_invalid_id_is_not_a_separate_error() {
    let reviews = r#""reviews": [{"id": "r", "software_id": "a", "rating": 5}]"#;
    for id in [r#""id": 7"#, r#""Id": "a""#] {
        let product = record("a", "").replace(r#""id": "a""#, id);
        let report = examine(&[("x.json", &envelope(&format!(r#""software": [{product}], {reviews}"#)))]);
        assert_eq!((report.error_count(), report.warning_count()), (1, 1), "{id}");
        assert!(codes(&report).contains(&"review_without_product"), "{id}");
    }
    let others = envelope(&format!(r#""software": [{}], {reviews}"#, record("b", "")));
    assert_eq!(codes(&examine(&[("x.json", &others)])), ["unknown_software"]);
}

#[test]
fn a_glossary_term_has_only_one_definition() {
    let one = envelope(r#""software": [], "glossary": [{"term": "Near-miss", "definition": "first"}]"#);
    let two = envelope(r#""software": [], "glossary": [{"term": "near miss", "definition": "second"}]"#);
    let report = examine(&[("1.json", &one), ("2.json", &two)]);
    assert_eq!(found(&report), [("duplicate_term", "\"near miss\"".to_owned(), "/glossary/0/term".to_owned())]);
    assert_eq!(report.exports[0].glossary.len() + report.exports[1].glossary.len(), 1);
}

/// An export with products, each with a review, a term and a synonym group.
fn copied(products: std::ops::Range<usize>) -> String {
    let list = |element: &dyn Fn(usize) -> String| products.clone().map(element).collect::<Vec<_>>().join(", ");
    envelope(&format!(
        r#""software": [{}], "reviews": [{}], "glossary": [{}], "synonyms": [{}]"#,
        list(&|n| record(&format!("p{n}"), "")),
        list(&|n| format!(r#"{{"id": "r{n}", "software_id": "p{n}", "rating": 5}}"#)),
        list(&|n| format!(r#"{{"term": "T{n}", "definition": "d"}}"#)),
        list(&|n| format!(r#"{{"terms": ["a{n}", "b{n}"]}}"#)),
    ))
}

#[test]
fn a_copied_file_causes_one_finding() {
    let text = copied(0..12);
    let report = examine(&[("demo.json", &text), ("slow.json", &text)]);
    let errors: Vec<_> = report.findings.iter().map(|finding| (finding.code.as_str(), &*finding.message)).collect();
    let copy = ("duplicate_software_id", "`slow.json` repeats all 12 product ids in `demo.json`");
    assert_eq!(
        errors.iter().filter(|found| found.0 != "shared_url" && found.0 != "shared_name").collect::<Vec<_>>(),
        [&copy]
    );
    assert_eq!(report.exports[0].software.len() + report.exports[1].software.len(), 12);
}

#[test]
fn a_file_that_repeats_part_of_another_causes_one_finding() {
    let report = examine(&[("a.json", &copied(0..20)), ("b.json", &copied(10..20))]);
    let messages: Vec<_> = report.findings.iter().map(|finding| &*finding.message).collect();
    assert!(messages.contains(&"`b.json` repeats 10 of the 20 product ids in `a.json`"), "{messages:?}");
    assert_eq!(report.error_count(), 1);
    let report = examine(&[("a.json", &copied(0..20)), ("b.json", &copied(10..30))]);
    assert_eq!(report.error_count(), 30, "repeating half of a file doesn't count as a repetition");
}

#[test]
fn two_files_with_the_same_name_are_an_error() {
    let [text, other] = ["a", "b"].map(|id| envelope(&format!(r#""software": [{}]"#, record(id, ""))));
    let report = examine(&[("a/x.json", &text), ("b/x.json", &other)]);
    assert_eq!(codes(&report), ["duplicate_export_id"]);
    assert_eq!(report.findings[0].location.file.to_str(), Some("b/x.json"));
    assert_eq!(report.findings[0].related[0].location.file.to_str(), Some("a/x.json"));
    assert_eq!(report.exports.len(), 1);
}

#[test]
fn a_document_without_skipped_records_is_the_file_itself() {
    let text = envelope(&format!("\"software\" :\t[ {} ,\n {} ] ", record("a", ""), record("b", "")));
    let report = examine(&[("x.json", &text)]);
    assert!(report.is_valid());
    assert_eq!(report.exports[0].document, text.as_bytes());
    assert_eq!(ids(&report.exports[0]), ["a", "b"]);
    assert_eq!(spanned(&report.exports[0])[1]["id"], "b");
}

#[test]
fn skipped_records_are_cut_out_of_the_document_and_nothing_else() {
    let bad = r#"{"id": "bad"}"#;
    let (a, b) = (record("a", r#", "x": [1.50, "\u0041"]"#), record("b", ""));
    let text = envelope(&format!("\"software\" : [ {bad},  {a} ,\n\t{bad} , {bad}, {b},{bad} ], \"odd\" : [ 1 ]"));
    let report = examine(&[("x.json", &text)]);
    assert!(!report.is_valid());
    let export = &report.exports[0];
    let expected = envelope(&format!("\"software\" : [ {a}, {b} ], \"odd\" : [ 1 ]"));
    assert_eq!(std::str::from_utf8(&export.document), Ok(&*expected));
    assert_eq!(spanned(export).iter().map(|record| record["id"].clone()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((report.counts.records, report.counts.skipped_records), (6, 4));
}

#[test]
fn an_error_inside_a_record_drops_the_record_and_one_outside_drops_the_file() {
    let twice =
        r#"{"id": "a", "id": "b", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review"}"#;
    let inside = envelope(&format!(r#""software": [{twice}, {}]"#, record("c", "")));
    let report = examine(&[("x.json", &inside)]);
    assert_eq!(codes(&report), ["duplicate_key"]);
    assert_eq!(ids(&report.exports[0]), ["c"]);

    let outside = r#""x": {"k": 1, "k": 2}"#;
    let software = format!(r#""software": [{}]"#, record("c", ""));
    for rest in [format!("{outside}, {software}"), format!("{software}, {outside}")] {
        let report = examine(&[("x.json", &envelope(&rest))]);
        assert_eq!(codes(&report), ["duplicate_key"]);
        assert!(report.exports.is_empty());
    }
}

#[test]
fn errors_in_all_layers_and_files_are_reported_at_once() {
    let one = envelope(&format!(r#""software": [{}, {{"id": 1}}], "as_of": 5"#, record("a", "")));
    let two = envelope(&format!(r#""software": [{}, NaN]"#, record("a", "")));
    let report = examine(&[("1.json", &one), ("2.json", &two), ("3.json", "")]);
    let expected = [
        "missing_property",
        "missing_property",
        "missing_property",
        "wrong_type",
        "wrong_type",
        "duplicate_software_id",
        "invalid_literal",
        "empty_file",
    ];
    assert_eq!(codes(&report), expected);
}

#[test]
fn shared_addresses_and_names_are_summarised() {
    let twin = |id: &str| {
        format!(
            r#"{{"id": "{id}", "name": "Twin", "url": "https://twin.example/", "evidence_status": "pending-review"}}"#
        )
    };
    let records = (0..500).map(|n| twin(&format!("p{n}"))).collect::<Vec<_>>().join(", ");
    let report = examine(&[("x.json", &envelope(&format!(r#""software": [{records}]"#)))]);
    assert!(report.is_valid());
    assert_eq!(codes(&report), ["shared_name", "shared_url"]);
    assert_eq!(report.findings[0].message, "1 name is shared by 500 products (first: `Twin`)");
}

#[test]
fn related_terms_may_be_named_by_abbreviation_or_synonym() {
    let glossary = r#""software": [], "glossary": [
        {"term": "Corrective action", "definition": "d", "abbreviations": ["CA"], "synonyms": ["mending"]},
        {"term": "Audit", "definition": "d", "related": ["CA", "Mending", "corrective action", "unheard of"]}
    ]"#;
    let report = examine(&[("x.json", &envelope(glossary))]);
    assert_eq!(
        found(&report),
        [("unknown_related_term", "\"unheard of\"".to_owned(), "/glossary/1/related".to_owned())]
    );
}

#[test]
fn a_term_in_two_synonym_groups_causes_a_warning() {
    let synonyms = r#""software": [], "synonyms": [
        {"terms": ["EHS", "HSE"]}, {"terms": ["hse", "SHE"]}, {"from": ["HSE"], "to": "SHEQ"}, {"ambiguous": ["SHE"]}
    ]"#;
    let report = examine(&[("x.json", &envelope(synonyms))]);
    assert_eq!(codes(&report), ["overlapping_synonyms"]);
    assert_eq!(report.findings[0].related[0].location.pointer, "/synonyms/0/terms");
    assert_eq!(report.exports[0].synonyms.len(), 4);
}

#[test]
fn a_prefix_is_prepended_to_product_and_review_ids() {
    let reviews = r#""reviews": [
        {"id": "r", "software_id": "a", "rating": 5}, {"id": "s", "software_id": "b:a", "rating": 4},
        {"id": "t", "software_id": "c", "rating": 3}
    ]"#;
    let b = envelope(&format!(r#""id_prefix": "b:", "software": [{}], {reviews}"#, record("a", "")));
    let c = envelope(
        r#""software": [{"id": "a", "name": "other", "url": "https://x.example/", "evidence_status": "pending-review"},
        {"id": "c", "name": "C", "url": "https://c.example/", "evidence_status": "pending-review"}],
        "reviews": [{"id": "r", "software_id": "b:a", "rating": 1}]"#,
    );
    let report = examine(&[("b.json", &b), ("c.json", &c)]);
    assert_eq!(codes(&report), [""; 0], "{:?}", report.findings);
    let reviews = |export: &Export| {
        export.reviews.iter().map(|review| format!("{} of {}", review.id, review.software_id)).collect::<Vec<_>>()
    };
    assert_eq!(ids(&report.exports[0]), ["b:a"]);
    assert_eq!(reviews(&report.exports[0]), ["b:r of b:a", "b:s of b:a", "b:t of c"]);
    assert_eq!(ids(&report.exports[1]), ["a", "c"]);
    assert_eq!(reviews(&report.exports[1]), ["r of b:a"], "a review in another export uses the full id");
    assert_eq!(spanned(&report.exports[0])[0]["id"], "a", "the document doesn't change");
}

#[test]
fn an_unusable_prefix_is_reported() {
    let export = |prefix: &str| {
        let text = envelope(&format!(r#""id_prefix": {prefix}, "software": [{}]"#, record("a", "")));
        let report = examine(&[("x.json", &text)]);
        let ids = report.exports.first().map(|export| ids(export).join(","));
        (codes(&report).join(","), ids)
    };
    for unusable in [r#""dpg/""#, r#""""#, "5"] {
        assert_eq!(export(unusable), ("entry_left_out".to_owned(), Some("a".to_owned())), "{unusable}");
    }
    assert_eq!(export("null"), (String::new(), Some("a".to_owned())));
    assert_eq!(export(r#""dpg:""#), (String::new(), Some("dpg:a".to_owned())));
}

#[test]
fn the_fix_for_an_id_in_two_exports_is_a_prefix() {
    let (one, other) = (envelope(&format!(r#""software": [{}]"#, record("a", ""))), record("a", ""));
    let report = examine(&[("one.json", &one), ("my dpg.json", &one)]);
    assert!(report.findings[0].help.contains(r#"`"id_prefix": "mydpg:"`"#), "{}", report.findings[0].help);
    assert!(report.findings[0].help.contains("`--id-prefix my dpg=mydpg:`"), "{}", report.findings[0].help);
    let twice = envelope(&format!(r#""software": [{other}, {other}]"#));
    let help = &examine(&[("one.json", &twice)]).findings[0].help;
    assert!(!help.contains("prefix"), "a prefix can't distinguish records in the same export: {help}");
}

#[test]
fn urls_of_the_same_website_count_as_shared_however_they_are_written() {
    let product = |id: &str, url: &str| {
        format!(r#"{{"id": "{id}", "name": "{id}", "url": "{url}", "evidence_status": "pending-review"}}"#)
    };
    let one = product("a", "https://www.a.example/?utm_source=list");
    let same = examine(&[
        ("one.json", &envelope(&format!(r#""software": [{one}]"#))),
        ("two.json", &envelope(&format!(r#""software": [{}]"#, product("b", "http://A.example")))),
    ]);
    assert_eq!(codes(&same), ["shared_url"]);
    assert!(same.findings[0].message.starts_with("1 URL is shared by 2 products"), "{:?}", same.findings);
    let other = examine(&[
        ("one.json", &envelope(&format!(r#""software": [{one}]"#))),
        ("two.json", &envelope(&format!(r#""software": [{}]"#, product("b", "http://a.example/b")))),
    ]);
    assert_eq!(codes(&other), [""; 0]);
}

#[test]
fn values_in_two_spellings_and_lists_with_commas_are_reported() {
    let product = |id: &str, more: &str| record(id, &format!(", {more}"));
    let check = |products: &[String]| {
        found(&examine(&[("x.json", &envelope(&format!(r#""software": [{}]"#, products.join(", "))))]))
    };
    let variants = check(&[
        product("a", r#""category": "Energiemanagement", "tags": ["Audit"]"#),
        product("b", r#""category": "Energiemanagement", "tags": ["Audit", "ISO 9001"]"#),
        product("c", r#""category": "Energie Management", "tags": ["Audits", "ISO9001", "iso 9001"]"#),
    ]);
    let expected = [
        ("spelling_variant", "\"Energie Management\"", "/software/2/category"),
        ("spelling_variant", "\"Audits\"", "/software/2/tags/0"),
        ("spelling_variant", "\"ISO9001\"", "/software/2/tags/1"),
    ];
    assert_eq!(variants, expected.map(|(code, text, pointer)| (code, text.to_owned(), pointer.to_owned())));
    let lists = check(&[
        product("a", r#""tags": ["audit, ledger, iso"], "category": "Audits, Permits""#),
        product("b", r#""tags": ["class", "clas"], "category": "Audits""#),
        product("c", r#""category": "Quality, safety and environment""#),
    ]);
    let codes: Vec<_> = lists.iter().map(|(code, _, pointer)| (*code, pointer.as_str())).collect();
    assert_eq!(codes, [("comma_list", "/software/0/tags/0"), ("comma_list", "/software/0/category")]);
}

#[test]
fn a_list_written_as_one_string_and_a_file_of_keys_are_recognised() {
    let text = envelope(&format!(
        r#""software": [{}, {}]"#,
        record("a", r#", "tags": "a, b""#),
        record("b", r#", "tags": "a b""#)
    ));
    let report = examine(&[("x.json", &text)]);
    let found: Vec<_> =
        report.findings.iter().filter(|finding| finding.code == software_directory::export::Code::CommaList).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].location.pointer, report.is_valid()), ("/software/0/tags", true));
    let report = examine(&[("keys.json", r#"{"keys": []}"#)]);
    let messages: Vec<_> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(messages, ["this is a file of API keys, not an export"]);
}

#[test]
fn pins_of_unknown_products_and_repeated_queries_cause_warnings() {
    let pins = r#""pins": [
        {"queries": ["audit"], "software": ["a", "zzz"]}, {"queries": ["AUDIT", "check"], "software": ["b"]}
    ]"#;
    let text = envelope(&format!(r#""software": [{}, {}], {pins}"#, record("a", ""), record("b", "")));
    let report = examine(&[("x.json", &text)]);
    assert!(report.is_valid());
    let mut found = found(&report);
    found.sort();
    let expected = [
        ("overlapping_pins", r#"{"queries": ["AUDIT", "check"], "software": ["b"]}"#, "/pins/1/queries"),
        ("unknown_pinned_software", "\"zzz\"", "/pins/0/software"),
    ];
    assert_eq!(found.len(), 2, "{found:?}");
    for ((code, _, pointer), expected) in found.iter().zip(expected) {
        assert_eq!((*code, &**pointer), (expected.0, expected.2));
    }
    assert_eq!(report.exports[0].pins.len(), 2);
}

#[test]
fn declarations_of_an_attribute_must_agree() {
    let attributes = |attributes: &str| envelope(&format!("\n\"software\": [], \"attributes\": [{attributes}]"));
    let price = r#"{"property": "price", "label": "Price", "type": "number"}"#;
    let other = r#"{"property": "price", "label": "Price", "type": "text"}"#;
    let (one, two) = (attributes(price), attributes(&format!(r#"{{"property": "tags", "label": "Topics"}}, {other}"#)));
    let report = examine(&[("one.json", &one), ("two.json", &two)]);
    assert_eq!(found(&report), [("differing_attribute", "\"price\"".to_owned(), "/attributes/1/property".to_owned())]);
    assert_eq!(report.findings[0].related[0].location.pointer, "/attributes/0/property");
    assert_eq!(report.findings[0].related[0].location.file.to_str(), Some("one.json"));
    assert!(!report.is_valid());
    assert_eq!(report.exports.iter().map(|export| export.attributes.len()).collect::<Vec<_>>(), [1, 1]);
    assert!(examine(&[("one.json", &one), ("two.json", &one)]).findings.is_empty());
}

#[test]
fn a_directory_has_at_most_64_attributes() {
    let attributes = |range: std::ops::Range<usize>| {
        let attributes = range.map(|n| format!(r#"{{"property": "p{n}", "label": "P"}}"#)).collect::<Vec<_>>();
        envelope(&format!(r#""software": [], "attributes": [{}]"#, attributes.join(",")))
    };
    let all = |end: usize| examine(&[("one.json", &attributes(0..40)), ("two.json", &attributes(30..end))]);
    assert!(all(59).findings.is_empty());
    assert_eq!(found(&all(60)), [("too_many_attributes", "\"p59\"".to_owned(), "/attributes/29/property".to_owned())]);
}

#[test]
fn a_value_of_the_wrong_type_causes_a_warning_with_its_location() {
    let attributes = r#""attributes": [{"property": "price", "label": "Price", "type": "number"}, {"property": "tags", "label": "Topics"}]"#;
    let first = envelope(&format!(
        r#""software": [{}, {}, {}, {}]"#,
        record("a", r#", "price": "10""#),
        record("b", r#", "price": 10"#),
        record("c", r#", "price": null"#),
        record("d", r#", "price": [10], "other": {}"#),
    ));
    let second = envelope(&format!(r#""software": [{}], {attributes}"#, record("e", r#", "price": true"#)));
    let report = examine(&[("one.json", &first), ("two.json", &second)]);
    let expected = [("\"10\"", "/software/0/price"), ("true", "/software/0/price")];
    let expected = expected.map(|(text, pointer)| ("wrong_attribute_value", text.to_owned(), pointer.to_owned()));
    assert_eq!(found(&report), expected);
    assert!(report.findings[0].message.starts_with("2 values of `price` aren't a number"), "{:?}", report.findings[0]);
    assert_eq!(report.findings[0].related[0].location.pointer, "/software/3/price");
    assert!(report.is_valid());
}

#[test]
fn attributes_that_cannot_be_used_are_left_out() {
    let attributes =
        |attributes: &str| examine(&[("x.json", &envelope(&format!(r#""software": [], "attributes": {attributes}"#)))]);
    for entry in [
        "7",
        r#"{"property": "a"}"#,
        r#"{"property": "", "label": "A"}"#,
        r#"{"property": "a:b", "label": "A"}"#,
        r#"{"property": "a", "label": "A", "type": "integer"}"#,
        r#"{"property": "a", "label": "A", "unit": 7}"#,
        r#"{"property": "a", "label": "A", "hidden": "no"}"#,
        r#"{"property": "url", "label": "Site"}"#,
        r#"{"property": "tags", "label": "T", "type": "date"}"#,
    ] {
        let report = attributes(&format!(r#"[{entry}, {{"property": "b", "label": "B"}}]"#));
        assert_eq!(codes(&report), ["entry_left_out"], "{entry}");
        assert_eq!(report.exports[0].attributes.len(), 1, "{entry}");
    }
    assert_eq!(codes(&attributes(r#"{"property": "a"}"#)), ["no_records", "entry_left_out"]);
}

#[test]
fn an_attribute_with_too_many_values_causes_a_warning() {
    let values = |count: usize| (0..count).map(|n| format!("\"v {n}\"")).collect::<Vec<_>>().join(",");
    let all = |count: usize| {
        // Different spellings of a value count as one.
        let more = record("b", r#", "keys": ["V0", "v-1"]"#);
        let products =
            format!(r#""software": [{}, {more}]"#, record("a", &format!(r#", "keys": [{}]"#, values(count))));
        let attributes = r#""attributes": [{"property": "keys", "label": "Keys"}]"#;
        examine(&[("one.json", &envelope(&format!("{products}, {attributes}")))])
    };
    assert!(all(100_000).findings.is_empty());
    let report = all(100_001);
    assert_eq!(found(&report), [("too_many_values", "\"keys\"".to_owned(), "/attributes/0/property".to_owned())]);
    assert!(report.is_valid());
}

/// Numbered products, each with the properties that `properties` returns for its number.
fn products(count: usize, properties: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| record(&format!("p{n}"), &properties(n))).collect::<Vec<_>>().join(",")
}

#[test]
fn properties_that_most_products_have_are_proposed_as_attributes() {
    let licence = |n: usize| ["MIT", "GPL-3.0", "Apache-2.0"][n % 3];
    let software = products(20, |n| {
        let price = if n < 10 { format!(r#", "price_per_seat": {n}"#) } else { String::new() };
        let platforms = if n % 2 == 0 { r#""Linux""# } else { r#"["Linux", "macOS"]"# };
        format!(
            r#", "licence": "{}", "platforms": {platforms}, "is_open": {}, "released-on": "2024-01-{:02}"{price}"#,
            licence(n),
            n % 2 == 0,
            n + 1
        )
    });
    let report = examine(&[("one.json", &envelope(&format!(r#""software": [{software}]"#)))]);
    let places: Vec<_> = report.findings.iter().map(|finding| finding.location.pointer.as_str()).collect();
    assert_eq!(codes(&report), ["undeclared_attribute"; 5]);
    assert_eq!(
        places,
        ["licence", "platforms", "is_open", "released-on", "price_per_seat"].map(|name| format!("/software/0/{name}"))
    );
    let proposed: Vec<_> =
        report.findings.iter().filter_map(|finding| Some(finding.help.split_once(": ")?.1)).collect();
    assert_eq!(
        proposed,
        [
            r#"{"property": "licence", "label": "Licence"}"#,
            r#"{"property": "platforms", "label": "Platforms"}"#,
            r#"{"property": "is_open", "label": "Is open", "type": "boolean"}"#,
            r#"{"property": "released-on", "label": "Released on", "type": "date"}"#,
            r#"{"property": "price_per_seat", "label": "Price per seat", "type": "number"}"#,
        ]
    );
    assert!(report.findings[4].message.starts_with("10 of 20 products have `price_per_seat`"));
    assert_eq!((report.is_valid(), report.warning_count(), report.note_count()), (true, 0, 5));
    // Once the proposals are pasted into the export, nothing is left to propose.
    let declared = format!(r#""software": [{software}], "attributes": [{}]"#, proposed.join(","));
    assert!(examine(&[("one.json", &envelope(&declared))]).findings.is_empty());
}

#[test]
fn useless_attributes_are_not_proposed() {
    let proposed = |count: usize, properties: &dyn Fn(usize) -> String| {
        codes(&examine(&[("one.json", &envelope(&format!(r#""software": [{}]"#, products(count, properties))))]))
    };
    let few = |n: usize| format!(r#", "x": {}"#, n % 2);
    assert_eq!(proposed(10, &few), ["undeclared_attribute"]);
    assert_eq!(proposed(9, &few), [""; 0], "too few products");
    assert_eq!(proposed(21, &|n| if n < 10 { few(n) } else { String::new() }), [""; 0], "most don't have it");
    assert_eq!(proposed(10, &|_| r#", "x": 1"#.to_owned()), [""; 0], "one value");
    assert_eq!(proposed(20, &|n| format!(r#", "x": "{n}""#)), [""; 0], "text that no two products share");
    assert_eq!(proposed(10, &|n| if n == 3 { r#", "x": "1""#.to_owned() } else { few(n) }), [""; 0], "two types");
    assert_eq!(proposed(10, &|n| format!(r#", "a:b": {n}"#)), [""; 0], "its name can't be used in a request");
    let many = |n: usize| (0..15).map(|of| format!(r#", "x{of}": {n}"#)).collect::<Vec<_>>().concat();
    assert_eq!(proposed(10, &many).len(), 10);
}
