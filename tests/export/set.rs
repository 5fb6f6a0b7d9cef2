//! Checks across records that need many records to make a difference.

use std::ops::Range;

use super::reading::{envelope, examine, examine_envelope, found, record, records};
use software_directory::export::Report;

/// An export with products, each with a review, a term and a synonym group.
fn copied(products: Range<usize>) -> String {
    let list = |element: &dyn Fn(usize) -> String| products.clone().map(element).collect::<Vec<_>>().join(", ");
    envelope(&format!(
        r#""software": [{}], "reviews": [{}], "glossary": [{}], "synonyms": [{}]"#,
        list(&|n| record(&format!("p{n}"), "")),
        list(&|n| format!(r#"{{"id": "r{n}", "software_id": "p{n}", "rating": 5}}"#)),
        list(&|n| format!(r#"{{"term": "T{n}", "definition": "d"}}"#)),
        list(&|n| format!(r#"{{"terms": ["a{n}", "b{n}"]}}"#)),
    ))
}

#[test]
fn a_file_that_repeats_most_of_another_causes_one_finding() {
    let both =
        |first: Range<usize>, second: Range<usize>| examine(&[("a.json", &copied(first)), ("b.json", &copied(second))]);
    for (first, second, message) in [
        (0..12, 0..12, "`b.json` repeats all 12 product ids in `a.json`"),
        (0..20, 10..20, "`b.json` repeats 10 of the 20 product ids in `a.json`"),
    ] {
        let (report, left) = (both(first.clone(), second.clone()), first.len());
        let advice = ["shared_url", "shared_name"];
        let others = report.findings.iter().filter(|finding| !advice.contains(&finding.code.as_str()));
        let others: Vec<_> = others.map(|finding| (finding.code.as_str(), &*finding.message)).collect();
        assert_eq!(others, [("duplicate_software_id", message)]);
        assert_eq!(report.exports.iter().map(|export| export.software.len()).sum::<usize>(), left);
    }
    assert_eq!(both(0..20, 10..30).error_count(), 30, "repeating half of a file doesn't count as a repetition");
}

/// The proposed declarations of attributes.
fn proposed(report: &Report) -> Vec<&str> {
    report.findings.iter().filter_map(|finding| Some(finding.help.split_once(": ")?.1)).collect()
}

#[test]
fn properties_that_most_products_have_are_proposed_as_attributes() {
    let licence = |n: usize| ["MIT", "GPL-3.0", "Apache-2.0"][n % 3];
    let software = records(20, |n| {
        let price = if n < 10 { format!(r#", "price_per_seat": {n}"#) } else { String::new() };
        let platforms = if n % 2 == 0 { r#""Linux""# } else { r#"["Linux", "macOS"]"# };
        format!(
            r#", "licence": "{}", "platforms": {platforms}, "is_open": {}, "released-on": "2024-01-{:02}"{price}"#,
            licence(n),
            n % 2 == 0,
            n + 1
        )
    });
    let report = examine_envelope(&format!(r#""software": [{software}]"#));
    let places =
        ["licence", "platforms", "is_open", "released-on", "price_per_seat"].map(|name| format!("/software/0/{name}"));
    assert_eq!(found(&report), places.each_ref().map(|place| ("undeclared_attribute", &**place)));
    assert_eq!(
        proposed(&report),
        [
            r#"{"property": "licence", "label": "Licence"}"#,
            r#"{"property": "platforms", "label": "Platforms"}"#,
            r#"{"property": "is_open", "label": "Is open", "type": "boolean"}"#,
            r#"{"property": "released-on", "label": "Released on", "type": "date"}"#,
            r#"{"property": "price_per_seat", "label": "Price per seat", "type": "number"}"#,
        ]
    );
    assert!(report.findings[4].message.starts_with("10 of 20 products have `price_per_seat`"));
    assert_eq!((report.is_valid(), report.warning_count(), report.note_count()), (true, 0, 5));
    // Once the proposals are pasted into the export, nothing is left to propose.
    let declared = format!(r#""software": [{software}], "attributes": [{}]"#, proposed(&report).join(","));
    assert!(examine_envelope(&declared).findings.is_empty());
}

#[test]
fn useless_attributes_are_not_proposed() {
    let proposed = |count: usize, properties: &dyn Fn(usize) -> String| {
        let report = examine_envelope(&format!(r#""software": [{}]"#, records(count, properties)));
        assert!(found(&report).iter().all(|(code, _)| *code == "undeclared_attribute"), "{:?}", report.findings);
        report.findings.len()
    };
    let few = |n: usize| format!(r#", "x": {}"#, n % 2);
    assert_eq!(proposed(10, &few), 1);
    assert_eq!(proposed(9, &few), 0, "too few products");
    assert_eq!(proposed(21, &|n| if n < 10 { few(n) } else { String::new() }), 0, "most don't have it");
    assert_eq!(proposed(10, &|_| r#", "x": 1"#.to_owned()), 0, "one value");
    assert_eq!(proposed(20, &|n| format!(r#", "x": "{n}""#)), 0, "text that no two products share");
    assert_eq!(proposed(10, &|n| if n == 3 { r#", "x": "1""#.to_owned() } else { few(n) }), 0, "two types");
    assert_eq!(proposed(10, &|n| format!(r#", "a:b": {n}"#)), 0, "its name can't be used in a request");
    let many = |n: usize| (0..15).map(|of| format!(r#", "x{of}": {n}"#)).collect::<Vec<_>>().concat();
    assert_eq!(proposed(10, &many), 10);
}

/// An export whose products have these categories, each given with how many products have it.
fn in_categories(declared: &str, categories: &[(&str, usize)]) -> Report {
    let names: Vec<_> = categories.iter().flat_map(|(name, count)| std::iter::repeat_n(name, *count)).collect();
    let software = records(names.len(), |n| format!(r#", "category": "{}""#, names[n]));
    examine_envelope(&format!(r#"{declared}"software": [{software}]"#))
}

#[test]
fn only_a_much_rarer_category_is_a_near_miss_of_an_undeclared_one() {
    let near = |categories: &[(&str, usize)]| in_categories("", categories);
    let report = near(&[("Environment", 40), ("Enviroment", 1)]);
    assert_eq!(found(&report), [("near_miss_category", "/software/40/category")]);
    assert_eq!(
        report.findings[0].message,
        "the category `Enviroment` (1 product) looks like a misspelling of `Environment`, which 40 products have"
    );
    assert_eq!(report.findings[0].related[0].location.pointer, "/software/0/category");
    assert_eq!(found(&near(&[("Environment", 9), ("Enviroment", 1)])), [], "few");
    let variants = near(&[("Hosted platform", 23), ("Hosted platforms", 11)]);
    assert_eq!(found(&variants), [("spelling_variant", "/software/23/category")], "of similar size");
    assert_eq!(found(&near(&[("Trading", 40), ("Grading", 1)])), [], "another word");
}

#[test]
fn categories_are_not_compared_if_each_product_has_a_different_one() {
    let names: Vec<_> = (0..2_000).map(|n| format!("Name {n:x}")).collect();
    let declarations: Vec<_> = names.iter().map(|name| format!(r#"{{"name": "{name}s"}}"#)).collect();
    let declarations = format!(r#""categories": [{}], "#, declarations.join(", "));
    let used: Vec<_> = names.iter().map(|name| (&**name, 1)).collect();
    let compared = |count: usize| in_categories(&declarations, &used[..count]).warning_count();
    assert_eq!((compared(2_000), compared(100)), (0, 100));
}
