//! `--stale`: evidence that was checked too long ago.

use super::check::{VALID, check, folder, stderr, stdout};
use super::reading::{envelope, record};
use jiff::Span;
use jiff::civil::date;
use software_directory::export::render::{self, Style};
use software_directory::export::{self, Limits, MaxAge, Report, SourceFile};
use software_directory::record::CalendarDate;

/// Reads exports as of 1 June 2025, so evidence from before 2 March is stale.
fn examine(files: &[(&str, &str)]) -> Report {
    let open = |(name, text): &(&str, &str)| SourceFile::from_bytes(name.as_ref(), (*text).to_owned().into());
    let day = |text| CalendarDate::parse(text).expect("a date");
    let limits = Limits { max_age: MaxAge::new(date(2025, 6, 1), Span::new().days(91)), ..Limits::default() };
    export::examine(files.iter().map(open).collect(), &limits, day("2025-06-01"), &|_| {}).expect("in memory")
}

fn checked(id: &str, day: &str, more: &str) -> String {
    record(id, &format!(r#", "evidence_checked_on": "{day}"{more}"#))
}

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    render::text(report, Style::Plain, &mut out).expect("writing to a buffer can't fail");
    String::from_utf8(out).expect("text")
}

fn aged() -> Report {
    let one = envelope(&format!(
        r#""software": [{}, {}, {}, {}, {}]"#,
        checked("c", "2025-03-01", r#", "category": "Audit""#),
        checked("b", "2024-01-01", r#", "categories": ["Risk", "Audit"]"#),
        checked("fresh", "2025-03-02", r#", "category": "Audit""#),
        checked("impossible", "2025-02-30", ""),
        record("never", ""),
    ));
    let two = envelope(&format!(
        r#""software": [{}, {}]"#,
        checked("a", "2024-06-01", r#", "category": "audit""#),
        checked("d", "2025-01-01", ""),
    ));
    examine(&[("one.json", &one), ("two.json", &two)])
}

#[test]
fn stale_evidence_is_listed_by_category_oldest_first() {
    assert_eq!(
        text(&aged()).split_once("Evidence that").expect("a list").1,
        " was checked before 2025-03-02, oldest first:\n\
         \nRisk (1)\n  2024-01-01  b  b name (one)\n\
         \nAudit (2)\n  2024-06-01  a  a name (two)\n  2025-03-01  c  c name (one)\n\
         \n(no category) (1)\n  2025-01-01  d  d name (two)\n\
         \nStale: 4 of 7 products; 1 never checked.\n\
         Checked 2 files, 7 records: 0 errors, 5 warnings.\n"
    );
}

#[test]
fn stale_evidence_causes_a_warning_with_a_location() {
    let report = aged();
    let stale = report.findings.iter().filter(|finding| finding.code.as_str() == "stale_evidence").collect::<Vec<_>>();
    assert_eq!(stale.len(), 4);
    assert_eq!(stale[0].location.pointer, "/software/0/evidence_checked_on");
    assert_eq!(stale[0].message, "the evidence was checked on 2025-03-01, before 2025-03-02");
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
}

#[test]
fn single_claims_are_listed_by_their_own_dates() {
    let claims = |price, staff| {
        format!(
            r#", "pricing": "5", "staff": 3, "tagline": "t", "evidence": {{"tagline": {{"source": "https://x.example/"}},
                "pricing": {{"source": "https://x.example/", "checked_on": "{price}"}},
                "staff": [{{"source": "https://x.example/", "checked_on": "{staff}"}}]}}"#
        )
    };
    let [a, b] = [checked("a", "2025-05-01", &claims("2024-02-01", "2025-03-02")), checked("b", "2025-01-01", "")];
    let c = record("c", &claims("2025-05-01", "2024-03-01"));
    let report = examine(&[("x.json", &envelope(&format!(r#""software": [{a}, {b}, {c}]"#)))]);
    assert_eq!(
        text(&report).split_once("(no category) (3)\n").expect("a list").1,
        "  2024-02-01  a  a name (x): pricing\n  2024-03-01  c  c name (x): staff\n  2025-01-01  b  b name (x)\n\
         \nStale: 3 of 3 products (2 single claims); 0 never checked.\n\
         Checked 1 file, 3 records: 0 errors, 3 warnings.\n"
    );
    assert_eq!(report.findings[0].location.pointer, "/software/0/evidence/pricing/checked_on");
    let list = serde_json::to_value(report.stale).expect("a list");
    assert_eq!((&list["claims"], &list["categories"][0]["products"][0]["property"]), (&2.into(), &"pricing".into()));
}

#[test]
fn long_lists_are_cut_in_text_but_complete_in_json() {
    let day = |n: usize| if n < 59 { "2020-01-01" } else { "2019-12-31" };
    let product = |n: usize| checked(&format!("p{n}"), day(n), &format!(r#", "category": "C{}""#, n.min(59)));
    let records = (0..100).map(product).collect::<Vec<_>>().join(",");
    let report = examine(&[("x.json", &envelope(&format!(r#""software": [{records}]"#)))]);
    let printed = text(&report);
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
