//! Names that probably mean the same thing: misspelled categories, and ids that differ only in
//! case.

use super::found::found;
use super::reading::{envelope, examine, record};
use software_directory::export::Report;

fn export(envelope_members: &str, records: &[String]) -> String {
    envelope(&format!(r#"{envelope_members}"software": [{}]"#, records.join(", ")))
}

/// Products in these categories, each given as a name and how many products it has.
fn products(categories: &[(&str, usize)]) -> Vec<String> {
    let names = categories.iter().flat_map(|(name, count)| std::iter::repeat_n(name, *count)).enumerate();
    names.map(|(n, name)| record(&format!("p{n}"), &format!(r#", "category": "{name}""#))).collect()
}

fn declared(name: &str) -> String {
    format!(r#""categories": [{{"name": "{name}"}}], "#)
}

fn places(report: &Report) -> Vec<(&'static str, String)> {
    found(report).into_iter().map(|(code, _, pointer)| (code, pointer)).collect()
}

#[test]
fn a_near_miss_of_a_declared_category_causes_one_warning() {
    let text = export(&declared("Audit management"), &products(&[("Audits", 1), ("Audit managment", 3)]));
    let report = examine(&[("x.json", &text)]);
    let expected = ("near_miss_category", "\"Audit managment\"".to_owned(), "/software/1/category".to_owned());
    assert_eq!(found(&report), [expected]);
    let finding = &report.findings[0];
    assert_eq!(
        finding.message,
        "the category `Audit managment` (3 products) looks like a misspelling of `Audit management`, which is declared"
    );
    assert_eq!(finding.related[0].location.pointer, "/categories/0/name");
    assert!(report.is_valid());
}

#[test]
fn a_category_declared_in_one_file_counts_for_the_whole_set() {
    let one = export(&declared("Environment"), &[]);
    let two = export("", &[record("a", r#", "tags": ["Enviroment"], "categories": ["Other", "Enviroment"]"#)]);
    let report = examine(&[("one.json", &one), ("two.json", &two)]);
    assert_eq!(found(&report)[0].1, "\"Enviroment\"");
    assert_eq!(places(&report), [("near_miss_category", "/software/0/categories/1".to_owned())]);
    assert_eq!(report.findings[0].location.file.to_str(), Some("two.json"));
    assert_eq!(report.findings[0].related[0].location.file.to_str(), Some("one.json"));
}

#[test]
fn unrelated_categories_are_left_alone() {
    for (declared_name, name) in [
        ("Audit management", "audit-management"),
        ("Audit management", "Audits management x"),
        ("Chat", "Chats"),
        ("CRM", "ERM"),
        ("ISO 9001 software", "ISO 9002 software"),
        ("Level 1", "Level 12"),
    ] {
        let text = export(&declared(declared_name), &products(&[(name, 1)]));
        assert_eq!(found(&examine(&[("x.json", &text)])), [], "{name}");
    }
    let both = r#""categories": [{"name": "Planning"}, {"name": "Plannings"}], "#;
    assert_eq!(found(&examine(&[("x.json", &export(both, &products(&[("Plannings", 1)])))])), []);
}

#[test]
fn only_a_much_rarer_category_is_a_near_miss_of_an_undeclared_one() {
    let near = |categories: &[(&str, usize)]| examine(&[("x.json", &export("", &products(categories)))]);
    let report = near(&[("Environment", 40), ("Enviroment", 1)]);
    assert_eq!(places(&report), [("near_miss_category", "/software/40/category".to_owned())]);
    assert_eq!(
        report.findings[0].message,
        "the category `Enviroment` (1 product) looks like a misspelling of `Environment`, which 40 products have"
    );
    assert_eq!(report.findings[0].related[0].location.pointer, "/software/0/category");
    assert_eq!(found(&near(&[("Environment", 9), ("Enviroment", 1)])), [], "few");
    let variants = places(&near(&[("Hosted platform", 23), ("Hosted platforms", 11)]));
    assert_eq!(variants, [("spelling_variant", "/software/23/category".to_owned())], "of similar size");
    assert_eq!(found(&near(&[("Trading", 40), ("Grading", 1)])), [], "another word");
}

#[test]
fn categories_are_not_compared_if_each_product_has_a_different_one() {
    let names: Vec<_> = (0..2_000).map(|n| format!("Name {n:x}")).collect();
    let declarations: Vec<_> = names.iter().map(|name| format!(r#"{{"name": "{name}s"}}"#)).collect();
    let declarations = format!(r#""categories": [{}], "#, declarations.join(", "));
    let used: Vec<_> = names.iter().map(|name| (&**name, 1)).collect();
    let compared = |count: usize| examine(&[("x.json", &export(&declarations, &products(&used[..count])))]);
    assert_eq!(compared(2_000).warning_count(), 0);
    assert_eq!(compared(100).warning_count(), 100);
}

/// A record with this id, and with a name and website that no other record has.
fn with_id(id: &str) -> String {
    let other: u32 = id.chars().map(u32::from).fold(0, |hash, c| hash.wrapping_mul(31).wrapping_add(c));
    record("o", "")
        .replace(r#""id": "o""#, &format!(r#""id": "{id}""#))
        .replace("o.example", &format!("x{other}.example"))
        .replace("o name", &format!("{other} name"))
}

#[test]
fn ids_that_differ_only_in_case_cause_a_warning() {
    let one = export("", &["demo", "other", "Élan"].map(with_id));
    let two = export("", &["Demo", "Single", "DEMO", "élan"].map(with_id));
    let report = examine(&[("one.json", &one), ("two.json", &two)]);
    let expected = [("\"Demo\"", "/software/0/id"), ("\"DEMO\"", "/software/2/id"), ("\"élan\"", "/software/3/id")];
    let expected = expected.map(|(text, pointer)| ("similar_id", text.to_owned(), pointer.to_owned()));
    assert_eq!(found(&report), expected);
    assert_eq!(report.findings[0].message, "the ids `demo` and `Demo` differ only in case");
    assert_eq!(report.findings[0].related[0].location.file.to_str(), Some("one.json"));
    assert_eq!(report.findings[0].related[0].location.pointer, "/software/0/id");
    assert!(report.is_valid());
}

#[test]
fn a_duplicate_id_is_an_error_without_a_warning() {
    let text = export("", &["Demo", "demos"].map(with_id));
    let text = text.replacen("\"software\": [", &format!("\"software\": [{}, ", with_id("Demo")), 1);
    let codes: Vec<_> = places(&examine(&[("x.json", &text)])).into_iter().map(|(code, _)| code).collect();
    assert!(codes.contains(&"duplicate_software_id") && !codes.contains(&"similar_id"), "{codes:?}");
}

#[test]
fn ids_with_different_prefixes_are_not_similar() {
    let one = export(r#""id_prefix": "a:", "#, &[with_id("demo")]);
    let two = export(r#""id_prefix": "b:", "#, &[with_id("Demo")]);
    assert_eq!(found(&examine(&[("one.json", &one), ("two.json", &two)])), []);
}
