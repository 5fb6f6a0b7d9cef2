//! `docs/api.md`: every operation of the API, generated from the OpenAPI document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use software_directory::http::problem::ErrorCode;
use software_directory::http::{HttpConfig, openapi};

const HEAD: &str = "\
# API

<!-- Written by `UPDATE_SNAPSHOTS=1 cargo test --test api openapi`. -->

A running server has this reference at `/docs`, with examples and forms to try out, and as an OpenAPI 3.1 document at `/openapi.json`.

```sh
curl -H \"Authorization: Bearer $KEY\" 'http://127.0.0.1:8080/v1/search?q=permit+to+work'
```

Everything under `/v1` needs a key, unless the operator has [opened the API](operations.md#open-the-api). All operations accept `GET`, `HEAD` and `OPTIONS`.

- A list is `{\"data\": […], \"pagination\": {\"limit\", \"offset\", \"total\"}}` with an exact total, and `Link` headers lead to the other
  pages. A single record is `{\"data\": {…}}`.
- Unknown parameters, repeated parameters and out-of-range values are refused, and one response lists them all. Nothing is adjusted
  silently.
- Every response has an `X-Request-Id`, which is also in the log. Responses under `/v1` have an `ETag` (send it as `If-None-Match` to
  get a 304, which doesn't count against the quota), the `X-Generation` that they come from, and the state of the quota in
  `RateLimit` and `RateLimit-Policy`.
- Keys and values may be added within `/v1`, but none will be removed. Ignore anything you don't recognise.

";

const OTHERS: &str = "
## Other paths

- `/feed.atom`: an Atom feed of added products and renewed evidence; `category` restricts it to one category.
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
    let (mut list, mut sections) = (String::from("| path | |\n|---|---|\n"), String::new());
    // Maps each parameter's name and definition to where it was first described.
    let mut described: BTreeMap<String, String> = BTreeMap::new();
    for tag in document["tags"].as_array().expect("tags") {
        let tag = &tag["name"];
        for (path, item) in document["paths"].as_object().expect("paths") {
            let operation = &item["get"];
            if operation["tags"][0] == *tag {
                let title = string(&operation["summary"]);
                writeln!(list, "| [`{path}`](#{}) | {title} |", anchor(title)).expect("a string");
                describe(path, operation, &mut described, &mut sections);
            }
        }
    }
    format!("{HEAD}{list}{sections}{}{OTHERS}", errors())
}

fn describe(path: &str, operation: &Value, described: &mut BTreeMap<String, String>, sections: &mut String) {
    let title = string(&operation["summary"]);
    write!(sections, "\n## {title}\n\n`GET {path}`\n\n{}\n", string(&operation["description"])).expect("a string");
    let mut before: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut own = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        if let Some(place) = described.get(&parameter.to_string()) {
            before.entry(place.clone()).or_default().push(format!("`{}`", string(&parameter["name"])));
        } else {
            described.insert(parameter.to_string(), title.to_owned());
            own.push(entry(parameter));
        }
    }
    if !own.is_empty() {
        write!(sections, "\n{}\n", own.join("\n")).expect("a string");
    }
    for (place, names) in before {
        write!(sections, "\nAlso takes {}, described under [{place}](#{}).\n", names.join(", "), anchor(&place))
            .expect("a string");
    }
    let answers = operation["responses"].as_object().expect("responses");
    let errors: Vec<_> = answers.keys().filter(|status| status.starts_with(['4', '5'])).map(String::as_str).collect();
    write!(sections, "\n[Errors](#errors): {}.\n", errors.join(", ")).expect("a string");
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
