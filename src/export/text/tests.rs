//! Tests for the parser: accepted input, findings, arbitrary bytes.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::{Document, Kind, Value};
use crate::export::finding::Fault;
use crate::export::{Code, Limits};

/// Returns the document and the findings.
fn parse(bytes: &[u8], max_depth: usize) -> (Option<Document<'_>>, Vec<Fault>) {
    let (document, faults) = super::parse(bytes, max_depth);
    (document, faults.kept)
}

const EXPORT: &str = r#"{
  "name": "Démo", "license": "https://example.org/licence",
  "software": [{"id": "a\u00e9\ud83d\ude00", "name": "A", "url": "https://a.example/", "rating": -4.5e0}, {"tags": []}],
  "nothing": null, "flags": [true, false]
}"#;

fn found(bytes: &[u8]) -> Vec<(Code, &str, String)> {
    let (_, faults) = parse(bytes, Limits::default().max_depth);
    let text = |span: std::ops::Range<usize>| std::str::from_utf8(&bytes[span]).unwrap_or("?");
    faults.into_iter().map(|fault| (fault.code, text(fault.span), fault.pointer)).collect()
}

#[track_caller]
fn assert_found(text: &str, code: Code, place: &str, pointer: &str) {
    assert_eq!(found(text.as_bytes()), [(code, place, pointer.to_owned())], "{text}");
}

#[test]
fn a_valid_document_has_no_findings() {
    assert_eq!(found(EXPORT.as_bytes()), []);
    for text in ["0", " \"\" ", "[]", "{}", "[1,2.5,-0,1E+2,true,false,null,\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]\r\n"] {
        assert_eq!(found(text.as_bytes()), [], "{text}");
    }
}

#[test]
fn mistakes_that_stop_the_parser_are_reported() {
    assert_found("{'a': 1}", Code::WrongQuotes, "'", "");
    assert_found("{“a”: 1}", Code::WrongQuotes, "“", "");
    assert_found("{name: 1}", Code::UnquotedKey, "name", "");
    assert_found("[1 2]", Code::MissingComma, "2", "/0");
    assert_found("{\"a\": {\"b\": 1 \"c\": 2}}", Code::MissingComma, "\"", "/a/b");
    assert_found("{\"a\" 1}", Code::UnexpectedCharacter, "1", "/a");
    assert_found("[1,,2]", Code::UnexpectedCharacter, ",", "/1");
    assert_found("[1}", Code::UnexpectedCharacter, "}", "/0");
    assert_found("[\u{a0}1]", Code::UnexpectedCharacter, "\u{a0}", "/0");
    assert_found("[]]", Code::TrailingContent, "]", "");
    assert_found("{} {}", Code::TrailingContent, "{", "");
    assert_found("[\"a\nb\"]", Code::ControlCharacter, "\"a", "/0");
    assert_found("[/* a ]", Code::Comment, "/*", "/0");
    assert_found(" \n", Code::EmptyFile, "", "");
}

