//! Translated text in exports, and findings about invalid language tags.

use software_directory::export::Report;
use software_directory::record::{Language, Translations};

use super::found::found;
use super::reading::{envelope, examine, record};

fn read(language: &str, translations: &str) -> Report {
    let record = record("a", &format!(r#", "translations": {translations}"#));
    examine(&[("x.json", &envelope(&format!(r#"{language}"software": [{record}]"#)))])
}

fn texts(translations: &Translations) -> Vec<(&str, &str, &str)> {
    translations.iter().map(|(language, property, text)| (language.as_str(), property, text)).collect()
}

#[test]
fn text_is_read_by_language_and_property() {
    let report = read(
        r#""language": "DE", "#,
        r#"{"EN-gb": {"name": "Folder", "tagline": "t"}, "fr": {"description": "d", "name": " ", "tagline": null}}"#,
    );
    assert_eq!(found(&report), []);
    let export = &report.exports[0];
    assert_eq!(export.language.as_ref().map(Language::as_str), Some("de"));
    let translations = &export.software[0].translations;
    assert_eq!(
        texts(translations),
        [("en-GB", "name", "Folder"), ("en-GB", "tagline", "t"), ("fr", "description", "d")]
    );
    assert!(export.software[0].additional_properties.is_empty());
}

#[test]
fn categories_terms_and_attributes_have_translations() {
    let report = examine(&[(
        "x.json",
        &envelope(
            r#""software": [],
            "categories": [{"name": "A", "translations": {"de": {"name": "B", "description": "c"}}}],
            "glossary": [{"term": "A", "definition": "d", "translations": {"fr": {"term": "E", "definition": "f"}}}],
            "attributes": [{"property": "p", "label": "L", "translations": {"de": {"label": "M"}}}]"#,
        ),
    )]);
    assert_eq!(found(&report), []);
    let export = &report.exports[0];
    assert_eq!(texts(&export.categories[0].translations), [("de", "description", "c"), ("de", "name", "B")]);
    assert_eq!(texts(&export.glossary[0].translations), [("fr", "definition", "f"), ("fr", "term", "E")]);
    assert_eq!(texts(&export.attributes[0].translations), [("de", "label", "M")]);
}

#[test]
fn unknown_language_tags_and_unusable_text_cause_warnings() {
    for (translations, code, text, pointer) in [
        (r#"{"german": {"name": "a"}}"#, "unknown_language", "\"german\"", "/german"),
        (r#"{"de_DE": {"name": "a"}}"#, "unknown_language", "\"de_DE\"", "/de_DE"),
        (r#"{"jp": {"name": "a"}}"#, "unknown_language", "\"jp\"", "/jp"),
        (r#"{"de": "a"}"#, "unusable_property", "\"a\"", "/de"),
        (r#"{"de": {"name": 5}}"#, "unusable_property", "5", "/de/name"),
        (r#"{"de": {"vendor": "a"}}"#, "unusable_property", "\"a\"", "/de/vendor"),
        (r#"{"de": {"name": "a"}, "DE": {"name": "b"}}"#, "unusable_property", "\"b\"", "/DE/name"),
        (r#"["de"]"#, "unusable_property", "[", ""),
    ] {
        let report = read("", translations);
        assert!(report.is_valid(), "{translations}");
        let expected = (code, text.to_owned(), format!("/software/0/translations{pointer}"));
        assert_eq!(found(&report), [expected], "{translations}");
    }
    let report = read(r#""language": "deutsch", "#, "{}");
    assert_eq!(found(&report), [("unknown_language", "\"deutsch\"".to_owned(), "/language".to_owned())]);
    assert_eq!(report.exports[0].language, None);
    assert_eq!(texts(&read("", r#"{"jp": {"name": "a"}}"#).exports[0].software[0].translations), [("jp", "name", "a")]);
}

#[test]
fn translations_of_one_attribute_come_from_all_its_declarations() {
    let declare = |label: &str, translations: &str| {
        envelope(&format!(
            r#""software": [], "attributes": [{{"property": "p", "label": "{label}", "translations": {translations}}}]"#
        ))
    };
    let (one, two) = (declare("L", r#"{"de": {"label": "M"}}"#), declare("L", r#"{"fr": {"label": "N"}}"#));
    assert_eq!(found(&examine(&[("a.json", &one), ("b.json", &two)])), []);
    let other = declare("O", "{}");
    assert_eq!(found(&examine(&[("a.json", &one), ("b.json", &other)]))[0].0, "differing_attribute");
}
