//! What findings look like: as text for typical invalid files, as workflow commands, and as JSON.

use super::reading::{envelope, examine, record};
use software_directory::export::Report;
use software_directory::export::render::{self, Style};

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    render::text(report, Style::Plain, &mut out).expect("writing to a buffer can't fail");
    String::from_utf8(out).expect("text")
}

fn github(report: &Report) -> String {
    let mut out = Vec::new();
    render::github(report, &mut out).expect("writing to a buffer can't fail");
    String::from_utf8(out).expect("text")
}

fn json(report: &Report) -> serde_json::Value {
    let mut out = Vec::new();
    render::json(report, &mut out).expect("writing to a buffer can't fail");
    serde_json::from_slice(&out).expect("one document")
}

const BROKEN_RECORDS: &str = r#"{
  "name": "QHSE",
  "license": "CC BY 4.0",
  "software": [
    {
      "id": "audit", "name": "Évaluation", "url": "audit.example",
      "evidence_status": "vendor-sources-reviewed",
      "evidence_checkedon": "2025-02-30",
      "sources": [["Page", "https://audit.example/a b"], ["x"]],
      "rating": "5", "review_count": 1.5, "offering_type": "sofware",
      "tags": ["a", 3]
    },
    { "id": "audit", "name": "", "url": "https://b.example/", "evidence_status": "reviewed", "evidence_checked_on": "1.2.25" }
  ]
}
"#;

#[test]
fn broken_records_are_reported_as_text() {
    insta::assert_snapshot!(text(&examine(&[("data/qhse.json", BROKEN_RECORDS)])));
}

#[test]
fn nearly_valid_json_is_reported_as_text() {
    let files = [
        (
            "data/comma.json",
            "{\n  \"name\": \"x\",\n  // note\n  \"license\": \"https://x.example/\",\n  \"software\": [],\n}\n",
        ),
        ("data/cut.json", "{\n  \"name\": \"x\",\n  \"software\": [\n    {\"id\": \"a\",\n"),
        ("data/empty.json", ""),
        ("data/python.json", "{'name': None}"),
        (
            "data/twice.json",
            "{\n  \"name\": \"x\",\n  \"name\": \"y\",\n  \"license\": \"https://x.example/\",\n  \"software\": []\n}\n",
        ),
    ];
    insta::assert_snapshot!(text(&examine(&files)));
}

#[test]
fn only_the_part_of_a_long_line_around_the_error_is_shown() {
    let padding = record("long", &format!(r#", "description": "{}""#, "wörd ".repeat(200)));
    let broken = r#"{"id": "é", "name": "É", "url": "https://e.example/", "evidence_status": "pending"}"#;
    let line = envelope(&format!(r#""software": [{padding}, {broken}, {padding}]"#));
    insta::assert_snapshot!(text(&examine(&[("data/line.json", &line)])));
}

#[test]
fn conflicts_between_files_are_reported_as_text() {
    let products = envelope(&format!(
        "\n  \"software\": [\n    {},\n    {}\n  ],\n  \"glossary\": [{{\"term\": \"CAPA\", \"definition\": \"d\"}}]\n",
        record("a", ""),
        record("b", r#", "evidence_checked_on": "2025-06-02""#)
    ));
    let others = envelope(&format!(
        "\n  \"software\": [{}],\n  \"reviews\": [{{\"id\": \"r\", \"software_id\": \"c\", \"rating\": 5}}],\n  \
         \"glossary\": [{{\"term\": \"capa\", \"definition\": \"d\"}}]\n",
        record("b", r#", "rating": 9, "Vendor": "V""#)
    ));
    insta::assert_snapshot!(text(&examine(&[("data/one.json", &products), ("data/two.json", &others)])));
}

#[test]
fn findings_are_reported_as_workflow_commands() {
    insta::assert_snapshot!(github(&examine(&[("data/a,b.json", BROKEN_RECORDS)])));
}

#[test]
fn a_report_is_rendered_as_json() {
    let text = envelope(&format!("\"software\": [{}, {}]", record("a", ""), record("a", "")));
    insta::assert_json_snapshot!(json(&examine(&[("data/x.json", &text)])));
}

#[test]
fn a_valid_set_prints_one_line() {
    let text_of = |count: usize| {
        let records = (0..count).map(|n| record(&format!("p{n}"), "")).collect::<Vec<_>>().join(",");
        text(&examine(&[("x.json", &envelope(&format!("\"software\": [{records}]")))]))
    };
    assert_eq!(text_of(1), "Checked 1 file, 1 record: 0 errors, 0 warnings.\n");
    assert_eq!(text_of(1200), "Checked 1 file, 1,200 records: 0 errors, 0 warnings.\n");
}

#[test]
fn the_first_findings_of_a_kind_are_listed_and_the_rest_are_counted() {
    let records = (0..1500).map(|n| record(&format!("p{n}"), r#", "rating": "high""#)).collect::<Vec<_>>().join(",\n");
    let report = examine(&[("x.json", &envelope(&format!("\"software\": [{records}]")))]);
    let printed = text(&report);
    assert_eq!(printed.matches("error[wrong_type]: `rating` must be").count(), 20);
    assert!(printed.contains("error[wrong_type]: and 1,480 more of this kind\n --> x.json\n"), "{printed}");
    assert!(printed.ends_with("Checked 1 file, 1,500 records (1,500 invalid): 1,500 errors, 0 warnings.\n"));
    assert_eq!(github(&report).matches("::error ").count(), 21);
    let document = json(&report);
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(100));
    assert_eq!(document["left_out"], serde_json::json!([{"code": "wrong_type", "file": "x.json", "count": 1400}]));
    assert_eq!(document["errors"], 1500);
}

#[test]
fn colours_do_not_change_the_text() {
    let report = examine(&[("data/qhse.json", BROKEN_RECORDS)]);
    let mut out = Vec::new();
    render::text(&report, Style::Coloured, &mut out).expect("writing to a buffer can't fail");
    assert!(out.contains(&0x1b));
    assert_eq!(String::from_utf8_lossy(&anstream::adapter::strip_bytes(&out).into_vec()), text(&report));
}