#[test]
fn the_parser_continues_after_recoverable_mistakes() {
    assert_found("[1,]", Code::TrailingComma, ",", "/1");
    assert_found("{\"a\": 1 , }", Code::TrailingComma, ",", "");
    assert_found("[1 // one\n]", Code::Comment, "// one", "/0");
    assert_found("[/* a\n b */ 1]", Code::Comment, "/* a", "/0");
    assert_found("# a\n[]", Code::Comment, "# a", "");
    assert_found("[NaN]", Code::InvalidLiteral, "NaN", "/0");
    assert_found("[-Infinity]", Code::InvalidLiteral, "-Infinity", "/0");
    assert_found("{\"a\": [True]}", Code::InvalidLiteral, "True", "/a/0");
    for number in ["01", "+1", ".5", "1.", "1e", "1e+", "0x1F", "1_000", "--1", "1.2.3", "-"] {
        assert_found(&format!("[{number}]"), Code::InvalidNumber, number, "/0");
    }
    assert_found("[\"a\tb\"]", Code::ControlCharacter, "\t", "/0");
    assert_found(r#"["C:\data"]"#, Code::InvalidEscape, r"\d", "/0");
    assert_found(r#"["\u12"]"#, Code::InvalidEscape, r"\u", "/0");
    assert_found(r#"["\ud83d!"]"#, Code::LoneSurrogate, r"\ud83d", "/0");
    assert_found(r#"["\ude00"]"#, Code::LoneSurrogate, r"\ude00", "/0");
    let all = found(b"{\"a\": NaN, // x\n \"b\": \"\\q\", \"a\": [1,],}");
    let codes: Vec<_> = all.iter().map(|(code, _, _)| code.as_str()).collect();
    assert_eq!(
        codes,
        ["invalid_literal", "comment", "invalid_escape", "trailing_comma", "trailing_comma", "duplicate_key"]
    );
}

#[test]
fn every_duplicate_key_is_found_however_it_is_written() {
    let text = r#"{"a": 1, "b": {"x": 1, "x": 2}, "\u0061": 2, "a": 3}"#;
    let expected = [("\"x\"", "/b/x"), (r#""\u0061""#, "/a"), ("\"a\"", "/a")];
    assert_eq!(
        found(text.as_bytes()),
        expected.map(|(place, pointer)| (Code::DuplicateKey, place, pointer.to_owned()))
    );
    let (_, faults) = parse(text.as_bytes(), 64);
    assert!(faults[1..].iter().all(|fault| fault.related[0].0 == (1..4)), "both name the first use");
}

#[test]
fn a_duplicate_among_many_keys_is_found() {
    let keys = (0..100).map(|n| format!("\"k{n}\": {n}")).collect::<Vec<_>>().join(", ");
    assert_eq!(found(format!("{{{keys}}}").as_bytes()), []);
    assert_found(&format!("{{{keys}, \"k0\": 0}}"), Code::DuplicateKey, "\"k0\"", "/k0");
}

#[test]
fn the_first_byte_that_is_not_utf_8_is_reported() {
    let (document, faults) = parse(b"{\"a\": \"caf\xe9\"}", 64);
    assert!(document.is_none());
    assert_eq!((faults[0].code, faults[0].span.clone()), (Code::InvalidUtf8, 10..11));
    assert_eq!(found(b"[\"\xe2\x82")[0].0, Code::InvalidUtf8);
    assert_eq!(found(b"\xff\xfe[\0]\0")[0].0, Code::InvalidUtf8);
}

#[test]
fn a_byte_order_mark_is_reported_and_the_rest_is_read() {
    let codes: Vec<_> = found(b"\xef\xbb\xbf[1,]").into_iter().map(|(code, _, _)| code).collect();
    assert_eq!(codes, [Code::ByteOrderMark, Code::TrailingComma]);
}

#[test]
fn deep_nesting_is_bounded_and_cannot_overflow_the_stack() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(found(nested(64).as_bytes()), []);
    assert_eq!(found(nested(65).as_bytes())[0].0, Code::TooDeep);
    assert_eq!(parse(nested(1_000_000).as_bytes(), usize::MAX).1, []);
}

#[test]
fn a_truncated_document_reports_what_was_left_open_and_on_which_line() {
    let text = "{\n \"software\": [\n  {\"id\": \"a\"},";
    let (_, faults) = parse(text.as_bytes(), 64);
    assert_eq!(faults[0].message, "the file ends inside the array opened on line 2");
    assert_eq!((faults[0].pointer.as_str(), faults[0].span.clone()), ("/software", text.len()..text.len()));
    assert_eq!(faults[0].related[0].0, 15..16);
}

#[test]
fn every_truncated_export_is_an_error_with_a_position() {
    for length in 0..EXPORT.len() {
        let (_, faults) = parse(&EXPORT.as_bytes()[..length], 64);
        assert!(!faults.is_empty(), "the first {length} bytes");
        assert!(faults.iter().all(|fault| fault.span.end <= length), "the first {length} bytes");
    }
}

fn to_json(value: Value<'_>) -> Json {
    match value.kind() {
        Kind::Null | Kind::Invalid => Json::Null,
        Kind::True => Json::Bool(true),
        Kind::False => Json::Bool(false),
        Kind::Number => serde_json::from_str(value.raw()).expect("a number"),
        Kind::Plain | Kind::Escaped => Json::String(value.as_str().expect("a string").into_owned()),
        Kind::Array => value.elements().map(to_json).collect(),
        Kind::Object => {
            value.members().map(|(key, value)| (key.as_str().expect("a key").into_owned(), to_json(value))).collect()
        }
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("a JSON number", |n| n.is_finite()).prop_map(Json::from),
        ".*".prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
            prop::collection::hash_map(".{0,4}", inner, 0..20).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Generates text that is nearly JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\\u00e9\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "\"",
        "\\",
        "1",
        "-0",
        "1.5e3",
        "01",
        "1.",
        "-",
        "true",
        "nul",
        "null",
        "NaN",
        " ",
        "\n",
        "\t",
        "//",
        "/* */",
        "\u{1}",
        "é",
        "'",
        "\"a\":1",
        "[1,2]",
        "{\"k\":[]}",
        ",]",
        "\u{feff}",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(9001),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn any_value_is_read_as_it_was_written(json in any_json()) {
        for text in [serde_json::to_string(&json)?, serde_json::to_string_pretty(&json)?] {
            let (document, faults) = parse(text.as_bytes(), 64);
            prop_assert_eq!(faults, vec![]);
            let written: Json = serde_json::from_str(&text)?;
            prop_assert_eq!(to_json(document.expect("a document").root()), written);
        }
    }

    #[test]
    fn any_bytes_yield_a_document_or_a_finding(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (document, faults) = parse(&bytes, 8);
        prop_assert!(document.is_some() || !faults.is_empty());
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn the_verdict_matches_another_parser(text in nearly_json()) {
        let (_, faults) = parse(text.as_bytes(), 64);
        let is_valid = faults.iter().all(|fault| fault.code == Code::DuplicateKey);
        prop_assert_eq!(is_valid, serde_json::from_str::<Json>(&text).is_ok(), "{:?}", faults);
        for fault in &faults {
            prop_assert!(text.get(fault.span.clone()).is_some(), "{:?}", fault);
        }
    }
}
