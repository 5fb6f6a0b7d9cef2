//! Limits on exports that are too large for a case, and limits on the findings themselves.

use super::reading::{envelope, examine, examine_envelope, found, record};
use software_directory::export::render::{self, Style};
use software_directory::export::{Finding, Report};

/// An export with two records, the first of which has these additional properties.
fn with_record(more: &str) -> Report {
    examine_envelope(&format!(r#""software": [{}, {}]"#, record("a", more), record("b", "")))
}

/// Asserts that the first record is rejected for one reason and the second one is served.
fn assert_refused(report: &Report, code: &str, pointer: &str) {
    assert_eq!(found(report), [(code, pointer)]);
    let [export] = &report.exports[..] else { panic!("one export") };
    assert_eq!(export.software.iter().map(|software| &*software.id).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn text_over_the_limit_is_an_error_in_its_record() {
    let with = |text: &str| with_record(&format!(r#", "description": "{text}""#));
    assert!(with(&"é ".repeat(500_000)).is_valid());
    assert!(with(&r"\u0041 ".repeat(500_000)).is_valid());
    assert_refused(&with(&"é ".repeat(500_001)), "text_too_long", "/software/0/description");
    assert_refused(&with(&r"\u0041 ".repeat(500_001)), "text_too_long", "/software/0/description");
    assert_refused(
        &with_record(&format!(r#", "x": [{{"y": "{}"}}]"#, "a".repeat(1_000_001))),
        "text_too_long",
        "/software/0/x/0/y",
    );
}

#[test]
fn findings_past_the_first_hundred_per_code_and_file_are_only_counted() {
    let twice = "\"k\": 1, ".repeat(501);
    let texts = [("x.json", twice.as_str()), ("y.json", "")]
        .map(|(name, more)| (name, envelope(&format!(r#"{more}"software": [{}]"#, record(&name[..1], "")))));
    let report = examine(&texts.each_ref().map(|(name, text)| (*name, text.as_str())));
    assert_eq!(report.findings.len(), 100);
    let left_out: Vec<_> = report.left_out.iter().map(|l| (l.code.as_str(), &*l.file, l.count)).collect();
    assert_eq!(left_out, [("duplicate_key", "x.json".as_ref(), 400)]);
    assert_eq!((report.error_count(), report.warning_count()), (500, 0));
    // The file with the errors isn't served, even though most of them are only counted.
    assert_eq!(report.exports.iter().map(|export| &*export.id).collect::<Vec<_>>(), ["y"]);
}

#[test]
fn every_record_with_an_error_is_left_out_even_if_its_finding_is_only_counted() {
    let broken = |n: usize| {
        format!(
            r#"{{"id": "p{n}", "id": "p{n}", "name": "N", "url": "https://x.example/", "evidence_status": "pending-review"}}"#
        )
    };
    let records = (0..300).map(broken).collect::<Vec<_>>().join(",");
    let report = examine_envelope(&format!(r#""software": [{records}, {}]"#, record("whole", "")));
    assert_eq!((report.counts.records, report.counts.skipped_records), (301, 300));
}

#[test]
fn set_layer_findings_past_the_first_hundred_are_only_counted() {
    let groups = (0..300).map(|n| format!(r#"{{"terms": ["x{}", "y{n}"]}}"#, n / 10)).collect::<Vec<_>>().join(",");
    let report = examine_envelope(&format!(r#""software": [], "synonyms": [{groups}]"#));
    assert_eq!((report.findings.len(), report.warning_count()), (100, 270));
}

#[test]
fn findings_quote_a_bounded_part_of_the_export() {
    let long = "k".repeat(100_000);
    let report = examine(&[
        ("key.json", &envelope(&format!(r#""{long}": {{"a": 1, "a": 2}}, "software": []"#))),
        ("word.json", &envelope(&format!(r#""software": [{long}]"#))),
        ("id.json", &envelope(&format!(r#""software": [{r}, {r}]"#, r = record(&long, "")))),
    ]);
    let bounded = |finding: &Finding| {
        let texts = [&finding.message, &finding.help, &finding.location.pointer];
        let related = finding.related.iter().flat_map(|related| [&related.note, &related.location.pointer]);
        texts.into_iter().chain(related).all(|text| text.len() < 700)
    };
    assert!(report.findings.len() >= 3 && report.findings.iter().all(bounded));
    let mut out = Vec::new();
    render::text(&report, Style::Plain, &mut out).expect("writing to a buffer can't fail");
    assert!(out.len() < 20_000, "{}", out.len());
}

#[test]
fn pinned_queries_over_the_limit_across_all_exports_are_refused() {
    let pins = |name: &str, count: usize| {
        let pin = |n: usize| {
            let queries = (0..100).map(|m| format!("\"{name}{n}x{m}\"")).collect::<Vec<_>>().join(",");
            format!(r#"{{"queries": [{queries}], "software": ["{name}"]}}"#)
        };
        let pins = (0..count).map(pin).collect::<Vec<_>>().join(",");
        envelope(&format!(r#""software": [{}], "pins": [{pins}]"#, record(name, "")))
    };
    let report = examine(&[("a.json", &pins("a", 60)), ("b.json", &pins("b", 41))]);
    assert_eq!(found(&report), [("too_many_pins", "/pins/40/queries")]);
    assert_eq!(report.exports.iter().map(|export| export.pins.len()).sum::<usize>(), 100);
}

#[test]
fn a_term_in_too_many_groups_across_all_exports_is_refused() {
    let groups = |name: &str, count: usize| {
        let written = ["audit", "Audits", "AUDIT"];
        let group = |n: usize| format!(r#"{{"terms": ["{}", "{name}{n}"]}}"#, written[n % 3]);
        let groups = (0..count).map(group).collect::<Vec<_>>().join(",");
        envelope(&format!(r#""software": [], "synonyms": [{groups}, {{"from": ["audit"], "to": "check"}}]"#))
    };
    let errors = |first: usize, second: usize| {
        let report = examine(&[("a.json", &groups("a", first)), ("b.json", &groups("b", second))]);
        let served = report.exports.iter().map(|export| export.synonyms.len()).sum::<usize>();
        (report.error_count(), served)
    };
    assert_eq!(errors(9, 9), (0, 20));
    assert_eq!(errors(9, 10), (1, 20));
    assert_eq!(errors(9, 500), (491, 20));
}

#[test]
fn a_directory_has_at_most_64_attributes() {
    let attributes = |range: std::ops::Range<usize>| {
        let attributes = range.map(|n| format!(r#"{{"property": "p{n}", "label": "P"}}"#)).collect::<Vec<_>>();
        envelope(&format!(r#""software": [], "attributes": [{}]"#, attributes.join(",")))
    };
    let all = |end: usize| examine(&[("one.json", &attributes(0..40)), ("two.json", &attributes(30..end))]);
    assert!(all(59).findings.is_empty());
    assert_eq!(found(&all(60)), [("too_many_attributes", "/attributes/29/property")]);
}

#[test]
fn an_attribute_with_too_many_values_causes_a_warning() {
    let values = |count: usize| (0..count).map(|n| format!("\"v {n}\"")).collect::<Vec<_>>().join(",");
    let all = |count: usize| {
        // Different spellings of a value count as one.
        let more = record("b", r#", "keys": ["V0", "v-1"]"#);
        let products =
            format!(r#""software": [{}, {more}]"#, record("a", &format!(r#", "keys": [{}]"#, values(count))));
        examine_envelope(&format!(r#"{products}, "attributes": [{{"property": "keys", "label": "Keys"}}]"#))
    };
    assert!(all(100_000).findings.is_empty());
    let report = all(100_001);
    assert_eq!(found(&report), [("too_many_values", "/attributes/0/property")]);
    assert!(report.is_valid());
}

#[test]
fn short_labels_cannot_stand_for_endless_text() {
    let url = format!("https://a.example/{}", "p".repeat(1900));
    let sources = (0..40).map(|_| r#"{"source": "L"}"#).collect::<Vec<_>>().join(",");
    let more = format!(r#", "pricing": "5", "sources": [["L", "{url}"]], "evidence": {{"pricing": [{sources}]}}"#);
    let report = with_record(&more);
    let used = report.exports[0].software[0].evidence[0].sources.len();
    assert!(report.is_valid() && (2..6).contains(&used), "{used}");
    assert!(report.findings[0].message.starts_with("`L` stands for too long an address"), "{:?}", report.findings[0]);
}

#[test]
fn a_long_international_host_is_not_converted() {
    let url = format!("https://{}.example/", "ü".repeat(100_000));
    let report = examine_envelope(&format!(r#""software": [{}]"#, record("a", "").replace("https://a.example/", &url)));
    assert_eq!(found(&report), [("invalid_uri", "/software/0/url")]);
    assert_eq!(report.findings[0].help, "write `%C3%BC` instead");
}

#[test]
fn text_full_of_brackets_is_read_once() {
    for piece in ["](#", "[](#", "<a ", "<a", "</", "&a ", "Â€ ", "ðŸ "] {
        let text = piece.repeat(300_000 / piece.chars().count());
        assert_eq!(found(&with_record(&format!(r#", "description": "{text}""#))), [], "{piece}");
    }
}
