//! `--stale`: evidence that was checked too long ago. The list is in the snapshots of `cases/stale/`.

use super::cases::{self, examine};
use super::check::{VALID, check, folder, stderr, stdout};
use super::reading::{envelope, records};
use software_directory::export::SourceFile;
use software_directory::export::render::{self, Style};

#[test]
fn a_report_as_json_contains_the_list() {
    let report = cases::read("stale/stale_evidence_is_listed_by_category_oldest_first");
    let mut out = Vec::new();
    render::json(&report, &mut out).expect("writing to a buffer can't fail");
    let document: serde_json::Value = serde_json::from_slice(&out).expect("one document");
    let list = &document["stale"];
    assert_eq!((&list["before"], &list["stale"], &list["without_date"]), (&"2025-03-02".into(), &4.into(), &1.into()));
    assert_eq!(list["categories"][2]["category"], serde_json::Value::Null);
    assert_eq!(
        list["categories"][0]["products"],
        serde_json::json!([{"evidence_checked_on": "2024-01-01", "id": "b", "name": "b name", "export": "one"}])
    );
    let report = cases::read("stale/single_claims_are_listed_by_their_own_dates.json");
    let list = serde_json::to_value(report.stale).expect("a list");
    assert_eq!((&list["claims"], &list["categories"][0]["products"][0]["property"]), (&2.into(), &"pricing".into()));
}

#[test]
fn long_lists_are_cut_in_text_but_complete_in_json() {
    let day = |n: usize| if n < 59 { "2020-01-01" } else { "2019-12-31" };
    let records = records(100, |n| format!(r#", "evidence_checked_on": "{}", "category": "C{}""#, day(n), n.min(59)));
    let text = envelope(&format!(r#""software": [{records}]"#));
    let report = examine(vec![SourceFile::from_bytes("x.json".as_ref(), text.into())], true);
    let mut out = Vec::new();
    render::text(&report, Style::Plain, &mut out).expect("writing to a buffer can't fail");
    let printed = String::from_utf8(out).expect("text");
    assert_eq!(printed.matches(" name (x)\n").count(), 49 + 20);
    assert!(printed.contains("\n  and 21 more; use --format json to see all\n"), "{printed}");
    assert!(printed.contains("\nand 10 more categories; use --format json to see all\n"), "{printed}");
    assert!(printed.contains("Stale: 100 of 100 products"), "{printed}");
    let list = report.stale.expect("a list");
    assert_eq!(list.categories.iter().map(|category| category.products.len()).sum::<usize>(), 100);
}

#[test]
fn stale_evidence_exits_with_0_or_with_2_if_denied() {
    let files =
        folder(&[("data/x.json", &VALID.replace(r#""id": "a""#, r#""id": "a", "evidence_checked_on": "2001-02-03""#))]);
    let output = check(files.path(), &["--stale", "1y"]);
    assert!(stdout(&output).contains("\n  2001-02-03  a  A (x)\n"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(check(files.path(), &["--stale", "52w", "--deny", "warnings"]).status.code(), Some(2));
    let output = check(files.path(), &["--stale", "900y", "--deny", "warnings"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).starts_with("Stale: 0 of 1 product; 0 never checked.\n"), "{}", stdout(&output));
    for (age, part) in [("6m", "18mo"), ("5000y", "before the year 0")] {
        let output = check(files.path(), &["--stale", age]);
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
    }
    assert!(!stdout(&check(files.path(), &[])).contains("Stale"));
}
