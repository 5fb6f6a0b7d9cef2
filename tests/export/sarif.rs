//! The SARIF log, checked against the standard's schema.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::reading::{envelope, examine, record};
use software_directory::export::{Report, render};

/// From the npm package `@microsoft/jest-sarif` 1.0.0-beta.0 (MIT).
const SCHEMA: &str = include_str!("sarif-2.1.0-rtm.5.schema.json");

/// The run in a log, after checking the log against the schema.
fn run(report: &Report) -> Value {
    let mut out = Vec::new();
    render::sarif(report, &mut out).expect("writing to a buffer can't fail");
    let log: Value = serde_json::from_slice(&out).expect("one document");
    // Two definitions have a pattern with a stray bracket, which ECMA 262's regular expressions
    // don't allow.
    let schema: Value = serde_json::from_str(&SCHEMA.replace("{2}]?$", "{2}$")).expect("JSON");
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
    let faults: Vec<_> =
        validator.iter_errors(&log).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert_eq!(faults, [""; 0]);
    log["runs"][0].clone()
}

#[test]
fn a_result_has_a_rule_a_level_a_region_and_logical_locations() {
    let text =
        envelope(&format!("\n\"software\": [{}]", record("e", r#", "rating": "high""#).replace(r#""e""#, r#""é""#)));
    let run = run(&examine(&[("data/a b.json", &text)]));
    let column = 1 + text.lines().nth(1).expect("a line").split("\"high\"").next().expect("a start").chars().count();
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("wrong_type"), &json!("error")));
    let message = "`rating` must be a number or null, but is a string (product `é` \"e name\")\nwrite a number from 0 to 5, or null";
    assert_eq!(result["message"]["text"], message);
    assert_eq!(
        result["locations"],
        json!([{
            "physicalLocation": {
                "artifactLocation": { "uri": "data/a%20b.json" },
                "region": {
                    "startLine": 2, "startColumn": column, "endColumn": column + 6,
                    "byteOffset": text.find("\"high\""), "byteLength": 6,
                },
            },
            "logicalLocations": [
                { "fullyQualifiedName": "/software/0/rating" },
                { "fullyQualifiedName": "/software/0", "name": "é", "kind": "object" },
            ],
        }])
    );
    let index = result["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok());
    let rule = &run["tool"]["driver"]["rules"][index.expect("an index")];
    assert_eq!(rule["id"], "wrong_type");
    assert_eq!(rule["shortDescription"]["text"], "A value of the wrong type.");
    assert!(rule["help"]["text"].as_str().is_some_and(|help| help.contains("keep the exports from being published")));
}

#[test]
fn both_locations_of_a_duplicate_id_are_reported() {
    let one = envelope(&format!("\"software\": [{}]", record("a", "")));
    let run = run(&examine(&[("1.json", &one), ("2.json", &one)]));
    let result = &run["results"].as_array().expect("results").iter().find(|result| result["level"] == "error");
    let result = result.expect("an error");
    let uri = |location: &Value| location["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert_eq!(uri(&result["locations"][0]), "2.json");
    let related = &result["relatedLocations"][0];
    assert_eq!((uri(related), &related["message"]["text"]), (json!("1.json"), &json!("first used here")));
    assert_eq!(related["physicalLocation"]["region"]["startLine"], 1);
}

#[test]
fn whole_files_many_findings_and_hostile_text_conform_to_the_schema() {
    let hostile = "[x](https://evil.example) \\u001b\\u202e {0}";
    let records = (0..150).map(|n| record(&format!("p{n} {hostile}"), r#", "rating": "high""#)).collect::<Vec<_>>();
    let many = envelope(&format!("\"software\": [{}]", records.join(",")));
    let files = [
        ("many.json", &*many),
        ("one/many.json", "{\n\"name\": \"x\""),
        ("two/many.json", "{\"name\": 1, \"name\": [\n], \"license\": \"x\", \"software\": []}"),
        ("csv.json", "a,b\n1,2\n"),
    ];
    let run = run(&examine(&files));
    let results = run["results"].as_array().expect("results");
    let codes: BTreeSet<_> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    assert!(codes.contains("truncated") && codes.contains("duplicate_key"), "{codes:?}");
    assert_eq!(results.iter().filter(|result| result["ruleId"] == "wrong_type").count(), 101);
    let notifications = run["invocations"][0]["toolExecutionNotifications"].as_array().expect("notifications");
    let of_many = notifications.iter().find(|more| more["associatedRule"]["id"] == "wrong_type").expect("one");
    assert_eq!(of_many["message"]["text"], "and 50 more of this kind: wrong_type");
    let texts: Vec<_> = results.iter().filter_map(|result| result["message"]["text"].as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("[x] (https://evil.example)")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("](")) && !run.to_string().contains('\u{202e}'));
}

#[test]
fn a_valid_set_has_no_results() {
    let run = run(&examine(&[("x.json", &envelope(&format!("\"software\": [{}]", record("a", ""))))]));
    assert_eq!((&run["results"], &run["tool"]["driver"]["rules"]), (&json!([]), &json!([])));
    assert_eq!((&run["properties"]["records"], &run["properties"]["errors"]), (&json!(1), &json!(0)));
}
