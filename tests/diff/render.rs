//! How a difference is rendered.

use serde_json::{Value, json};
use software_directory::curate::diff::{Difference, render};

use crate::diff::sets::{difference, export, record};

fn example() -> Difference {
    let mut old = record("b");
    old["description"] = "Plans audits and follows findings to closure.".into();
    old["tags"] = json!(["audits", "mobile"]);
    old["rating"] = json!(4);
    let mut new = old.clone();
    new["description"] = "Plans audits and inspections, and follows findings to closure.".into();
    new["tags"] = json!(["audits", "on | <b>premises</b>"]);
    new["rating"] = json!(4.5);
    new["pricing"] = "\u{1b}[31m@everyone".into();
    new["categories"] = json!(["Audit management"]);
    new["evidence_status"] = "vendor-sources-reviewed".into();
    new["evidence_checked_on"] = "2026-11-20".into();
    new["sources"] = json!([["Features", "https://b.example/features"]]);
    let mut renamed = record("c");
    renamed["id"] = "tool-c".into();
    let mut after = export(&[record("d"), new, renamed]);
    after["synonyms"] = json!([{"terms": ["non-conformity", "ncr"]}]);
    difference(&export(&[record("a"), old, record("c")]), &after)
}

fn options(limit: usize) -> render::Options<'static> {
    render::Options { old: "HEAD:data", new: "data", limit }
}

fn text(difference: &Difference, limit: usize) -> String {
    let mut out = Vec::new();
    render::text(difference, &options(limit), &mut out).expect("written");
    anstream::adapter::strip_str(&String::from_utf8(out).expect("text")).to_string()
}

fn markdown(difference: &Difference) -> String {
    let mut out = Vec::new();
    render::markdown(difference, &options(100), &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn difference_is_rendered_as_text() {
    insta::assert_snapshot!(text(&example(), 100));
}

#[test]
fn difference_is_rendered_as_markdown() {
    insta::assert_snapshot!(markdown(&example()));
}

#[test]
fn difference_is_rendered_as_json() {
    let mut out = Vec::new();
    render::json(&example(), &options(0), &mut out).expect("written");
    let document: Value = serde_json::from_slice(&out).expect("JSON");
    insta::assert_json_snapshot!(document);
}

#[test]
fn records_over_the_limit_are_counted() {
    let new: Vec<_> = (0..5).map(|n| record(&n.to_string())).collect();
    let difference = difference(&export(&[]), &export(&new));
    let shown = text(&difference, 2);
    assert!(shown.contains("+ Tool 1 (1)") && !shown.contains("Tool 2") && shown.contains("and 3 more"), "{shown}");
    assert!(!text(&difference, 5).contains("more"));
}

#[test]
fn equal_sets_are_reported_as_the_same() {
    let same = difference(&export(&[]), &export(&[]));
    assert_eq!(text(&same, 1), "HEAD:data and data do not differ\n");
    assert!(markdown(&same).contains("Nothing differs."));
}

#[test]
fn difference_is_rendered_as_html() {
    insta::assert_snapshot!(render::html(&example(), &options(100)).expect("written"));
}

#[test]
fn html_counts_records_over_the_limit_and_escapes_ids_in_links() {
    let mut odd = record("a");
    odd["id"] = "a/b?\"<x>".into();
    let new = [odd, record("b"), record("c")];
    let html = render::html(&difference(&export(&[]), &export(&new)), &options(1)).expect("written");
    assert!(html.contains("<a href=\"software/a%2Fb%3F%22%3Cx%3E\">"), "{html}");
    assert!(html.contains("and 2 more added") && !html.contains("<x>"), "{html}");
    assert!(
        render::html(&difference(&export(&[]), &export(&[])), &options(1)).expect("written").contains("do not differ")
    );
}

#[test]
fn html_is_bounded_whatever_the_records_contain() {
    let long = |id: &str| {
        let mut record = record(id);
        for field in 0..200 {
            record[format!("field {field}")] = vec!["long ".repeat(100); 30].into();
        }
        record
    };
    let old: Vec<_> = (0..40).map(|id| record(&id.to_string())).collect();
    let new: Vec<_> = (0..40).map(|id| long(&id.to_string())).collect();
    let html = render::html(&difference(&export(&old), &export(&new)), &options(1000)).expect("written");
    assert!(html.len() < 3 << 20, "{}", html.len());
    assert!(html.contains(" more changed</li>") && html.contains(" more fields</p>"), "the rest are counted");
}
