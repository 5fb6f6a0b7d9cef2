//! Invariants for arbitrary bytes read as an export: every report format can handle them, and if
//! they're valid, they can be built, found and returned.

use std::io::Read as _;

use jiff::Span;
use jiff::civil::date;
use software_directory::export::render::{self, Style};
use software_directory::export::{self, Limits, MaxAge, Report, SourceFile};
use software_directory::generation::Snapshot;
use software_directory::record::CalendarDate;
use software_directory::service::{self, ListReviews, ListSimilar, PageRequest, Stop};

/// An export with one of everything.
pub(crate) const EXPORT: &str = include_str!("../export.json");

/// Reads bytes as an export and checks the result.
pub(crate) fn check(bytes: &[u8]) {
    let file = SourceFile::from_bytes("export.json".as_ref(), bytes.to_vec().into());
    let today = CalendarDate::parse("2026-06-01").expect("a date");
    let limits = Limits {
        max_file_bytes: 1 << 20,
        max_depth: 32,
        max_age: MaxAge::new(date(2026, 6, 1), Span::new().months(5)),
        ..Limits::default()
    };
    let report = export::examine(vec![file], &limits, today, &|_| {}).expect("in memory");
    for finding in &report.findings {
        assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{finding:?}");
        if let Some(place) = &finding.location.place {
            assert!(place.range.start <= place.range.end && place.range.end <= bytes.len(), "{finding:?}");
        }
    }
    check_renderings(&report);
    if report.is_valid() {
        assert!(is_json(bytes), "valid, but not JSON");
        check_generation(report, bytes);
    }
}

/// Whether a different parser also accepts the bytes. Numbers can have any number of digits.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

fn check_renderings(report: &Report) {
    let mut out = Vec::new();
    render::text(report, Style::Plain, &mut out).expect("writing to a buffer can't fail");
    render::github(report, &mut out).expect("writing to a buffer can't fail");
    assert!(std::str::from_utf8(&out).is_ok());
    out.clear();
    render::sarif(report, &mut out).expect("writing to a buffer can't fail");
    let log: serde_json::Value = serde_json::from_slice(&out).expect("one JSON document");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(report.findings.len()));
    out.clear();
    render::json(report, &mut out).expect("writing to a buffer can't fail");
    let document: serde_json::Value = serde_json::from_slice(&out).expect("one JSON document");
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(report.findings.len()));
}

fn check_generation(report: Report, bytes: &[u8]) {
    let software = report.exports.iter().flat_map(|export| &export.software);
    let software: Vec<_> = software.map(|software| (software.id.clone(), software.name.clone())).collect();
    let snapshot = Snapshot::build(report.exports).expect("a valid export can be built");
    let stored = service::get_export(&snapshot, "export").expect("the export").open().expect("its bytes");
    let mut written = Vec::new();
    stored.json().and_then(|mut json| json.read_to_end(&mut written)).expect("its bytes");
    assert_eq!(written, bytes, "the download should be the validated bytes");
    assert_eq!(snapshot.software_count(), software.len());
    for (id, name) in software {
        let record = service::get_software(&snapshot, &id, None).expect("whole").expect("the product").0;
        assert!(is_json(&record.body), "{id}");
        let page = PageRequest { limit: 100, offset: 0 };
        let (stop, budget) = (Stop::default(), service::budget(&snapshot, &Stop::default()));
        let reviews = service::list_reviews(&snapshot, &id, &ListReviews::all(page), &stop);
        assert!(reviews.is_some(), "{id}");
        let query = ListSimilar { page, ..ListSimilar::default() };
        let similar =
            service::similar_software(&snapshot, &id, &query, &budget).expect("an answer").expect("the product");
        assert!(similar.data.len() as u64 <= similar.pagination.total, "{id}");
        let suggested = service::suggest(&snapshot, &name, 20, None, &budget).expect("an answer");
        assert!(suggested.software.len() <= 20, "{name}");
        super::query::check(&snapshot, &super::query::search(&name));
    }
}
