//! Evidence for single properties.

use super::found::found;
use super::reading::{envelope, examine, record};
use software_directory::export::Report;
use software_directory::record::{Evidence, EvidenceSource, Software};

/// A record with a price, a category, a source and this evidence.
fn with_evidence(evidence: &str) -> Report {
    let more = format!(
        r#", "evidence": {evidence}, "pricing": "5 EUR", "category": "Audit", "staff": 3, "vendor": null,
            "sources": [["Docs", "https://a.example/docs"]]"#
    );
    examine(&[("x.json", &envelope(&format!(r#""software": [{}]"#, record("a", &more))))])
}

fn software(report: &Report) -> &Software {
    assert!(report.is_valid(), "{:?}", report.findings);
    &report.exports[0].software[0]
}

/// The property and address of each source that's used, and what's kept as it is.
fn read(report: &Report) -> (Vec<(&str, &str)>, Option<&str>) {
    let mut used = Vec::new();
    for Evidence { property, sources } in &software(report).evidence {
        used.extend(sources.iter().map(|source| (&**property, &*source.url)));
    }
    let kept = software(report).additional_properties.iter().find(|(name, _)| **name == *"evidence");
    (used, kept.map(|(_, json)| json.get()))
}

#[test]
fn a_source_is_an_address_or_a_label() {
    let report = with_evidence(
        r#"{"pricing": {"source": "https://a.example/price", "checked_on": "2025-05-01", "quote": "5 EUR a year",
            "archived": "https://archive.example/1"},
            "categories": [{"source": "Docs"}, {"source": "https://a.example/docs"}], "staff": {"source": "Docs"}}"#,
    );
    assert_eq!(found(&report), []);
    let docs = "https://a.example/docs";
    let used = [("pricing", "https://a.example/price"), ("categories", docs), ("categories", docs), ("staff", docs)];
    assert_eq!(read(&report), (used.into(), None));
    let [pricing, categories, _] = &*software(&report).evidence else { panic!("three properties") };
    let EvidenceSource { label, checked_on, quote, archived, .. } = &pricing.sources[0];
    assert_eq!((label, checked_on.map(|day| day.to_string())), (&None, Some("2025-05-01".to_owned())));
    assert_eq!(quote.as_deref().zip(archived.as_deref()), Some(("5 EUR a year", "https://archive.example/1")));
    assert!(categories.sources.iter().all(|source| source.label.as_deref() == Some("Docs")));
    assert_eq!(software(&report).oldest_evidence(), pricing.sources[0].checked_on);
}

#[test]
fn whatever_cannot_be_used_is_kept_with_a_warning() {
    let quote = "é".repeat(501);
    let good = r#"{"source": "Docs"}"#;
    for (evidence, pointer, message) in [
        (r#""yes""#, "", "`evidence` should be an object"),
        (r#"{"pricing": "Docs"}"#, "/pricing", "evidence is an object with a `source`, but this is a string"),
        (r#"{"pricing": {"quote": "x"}}"#, "/pricing", "evidence needs a `source`"),
        (r#"{"pricing": {"source": 1}}"#, "/pricing", "evidence needs a `source`"),
        (r#"{"pricing": {"source": "docs"}}"#, "/pricing/source", "`docs` is neither a URI nor the label"),
        (
            r#"{"pricing": {"source": "Docs", "checked_on": "2025-02-30"}}"#,
            "/pricing/checked_on",
            "isn't a calendar date",
        ),
        (
            r#"{"pricing": {"source": "Docs", "checked_on": "1.2.25"}}"#,
            "/pricing/checked_on",
            "isn't a date in the form",
        ),
        (r#"{"pricing": {"source": "Docs", "archived": "copy"}}"#, "/pricing/archived", "`archived` isn't a URI"),
        (&format!(r#"{{"pricing": {{"source": "Docs", "quote": "{quote}"}}}}"#), "/pricing/quote", "500 characters"),
        (&format!(r#"{{"prices": {good}}}"#), "/prices", "the record has no `prices`"),
        (&format!(r#"{{"vendor": {good}}}"#), "/vendor", "the record has no `vendor`"),
        (&format!(r#"{{"tagline": [{good}]}}"#), "/tagline", "the record has no `tagline`"),
    ] {
        let report = with_evidence(evidence);
        let [finding] = &report.findings[..] else { panic!("{evidence}: {:?}", report.findings) };
        assert_eq!(finding.location.pointer, format!("/software/0/evidence{pointer}"), "{evidence}");
        assert!(finding.message.contains(message), "{}", finding.message);
        let compact = evidence.replace(": ", ":").replace(", ", ",");
        assert_eq!(read(&report), (Vec::new(), Some(&*compact)), "{evidence}");
    }
    let report =
        with_evidence(r#"{"pricing": [{"source": "Docs"}, {"source": "x"}, null], "staff": {"source": "Docs"}}"#);
    let docs = "https://a.example/docs";
    assert_eq!(read(&report), (vec![("pricing", docs), ("staff", docs)], Some(r#"{"pricing":[{"source":"x"}]}"#)));
    assert_eq!(read(&with_evidence("null")), (Vec::new(), None));
    assert_eq!(read(&with_evidence(r#"{"pricing": null, "tagline": []}"#)), (Vec::new(), None));
}

#[test]
fn misspelled_names_are_pointed_out() {
    let report =
        with_evidence(r#"{"princing": {"source": "Docs"}, "pricing": {"source": "Docs", "checkedOn": "2025-01-01"}}"#);
    assert!(report.findings[0].help.contains("did you mean `pricing`?"), "{}", report.findings[0].help);
    assert!(report.findings[1].help.contains("`checked_on`"), "{}", report.findings[1].help);
    let report = with_evidence(r#"{"pricing": {"source": "Docs", "checked_on": "2025-06-02"}}"#);
    assert_eq!(found(&report)[0].0, "future_date");
    assert_eq!(read(&report).0.len(), 1, "a date in the future is used, as a record's is");
}

#[test]
fn short_labels_cannot_stand_for_endless_text() {
    let url = format!("https://a.example/{}", "p".repeat(1900));
    let sources = (0..40).map(|_| r#"{"source": "L"}"#).collect::<Vec<_>>().join(",");
    let more = format!(r#", "pricing": "5", "sources": [["L", "{url}"]], "evidence": {{"pricing": [{sources}]}}"#);
    let report = examine(&[("x.json", &envelope(&format!(r#""software": [{}]"#, record("a", &more))))]);
    let used: usize = software(&report).evidence[0].sources.len();
    assert!((2..6).contains(&used), "{used}");
    assert!(report.findings[0].message.starts_with("`L` stands for too long an address"), "{:?}", report.findings[0]);
}
