//! Markup and mojibake in text: one finding per kind and property in a file.

use super::found::found;
use super::reading::{envelope, examine, record};
use software_directory::export::Report;

fn examine_records(records: &[String]) -> Report {
    examine(&[("x.json", &envelope(&format!(r#""software": [{}]"#, records.join(", "))))])
}

#[test]
fn markup_and_mojibake_are_reported_with_their_locations() {
    let more = r#", "tagline": "R&amp;D", "tags": ["ok", "CafÃ©"], "description": "[a](https://a.example/) <i>b</i>""#;
    let report = examine_records(&[record("a", more)]);
    let expected = [
        ("markup", "&amp;", "/software/0/tagline"),
        ("mojibake", "Ã©", "/software/0/tags/1"),
        ("markup", "[a](https://a.example/)", "/software/0/description"),
        ("markup", "<i>", "/software/0/description"),
    ];
    assert_eq!(found(&report), expected.map(|(code, text, pointer)| (code, text.to_owned(), pointer.to_owned())));
    assert_eq!(report.findings[0].message, "`tagline` contains an HTML entity: `&amp;`");
    assert_eq!(report.findings[0].help, "write `&` instead of `&amp;`: text is shown as is");
    assert!(report.findings[1].help.starts_with("write `é` instead of `Ã©`"), "{}", report.findings[1].help);
    assert!(report.is_valid());
}

#[test]
fn plain_text_and_unknown_properties_are_left_alone() {
    let more =
        r#", "tagline": "R&D, a < b > c, C#, <id>, [1](2)", "description": "„Ä“ – naïve Größe", "notes": "<b>x</b>""#;
    assert_eq!(found(&examine_records(&[record("a", more)])), []);
}

#[test]
fn a_property_with_markup_in_each_record_causes_one_finding() {
    let records: Vec<_> = (0..500)
        .map(|n| record(&format!("p{n}"), &format!(r#", "tagline": "a &lt; {n}", "description": "<b>{n}</b>""#)))
        .collect();
    let report = examine_records(&records);
    let messages: Vec<_> = report.findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(
        messages,
        [
            "500 values of `tagline` contain HTML entities; the first is `&lt;`",
            "500 values of `description` contain HTML tags; the first is `<b>`"
        ]
    );
    let related: Vec<_> = report.findings[1].related.iter().map(|related| &*related.location.pointer).collect();
    assert_eq!(related, ["/software/1/description", "/software/2/description"]);
}

#[test]
fn properties_with_the_same_name_in_two_sections_are_distinguished() {
    let text = envelope(
        r#""software": [], "categories": [{"name": "Audits", "description": "a&nbsp;b"}],
        "glossary": [{"term": "T", "definition": "<br>", "source": {"title": "&eacute;"}}]"#,
    );
    let report = examine(&[("x.json", &text.replacen("\"N\"", "\"N &lt; M\"", 1))]);
    let messages: Vec<_> = report.findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(
        messages,
        [
            "`name` contains an HTML entity: `&lt;`",
            "`description` in `categories` contains an HTML entity: `&nbsp;`",
            "`definition` in `glossary` contains an HTML tag: `<br>`",
            "`title` in `glossary` contains an HTML entity: `&eacute;`",
        ]
    );
}

#[test]
fn a_finding_in_escaped_text_points_to_the_whole_string() {
    let report = examine_records(&[record("a", r#", "tagline": "\"a\" &amp; b""#)]);
    assert_eq!(found(&report)[0].1, r#""\"a\" &amp; b""#);
}

#[test]
fn half_a_surrogate_pair_does_not_count_as_mojibake() {
    let codes = |text: &str| {
        let report = examine_records(&[record("a", &format!(r#", "tagline": "{text}""#))]);
        report.findings.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(codes(r"a \ud83d"), ["lone_surrogate"]);
    assert_eq!(codes(r"a \uFFFD"), ["mojibake"]);
    assert_eq!(codes("a \u{fffd}"), ["mojibake"]);
}

#[test]
fn text_full_of_brackets_is_read_once() {
    let codes = |text: &str| {
        let report = examine_records(&[record("a", &format!(r#", "description": "{text}""#))]);
        report.findings.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>()
    };
    for piece in ["](#", "[](#", "<a ", "<a", "</", "&a ", "Â€ ", "ðŸ "] {
        assert_eq!(codes(&piece.repeat(300_000 / piece.chars().count())), [""; 0], "{piece}");
    }
}
