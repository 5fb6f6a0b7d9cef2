//! Findings name the record that they're in.

use super::reading::{envelope, examine, record};
use software_directory::export::{self, Limits, Location, Report, SourceFile};
use software_directory::record::CalendarDate;

/// The record at each finding's location, followed by those at its related locations.
fn records(report: &Report) -> Vec<String> {
    let name = |location: &Location| location.record.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let places = report.findings.iter().flat_map(|finding| {
        std::iter::once(&finding.location).chain(finding.related.iter().map(|related| &related.location))
    });
    places.map(name).collect()
}

#[test]
fn each_kind_of_record_is_named() {
    let text = envelope(&format!(
        r#""as_of": "spring", "software": [{}, {}], "categories": [{{"name": "C", "description": 1}}],
           "reviews": [{{"id": "r", "software_id": "a", "rating": 7}}],
           "glossary": [{{"term": "T", "definition": "d", "related": ["no"]}}], "synonyms": [{{"terms": 1}}]"#,
        record("a", r#", "rating": "5""#),
        record("b", "").replace(r#""b""#, "3"),
    ));
    let names = records(&examine(&[("x.json", &text)]));
    let product = r#"product `a` "a name""#;
    for expected in ["-", product, r#"product "b name""#, "review `r`", r#"glossary term "T""#, "synonyms[0]"] {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
}

#[test]
fn both_records_of_a_duplicate_are_named_in_their_own_files() {
    let one = envelope(&format!(r#""software": [{}]"#, record("a", "")));
    let two = envelope(&format!(r#""software": [{}]"#, record("a", "").replace("a name", "Other")));
    let report = examine(&[("1.json", &one), ("2.json", &two)]);
    assert_eq!(records(&report)[..2], [r#"product `a` "Other""#, r#"product `a` "a name""#]);
}

#[test]
fn the_record_where_reading_stops_is_named() {
    let records_of = |last: &str| {
        let text = envelope(&format!(r#""software": [{}, {last}"#, record("a", "")));
        records(&examine(&[("x.json", &text)]))
    };
    let product = || r#"product `b` "B""#.to_owned();
    assert_eq!(records_of(r#"{"id": "b", "name": "B" "url": 1}]}"#), [product()]);
    assert_eq!(records_of(r#"{"id": "b", "name": "B", "url"#), [product(), product()]);
    assert_eq!(records_of(r#"{"id": "b", "name": "B", "x": [NaN, }]}"#)[0], product());
    assert_eq!(records_of(r#"{}} {"id": "b", "name": "B"}"#), ["-"]);
    let text = envelope(&format!(r#""software": [{}, {{"id": "b", "name": "B", "tagline": "#, record("a", "")));
    let latin1 = [text.as_bytes(), b"\"caf\xe9\"}]}"].concat();
    let file = SourceFile::from_bytes("x.json".as_ref(), latin1.into());
    let today = CalendarDate::parse("2025-06-01").expect("a date");
    let report = export::examine(vec![file], &Limits::default(), today, &|_| {}).expect("in memory");
    assert_eq!(records(&report), [product()]);
}

#[test]
fn a_location_outside_any_record_is_not_named() {
    let text = envelope(&format!(r#""software": [{}], "id_prefix": "a/b", "reviews": 1"#, record("a", "")));
    assert_eq!(records(&examine(&[("x.json", &text)])), ["-", "-"]);
}
