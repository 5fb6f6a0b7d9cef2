//! Limits on exports: excessive lengths, numbers and counts are findings, and the findings
//! themselves are limited.

use super::reading::{envelope, examine, record};
use software_directory::export::render::{self, Style};
use software_directory::export::{Finding, Report};

/// Code and pointer of each finding.
fn found(report: &Report) -> Vec<(&'static str, &str)> {
    report.findings.iter().map(|finding| (finding.code.as_str(), &*finding.location.pointer)).collect()
}

fn examined(rest: &str) -> Report {
    examine(&[("x.json", &envelope(rest))])
}

/// An export with two records, the first of which has these additional properties.
fn with_record(more: &str) -> Report {
    examined(&format!(r#""software": [{}, {}]"#, record("a", more), record("b", "")))
}

/// Asserts that the first record is rejected for one reason and the second one is served.
fn assert_refused(report: &Report, code: &str, pointer: &str) {
    assert_eq!(found(report), [(code, pointer)]);
    let [export] = &report.exports[..] else { panic!("one export") };
    assert_eq!(export.software.iter().map(|software| &*software.id).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_synonym_group_over_the_limit_is_left_out() {
    for key in ["terms", "ambiguous"] {
        let group = |count: usize| {
            let terms = (0..count).map(|n| format!("\"t{n}\"")).collect::<Vec<_>>().join(",");
            examined(&format!(r#""software": [], "synonyms": [{{"{key}": [{terms}]}}, {{"terms": ["x", "y"]}}]"#))
        };
        assert!(group(200).findings.is_empty());
        let report = group(201);
        assert_eq!(found(&report), [("entry_left_out", "/synonyms/0")]);
        assert!(report.findings[0].message.contains("at most 200 terms"), "{}", report.findings[0].message);
        assert!(report.is_valid() && report.exports[0].synonyms.len() == 1);
    }
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
fn a_word_over_the_limit_is_an_error_in_its_record() {
    let word = "w".repeat(500);
    for key in ["vendor", "tagline", "description", "tags"] {
        let with = |word: &str| with_record(&format!(r#", "{key}": "some {word} more""#));
        assert!(with(&word).is_valid());
        assert_refused(&with(&format!("{word}w")), "word_too_long", &format!("/software/0/{key}"));
    }
    let name = examined(&format!(
        r#""software": [{}, {}]"#,
        record("a", "").replace("a name", &"é".repeat(501)),
        record("b", "")
    ));
    assert_refused(&name, "word_too_long", "/software/0/name");
    // A property that isn't searched may contain words of any length, such as an image in base64.
    assert!(with_record(&format!(r#", "icon": "{word}{word}""#)).is_valid());
}

#[test]
fn a_word_over_the_limit_in_a_synonym_group_is_an_error_in_the_group() {
    let group = format!(r#"{{"terms": ["a", "{}"]}}"#, "w".repeat(501));
    let report = examined(&format!(r#""software": [], "synonyms": [{group}, {{"terms": ["x", "y"]}}]"#));
    assert_eq!(found(&report), [("word_too_long", "/synonyms/0/terms")]);
    assert_eq!(report.exports[0].synonyms.len(), 1);
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
fn an_id_or_url_over_the_limit_is_an_error_in_its_record() {
    let with = |id: &str, url: &str| {
        let record = record("a", "").replace(r#""id": "a""#, &format!(r#""id": "{id}""#));
        let record = record.replace("https://a.example/", url);
        examined(&format!(r#""software": [{record}, {}]"#, self::record("b", "")))
    };
    let (id, url) = ("é".repeat(500), format!("https://a.example/{}", "a".repeat(1_982)));
    assert!(with(&id, &url).is_valid());
    assert_refused(&with(&format!("{id}e"), &url), "id_too_long", "/software/0/id");
    assert_refused(&with("a", &format!("{url}a")), "url_too_long", "/software/0/url");
    let license = envelope(r#""software": []"#).replace("https://example.org/", &format!("{url}a"));
    assert_eq!(examine(&[("x.json", &license)]).findings[0].code.as_str(), "url_too_long");
}

#[test]
fn text_shortened_in_lists_causes_a_warning() {
    for key in ["name", "vendor", "tagline"] {
        let with = |text: &str| {
            let record = record("a", &format!(r#", "{key}": "{text}""#)).replace(r#""name": "a name", "#, "");
            let record = if key == "name" { record } else { self::record("a", &format!(r#", "{key}": "{text}""#)) };
            examined(&format!(r#""software": [{record}]"#))
        };
        let text = "é ".repeat(250);
        assert_eq!(found(&with(&text)), []);
        let report = with(&format!("{text}."));
        assert_eq!(found(&report), [("long_text", &*format!("/software/0/{key}"))]);
        assert!(report.is_valid());
    }
    assert_eq!(found(&with_record(&format!(r#", "description": "{}""#, "é ".repeat(251)))), []);
}

#[test]
fn a_name_too_long_for_a_category_or_term_is_not_used() {
    // A ligature whose id has eighteen letters.
    for name in ["a ".repeat(251), "\u{fdfa}".repeat(100)] {
        let category = with_record(&format!(r#", "category": "{name}""#));
        assert_eq!(found(&category), [("unusable_property", "/software/0/category")]);
        let entries = examined(&format!(
            r#""software": [], "categories": [{{"name": "{name}"}}], "glossary": [{{"term": "{name}", "definition": "d"}}]"#
        ));
        assert_eq!(found(&entries), [("entry_left_out", "/categories/0"), ("entry_left_out", "/glossary/0")]);
    }
}

#[test]
fn a_number_beyond_double_precision_is_refused_anywhere() {
    let digits = |count: usize| "9".repeat(count);
    for number in ["1e400", "-1E+400", "1.8e308", &digits(310), &digits(5_000), &format!("0.{}", digits(5_000))] {
        for (more, pointer) in [
            (format!(r#", "rating": {number}"#), "/software/0/rating"),
            (format!(r#", "stars": {number}"#), "/software/0/stars"),
            (format!(r#", "x": {{"y": [0, {number}]}}"#), "/software/0/x/y/1"),
        ] {
            let report = with_record(&more);
            let codes: Vec<_> = found(&report).into_iter().filter(|(code, _)| *code != "rating_out_of_range").collect();
            assert_eq!(codes, [("number_out_of_range", pointer)]);
            assert_eq!(report.exports[0].software.len(), 1);
        }
    }
    for number in ["1.7976931348623157e308", "1e-400", "1e308", &digits(308), &format!("0.{}", digits(900))] {
        assert!(with_record(&format!(r#", "stars": {number}"#)).is_valid(), "{number}");
    }
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
    let report = examined(&format!(r#""software": [{records}, {}]"#, record("whole", "")));
    assert_eq!((report.counts.records, report.counts.skipped_records), (301, 300));
}

#[test]
fn set_layer_findings_past_the_first_hundred_are_only_counted() {
    let groups = (0..300).map(|n| format!(r#"{{"terms": ["x{}", "y{n}"]}}"#, n / 10)).collect::<Vec<_>>().join(",");
    let report = examined(&format!(r#""software": [], "synonyms": [{groups}]"#));
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
fn pins_over_the_limits_are_left_out() {
    let texts = |count: usize| (0..count).map(|n| format!("\"q{n}\"")).collect::<Vec<_>>().join(",");
    let pins = |queries: usize, software: usize| {
        let pin = format!(r#"{{"queries": [{}], "software": [{}]}}"#, texts(queries), texts(software));
        let records = (0..20).map(|n| record(&format!("q{n}"), "")).collect::<Vec<_>>().join(",");
        let report = examined(&format!(r#""software": [{records}], "pins": [{pin}]"#));
        let codes: Vec<_> = found(&report).into_iter().filter(|(code, _)| *code == "entry_left_out").collect();
        (codes.len(), report.exports[0].pins.len())
    };
    assert_eq!(pins(100, 20), (0, 1));
    assert_eq!([pins(101, 20), pins(100, 21), pins(0, 1), pins(1, 0)], [(1, 0); 4]);
    let symbols = examined(
        r#""software": [], "pins": [{"queries": ["?!"], "software": ["a"]}, {"queries": "x", "software": ["a"]}, 7]"#,
    );
    assert_eq!((symbols.exports[0].pins.len(), symbols.is_valid()), (0, true));
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
