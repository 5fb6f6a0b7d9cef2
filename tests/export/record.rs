//! How records, reviews and glossary terms are converted, and the warnings this causes.

use super::found::found;
use super::reading::{envelope, examine, record};
use software_directory::export::{Export, Report};
use software_directory::record::{GlossarySource, Review, Software, SynonymGroup};

fn examine_record(more: &str) -> Report {
    examine(&[("x.json", &envelope(&format!(r#""software": [{}]"#, record("a", more))))])
}

fn software(report: &Report) -> &Software {
    assert!(report.is_valid(), "{:?}", report.findings);
    &report.exports[0].software[0]
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code.as_str()).collect()
}

fn additional(software: &Software) -> Vec<(&str, &str)> {
    software.additional_properties.iter().map(|(key, raw)| (&**key, raw.get())).collect()
}

#[test]
fn known_properties_are_read_and_unknown_ones_are_kept_digit_for_digit() {
    let report = examine_record(
        r#", "tagline": "T\u00e9", "vendor": "V", "tags": ["x", "y"], "aliases": "one", "rating": 4.50,
            "review_count": 1e2, "offering_type": "document-templates", "stars": 1.0e+10, "nested": { "a" : [ 1 , "b c" ] }"#,
    );
    let software = software(&report);
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!(software.tagline.as_deref(), Some("Té"));
    assert_eq!((&*software.tags, &*software.aliases), (&["x".into(), "y".into()][..], &["one".into()][..]));
    assert_eq!(software.rating.as_ref().map(|rating| (rating.value, rating.text.get())), Some((4.5, "4.50")));
    assert_eq!(software.review_count, Some(100));
    assert_eq!(software.offering_type.as_str(), "document-templates");
    assert_eq!(additional(software), [("stars", "1.0e+10"), ("nested", r#"{"a":[1,"b c"]}"#)]);
}

#[test]
fn a_record_without_an_offering_type_is_software() {
    assert_eq!(software(&examine_record("")).offering_type.as_str(), "software");
}

#[test]
fn null_means_that_an_optional_property_is_absent() {
    let report =
        examine_record(r#", "tagline": null, "tags": null, "category": null, "rating": null, "review_count": null"#);
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!(additional(software(&report)), []);
}

#[test]
fn a_known_property_with_the_wrong_type_is_kept_but_not_used() {
    let report = examine_record(r#", "tagline": 7, "tags": ["a", 3], "category": ["x"], "vendor": {"n": 1}"#);
    assert_eq!(codes(&report), ["unusable_property"; 4]);
    assert!(software(&report).tags.is_empty());
    let kept = [("tagline", "7"), ("tags", r#"["a",3]"#), ("category", r#"["x"]"#), ("vendor", r#"{"n":1}"#)];
    assert_eq!(additional(software(&report)), kept);
}

#[test]
fn the_main_category_comes_first_and_no_category_is_repeated() {
    let report =
        examine_record(r#", "categories": ["Risk", "Audit management", "risk!"], "category": "audit Management""#);
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!(*software(&report).categories, ["audit Management".into(), "Risk".into()]);
}

#[test]
fn a_category_without_letters_is_kept_but_not_used() {
    let report = examine_record(r#", "category": "--", "categories": ["x", ""]"#);
    assert_eq!(codes(&report), ["unusable_property"; 2]);
    assert!(software(&report).categories.is_empty());
    assert_eq!(additional(software(&report)).len(), 2);
}

#[test]
fn a_review_count_that_is_too_large_is_kept() {
    let report = examine_record(r#", "review_count": 18446744073709551616, "rating": 1e300"#);
    assert_eq!(codes(&report), ["unusable_property", "rating_out_of_range"]);
    assert_eq!(additional(software(&report)), [("review_count", "18446744073709551616")]);
    let rating = software(&report).rating.as_ref().expect("a rating");
    assert!(rating.value.is_finite());
    assert_eq!(rating.text.get(), "1e300");
}

#[test]
fn advice_does_not_block_an_export() {
    let report = examine_record(
        r#", "evidence_checked_on": "2025-02-30", "rating": 7, "Tagline": "x", "catagory": "y", "source": "deb",
            "sources": [["a", "ftp://a.example/"]]"#,
    );
    let expected = ["impossible_date", "rating_out_of_range", "near_miss_key", "near_miss_key", "unusual_link"];
    assert_eq!(codes(&report), expected);
    assert_eq!(software(&report).evidence_checked_on.as_deref(), Some("2025-02-30"));
}

#[test]
fn an_unrelated_key_is_not_taken_for_a_misspelling() {
    assert_eq!(codes(&examine_record(r#", "source": "deb", "Sources": "deb", "version": "1", "stars": 4"#)), [""; 0]);
    assert_eq!(codes(&examine_record(r#", "source": [["a", "https://a.example/"]]"#)), ["near_miss_key"]);
}

#[test]
fn tomorrow_is_in_the_future_and_today_is_not() {
    assert_eq!(codes(&examine_record(r#", "evidence_checked_on": "2025-06-01""#)), [""; 0]);
    assert_eq!(codes(&examine_record(r#", "evidence_checked_on": "2025-06-02""#)), ["future_date"]);
    let as_of = |date: &str| {
        let text = envelope(&format!(r#""software": [{}], "as_of": "{date}""#, record("a", "")));
        codes(&examine(&[("x.json", &text)]))
    };
    assert_eq!(as_of("2025-06-01"), [""; 0]);
    assert_eq!(as_of("2025-06-02"), ["future_date"]);
    assert_eq!(as_of("spring"), ["impossible_date"]);
}

#[test]
fn ids_that_are_awkward_in_paths_cause_warnings() {
    for id in [".", "..", "a/b"] {
        let text = format!(
            r#"{{"id": "{id}", "name": "N", "url": "https://a.example/", "evidence_status": "pending-review"}}"#
        );
        let report = examine(&[("x.json", &envelope(&format!(r#""software": [{text}]"#)))]);
        assert_eq!(found(&report), [("awkward_id", format!("\"{id}\""), "/software/0/id".to_owned())]);
    }
}

#[test]
fn a_misspelled_key_explains_why_a_property_is_missing() {
    let text = r#"{"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "vendor-sources-reviewed",
        "evidence_checkedon": "2025-01-01", "sources": [["a", "https://a.example/"]]}"#;
    let report = examine(&[("x.json", &envelope(&format!(r#""software": [{text}]"#)))]);
    assert_eq!(codes(&report), ["missing_property"]);
    assert!(report.findings[0].help.contains("`evidence_checkedon` is probably meant"), "{}", report.findings[0].help);
}

fn examine_section(key: &str, entries: &str) -> (Report, Vec<&'static str>) {
    let report =
        examine(&[("x.json", &envelope(&format!(r#""software": [{}], "{key}": {entries}"#, record("a", ""))))]);
    assert!(report.is_valid(), "{:?}", report.findings);
    assert_eq!(report.exports[0].document, report.files[0].bytes(), "the document should still contain unused values");
    let codes = codes(&report);
    (report, codes)
}

fn only(report: &Report) -> &Export {
    &report.exports[0]
}

#[test]
fn incomplete_or_invalid_reviews_are_left_out() {
    let (report, codes) = examine_section(
        "reviews",
        r#"[{"id": "r", "software_id": "a", "rating": 5.0}, {"id": "s", "software_id": "a"}, {"software_id": "a", "rating": 1},
            {"id": "t", "software_id": "a", "rating": 6}, {"id": "u", "software_id": "a", "rating": 4.5}, {"id": "v", "software_id": "a", "rating": 0}, 7]"#,
    );
    assert_eq!(codes, ["entry_left_out"; 6]);
    assert_eq!(only(&report).reviews.iter().map(|review| review.rating).collect::<Vec<_>>(), [5]);
}

#[test]
fn a_reviews_time_is_shown_in_utc() {
    let (report, codes) = examine_section(
        "reviews",
        r#"[{"id": "r", "software_id": "a", "rating": 5, "created_at": "2025-03-01T01:00:00+02:00", "verified": true, "n": 1.0},
            {"id": "s", "software_id": "a", "rating": 5, "created_at": "2025-03-01"},
            {"id": "t", "software_id": "a", "rating": 5, "created_at": "in spring"}]"#,
    );
    assert_eq!(codes, ["unusable_property"]);
    let shown = |review: &Review| (review.created_at.clone().map(String::from), review.created_at_seconds);
    let reviews = &only(&report).reviews;
    assert_eq!(shown(&reviews[0]), (Some("2025-02-28T23:00:00Z".to_owned()), Some(1_740_783_600)));
    assert_eq!(shown(&reviews[1]), (Some("2025-03-01T00:00:00Z".to_owned()), Some(1_740_787_200)));
    assert_eq!(shown(&reviews[2]), (None, None));
    assert_eq!(reviews[0].additional_properties[0].1.get(), "1.0");
    assert_eq!(reviews[2].additional_properties[0].1.get(), r#""in spring""#);
}

#[test]
fn a_glossary_source_is_a_title_an_address_or_both() {
    let (report, codes) = examine_section(
        "glossary",
        r#"[{"term": "A", "definition": "d", "source": "ISO 9000"}, {"term": "B", "definition": "d", "source": "https://b.example/"},
            {"term": "C", "definition": "d", "source": {"title": "T", "url": "https://c.example/"}},
            {"term": "D", "definition": "d", "source": {"title": "T", "url": "nowhere"}}, {"term": "E", "definition": ""},
            {"term": "F", "definition": "d", "source": null}]"#,
    );
    assert_eq!(codes, ["unusable_property", "entry_left_out"]);
    let source = |title: Option<&str>, url: Option<&str>| {
        Some(GlossarySource { title: title.map(Into::into), url: url.map(Into::into) })
    };
    let expected = [
        source(Some("ISO 9000"), None),
        source(None, Some("https://b.example/")),
        source(Some("T"), Some("https://c.example/")),
        source(Some("T"), None),
        None,
    ];
    assert_eq!(only(&report).glossary.iter().map(|term| term.source.clone()).collect::<Vec<_>>(), expected);
}

#[test]
fn nonsensical_categories_and_synonyms_are_left_out() {
    let (report, codes) =
        examine_section("categories", r#"[{"name": "Audits", "description": "d"}, {"name": "!"}, {}, "x"]"#);
    assert_eq!(codes, ["entry_left_out"; 3]);
    assert_eq!(only(&report).categories[0].description.as_deref(), Some("d"));

    let (report, codes) = examine_section(
        "synonyms",
        r#"[{"terms": ["a", "b"]}, {"terms": ["a"]}, {"from": ["c"], "to": "d"}, {"from": [], "to": "d"}, {"ambiguous": ["car"]},
            {"terms": ["e", "f"], "to": "g"}, {"terms": ["h", " "]}, []]"#,
    );
    assert_eq!(codes, ["entry_left_out"; 5]);
    let expected = [
        SynonymGroup::Equivalent(vec!["a".into(), "b".into()]),
        SynonymGroup::OneWay { from: vec!["c".into()], to: "d".into() },
        SynonymGroup::Ambiguous(vec!["car".into()]),
    ];
    assert_eq!(only(&report).synonyms, expected);
}

#[test]
fn a_section_that_is_not_an_array_is_left_out() {
    let (_, codes) = examine_section("glossary", r#"{"term": "A"}"#);
    assert_eq!(codes, ["entry_left_out"]);
}

#[test]
fn a_misspelled_required_key_causes_one_finding() {
    let text = envelope(
        r#""software": [{"id": "a", "Name": "A", "url": "https://a.example/", "evidence_status": "pending-review"}]"#,
    );
    let report = examine(&[("x.json", &text)]);
    let codes: Vec<_> = report.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["missing_property"]);
    assert_eq!(report.findings[0].help, "`Name` is probably meant to be `name`: rename it");
    let text = envelope(&format!(r#""software": [{}]"#, record("a", r#", "Vendor": "V""#)));
    assert_eq!(found(&examine(&[("x.json", &text)])).len(), 1, "it should still be reported");
}

#[test]
fn an_invisible_character_in_an_id_causes_a_warning() {
    for (id, is_found) in [("a\u{a0}b", true), ("a\u{200b}", true), ("a\u{ad}b", true), ("é", false), ("a b", false)] {
        let text = envelope(&format!(
            r#""software": [{{"id": "{id}", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review"}}]"#
        ));
        let codes: Vec<_> = found(&examine(&[("x.json", &text)])).into_iter().map(|finding| finding.0).collect();
        assert_eq!(codes, if is_found { vec!["invisible_character"] } else { vec![] }, "{id:?}");
    }
}

#[test]
fn an_export_without_records_causes_a_warning() {
    assert_eq!(found(&examine(&[("x.json", &envelope(r#""software": []"#))]))[0].0, "no_records");
    let glossary = envelope(r#""software": [], "glossary": [{"term": "T", "definition": "D"}]"#);
    assert_eq!(found(&examine(&[("x.json", &glossary)])), []);
}
