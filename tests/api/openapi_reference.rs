//! `docs/api.md`: every operation of the API, generated from the OpenAPI document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use software_directory::http::problem::ErrorCode;
use software_directory::http::{HttpConfig, openapi};

const HEAD: &str = "\
# API

<!-- Written by `UPDATE_SNAPSHOTS=1 cargo test --test server openapi`. -->

A running server has this reference at `/docs`, with examples and forms to try out, and as an OpenAPI 3.1 document at `/openapi.json`.

## Get a key

Everything under `/v1` needs a key, unless the operator has [opened the API](operations.md#open-the-api). The operator creates keys
with `software-directory keys create --name NAME` ([Keys](operations.md#keys)). A server on your own machine that has none keeps a key
for development in the file `development-key`.

```sh
curl -H \"Authorization: Bearer $KEY\" 'http://127.0.0.1:8080/v1/search?q=permit+to+work'
```

## What all operations share

- All operations accept `GET`, `HEAD` and `OPTIONS`.
- A list is `{\"data\": […], \"pagination\": {\"limit\", \"offset\", \"total\"}}` with an exact total, and `Link` headers lead to the other
  pages. A single record is `{\"data\": {…}}`.
- Unknown parameters, repeated parameters and out-of-range values are refused, and one response lists them all. Nothing is adjusted
  silently.
- Every response has an `X-Request-Id`, which is also in the log. Responses under `/v1` have an `ETag` (send it as `If-None-Match` to
  get a 304, which doesn't count against the quota), the `X-Generation` that they come from, and the state of the quota in
  `RateLimit` and `RateLimit-Policy`.
- Members and values may be added within `/v1`, but none will be removed. Ignore anything you don't recognise.
- Responses below were recorded from the bundled data. `…` stands for the rest of a long array or string.
- Any operation can respond with the [errors](#errors) 408, 414, 431 and 500, and those under `/v1` also with 400, 401, 403, 429 and
  503. Others are listed with the operation.

";

const OTHERS: &str = "
## Other paths

- `/feed.atom`, `/feed.json`: what changed in the products that match a search, as Atom and as JSON Feed. They take
  `q`, `id` and every filter of `/v1/search` ([Feeds](operations.md#feeds)).
- `/mcp`: the [tools for assistants](assistants.md), via the Model Context Protocol.
- `/schemas/export.json`: the JSON Schema of [export files](exports.md).
- `/docs`, `/docs/reference`, `/docs/errors`, `/llms.txt`, `/sitemap.xml`, `/robots.txt`: documentation, and documents for crawlers.
- `/records/…`: single records as JSON, which pages link to if they have to shorten one.
- `/`, `/software/{id}`, `/categories/{id}`, `/glossary`, `/compare`, `/exports`: web pages.
";

/// After an intended change, run the tests with `UPDATE_SNAPSHOTS=1` and review the diff.
#[test]
fn documented_operations_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api.md");
    let text = reference();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).expect("the document is written");
    }
    let committed = std::fs::read_to_string(&path).expect("the committed document");
    assert!(committed == text, "docs/api.md is out of date; run the tests with UPDATE_SNAPSHOTS=1 and review the diff");
}

fn reference() -> String {
    let document: Value = serde_json::from_str(&openapi(&HttpConfig::default())).expect("JSON");
    let operations: Vec<_> =
        document["tags"].as_array().expect("tags").iter().flat_map(|tag| of(tag, &document)).collect();
    // Parameters that several operations define alike.
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, operation) in &operations {
        for parameter in parameters(operation) {
            *counts.entry(parameter.to_string()).or_default() += 1;
        }
    }
    // Of a name's definitions, only the most frequent one.
    let is_shared = |parameter: &Value| {
        let count = counts[&parameter.to_string()];
        let same_name = operations.iter().flat_map(|(_, operation)| parameters(operation));
        let mut same_name = same_name.filter(|other| other["name"] == parameter["name"]);
        count > 1 && same_name.all(|other| counts[&other.to_string()] <= count)
    };
    let mut list = String::from("| path | |\n|---|---|\n");
    let (mut sections, mut shared) = (String::new(), String::from("\n## Shared parameters\n\n"));
    let mut described: Vec<&Value> = Vec::new();
    for (path, operation) in &operations {
        let title = string(&operation["summary"]);
        writeln!(list, "| [`{path}`](#{}) | {title} |", anchor(title)).expect("a string");
        describe(path, operation, is_shared, &mut sections);
        for parameter in parameters(operation).filter(|parameter| is_shared(parameter)) {
            if !described.contains(&parameter) {
                described.push(parameter);
                writeln!(shared, "{}", entry(parameter)).expect("a string");
            }
        }
    }
    format!("{HEAD}{list}{sections}{shared}{}{}{OTHERS}", objects(&document["components"]["schemas"]), errors())
}

fn of<'d>(tag: &'d Value, document: &'d Value) -> impl Iterator<Item = (&'d String, &'d Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths.map(|(path, item)| (path, &item["get"])).filter(move |(_, operation)| operation["tags"][0] == tag["name"])
}

fn parameters(operation: &Value) -> impl Iterator<Item = &Value> {
    operation["parameters"].as_array().into_iter().flatten()
}

fn describe(path: &str, operation: &Value, is_shared: impl Fn(&Value) -> bool, sections: &mut String) {
    let title = string(&operation["summary"]);
    write!(sections, "\n## {title}\n\n`GET {path}`\n\n{}\n", string(&operation["description"])).expect("a string");
    let own: Vec<_> = parameters(operation).filter(|parameter| !is_shared(parameter)).map(entry).collect();
    let names: Vec<_> = parameters(operation).filter(|parameter| is_shared(parameter)).map(name).collect();
    if !own.is_empty() {
        write!(sections, "\n{}\n", own.join("\n")).expect("a string");
    }
    if !names.is_empty() {
        let also = if own.is_empty() { "Takes" } else { "Also takes" };
        write!(sections, "\n{also} the [shared](#shared-parameters) {}.\n", names.join(", ")).expect("a string");
    }
    let answers = operation["responses"].as_object().expect("responses");
    let body = &answers["200"]["content"]["application/json"];
    let recorded = &body["examples"]["recorded"];
    let object = match string(&body["schema"]["$ref"]) {
        "" => String::new(),
        _ => format!(" returns {}", type_of(&body["schema"])),
    };
    if body.is_null() {
        let kinds: Vec<_> =
            answers["200"]["content"].as_object().expect("content").keys().map(String::as_str).collect();
        write!(sections, "\nReturns `{}`.\n", kinds.join("`, `")).expect("a string");
    } else {
        let mut example = String::new();
        write_json(&mut example, &recorded["value"], 0);
        write!(sections, "\n`{}`{object}:\n\n```json\n{example}\n```\n", string(&recorded["summary"]))
            .expect("a string");
    }
    let common = ["400", "401", "403", "408", "414", "429", "431", "500", "503"];
    let others = answers.keys().map(String::as_str).filter(|status| status.starts_with(['4', '5']));
    let others: Vec<_> = others.filter(|status| !common.contains(status)).collect();
    if !others.is_empty() {
        write!(sections, "\nOther [errors](#errors): {}.\n", others.join(", ")).expect("a string");
    }
}

fn name(parameter: &Value) -> String {
    format!("`{}`", string(&parameter["name"]))
}

/// The members of all objects in responses.
fn objects(schemas: &Value) -> String {
    let mut text = String::from("\n## Objects\n");
    let product = schemas["SoftwareItem"]["properties"].as_object().expect("properties");
    for (name, schema) in schemas.as_object().expect("schemas") {
        let members = schema["properties"].as_object().expect("properties");
        let is_product = name != "SoftwareItem" && product.keys().all(|member| members.contains_key(member));
        let more = if is_product { "The members of [`SoftwareItem`](#softwareitem), and:\n\n" } else { "" };
        write!(text, "\n### {name}\n\n{more}| member | type | meaning |\n|---|---|---|\n").expect("a string");
        for (member, of) in members {
            if !(is_product && product.contains_key(member)) {
                let meaning = string(&of["description"]).replace('\n', " ");
                writeln!(text, "| `{member}` | {} | {meaning} |", type_of(of)).expect("a string");
            }
        }
    }
    text
}

fn type_of(schema: &Value) -> String {
    if let Some(name) = string(&schema["$ref"]).rsplit_once('/').map(|(_, name)| name) {
        return format!("[`{name}`](#{})", name.to_lowercase());
    }
    let choices = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema[*key].as_array());
    if let Some(choices) = choices {
        return choices.iter().map(type_of).collect::<Vec<_>>().join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .map(|value| format!("`{}`", value.as_str().unwrap_or("null")))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let types = schema["type"].as_array().map_or_else(|| vec![&schema["type"]], |types| types.iter().collect());
    let types = types.into_iter().map(|name| match string(name) {
        "array" => format!("array of {}", type_of(&schema["items"])),
        "" => "any".to_owned(),
        name => name.to_owned(),
    });
    types.collect::<Vec<_>>().join(" or ")
}

/// Writes a recorded response, with the first elements of arrays and the beginnings of strings.
fn write_json(out: &mut String, value: &Value, depth: usize) {
    const WIDTH: usize = 110;
    let value = shortened(value);
    let line = value.to_string();
    if depth > 0 && line.chars().count() + 2 * depth <= WIDTH {
        return out.push_str(&line);
    }
    let indent = "  ".repeat(depth + 1);
    let mut block = |open: char, close: char, parts: Vec<(String, &Value)>| {
        out.push(open);
        for (index, (head, part)) in parts.iter().enumerate() {
            write!(out, "{}\n{indent}{head}", if index > 0 { "," } else { "" }).expect("a string");
            write_json(out, part, depth + 1);
        }
        write!(out, "\n{}{close}", "  ".repeat(depth)).expect("a string");
    };
    match &value {
        Value::Object(members) if !members.is_empty() => {
            block(
                '{',
                '}',
                members.iter().map(|(key, part)| (format!("{}: ", Value::from(key.as_str())), part)).collect(),
            );
        }
        Value::Array(elements) if !elements.is_empty() => {
            block('[', ']', elements.iter().map(|part| (String::new(), part)).collect());
        }
        _ => out.push_str(&line),
    }
}

fn shortened(value: &Value) -> Value {
    const LENGTH: usize = 80;
    const ELEMENTS: usize = 2;
    match value {
        Value::String(text) if text.chars().count() > LENGTH => {
            Value::from(text.chars().take(LENGTH).chain(['…']).collect::<String>())
        }
        Value::Array(elements) if elements.len() > ELEMENTS => {
            let first = elements.iter().take(ELEMENTS).map(shortened);
            Value::Array(first.chain([Value::from("…")]).collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(shortened).collect()),
        Value::Object(members) => members.iter().map(|(key, part)| (key.clone(), shortened(part))).collect(),
        _ => value.clone(),
    }
}

fn entry(parameter: &Value) -> String {
    let (name, text) = (string(&parameter["name"]), string(&parameter["description"]));
    format!("- **`{name}`** ({}): {}.", kind(&parameter["schema"]), text.trim_end_matches('.'))
}

/// The values that a schema allows.
fn kind(schema: &Value) -> String {
    let pattern = schema["pattern"].as_str().and_then(|pattern| pattern.strip_prefix("^(")?.strip_suffix(")$"));
    let choices: Vec<_> = match (schema["enum"].as_array(), pattern) {
        (Some(values), _) => values.iter().map(|value| format!("`{}`", string(value))).collect(),
        (None, Some(pattern)) => {
            pattern.split('|').map(|value| format!("`{}`", value.replace("\\..+", ".PROPERTY"))).collect()
        }
        _ => Vec::new(),
    };
    let mut kind = match string(&schema["type"]) {
        _ if !choices.is_empty() => choices.join(", "),
        "array" => format!("{}; repeatable", kind(&schema["items"])),
        "boolean" => "`true` or `false`".to_owned(),
        number @ ("integer" | "number") => {
            let what = if number == "integer" { "whole number" } else { "number" };
            match (&schema["minimum"], schema["maximum"].as_u64().filter(|maximum| *maximum < (1 << 53) - 1)) {
                (from, Some(to)) => format!("{what} from {from} to {to}"),
                (from, None) => format!("{what}, {from} or more"),
            }
        }
        _ if schema["format"] == "date" => "day".to_owned(),
        _ => match schema["maxLength"].as_u64() {
            Some(length) => format!("up to {length} characters"),
            None => "text".to_owned(),
        },
    };
    if !schema["default"].is_null() {
        let default = schema["default"].as_str().map_or_else(|| schema["default"].to_string(), str::to_owned);
        write!(kind, "; default `{default}`").expect("a string");
    }
    kind.replace("-?attribute.PROPERTY`", "attribute.PROPERTY`, `-attribute.PROPERTY`")
}

fn errors() -> String {
    let mut text =
        "\n## Errors\n\nErrors are `application/problem+json` (RFC 9457) with a `code` and a `detail` for people. \
                    Parameter errors also have an `errors` array.\n\n| status | code | cause and fix |\n|---|---|---|\n"
            .to_owned();
    let mut codes: Vec<_> = ErrorCode::ALL.iter().collect();
    codes.sort_by_key(|code| code.status());
    for code in codes {
        let (status, name) = (code.status().as_u16(), code.as_str());
        writeln!(text, "| {status} | `{name}` | {} {} |", code.cause(), code.cure()).expect("a string");
    }
    text
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A heading's anchor.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || *c == ' ');
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
