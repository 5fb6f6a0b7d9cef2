//! What findings look like as workflow commands and as JSON, and how many are printed. The text is in
//! the snapshots of the cases.

use super::reading::{envelope, examine, examine_envelope, record, records};
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

const BROKEN_RECORDS: &str = include_str!("cases/report/broken_records.json");

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
    let text_of =
        |count: usize| text(&examine_envelope(&format!("\"software\": [{}]", records(count, |_| String::new()))));
    assert_eq!(text_of(1), "Checked 1 file, 1 record: 0 errors, 0 warnings.\n");
    assert_eq!(text_of(1200), "Checked 1 file, 1,200 records: 0 errors, 0 warnings.\n");
}

#[test]
fn the_first_findings_of_a_kind_are_listed_and_the_rest_are_counted() {
    let records = records(1500, |_| r#", "rating": "high""#.to_owned());
    let report = examine_envelope(&format!("\"software\": [{records}]"));
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
