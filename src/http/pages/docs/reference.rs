//! The API reference: a static page, rendered from the OpenAPI document at startup.

use askama::Template;
use serde_json::{Map, Value};

use crate::http::pages::links::Base;
use crate::text::count::{agreeing, counted};

#[derive(Clone, Copy)]
struct OpenApi<'d>(&'d Value);

impl<'d> OpenApi<'d> {
    /// Resolves a reference within the document; returns other values unchanged.
    fn resolve(self, value: &'d Value) -> &'d Value {
        let target = value["$ref"].as_str().and_then(|path| self.0.pointer(path.strip_prefix('#')?));
        target.map_or(value, |target| self.resolve(target))
    }

    /// Whether no way to call an operation is open. Without a `security` of its own, it has the
    /// document's.
    fn needs_key(self, operation: &Value) -> bool {
        let ways = operation["security"].as_array().or_else(|| self.0["security"].as_array());
        !ways.is_some_and(|ways| ways.iter().any(|way| way.as_object().is_some_and(Map::is_empty)))
    }
}

#[derive(Debug, Template)]
#[template(path = "docs/reference.html")]
pub(super) struct Reference<'a> {
    host: &'a str,
    base: Base<'a>,
    needs_key: bool,
    groups: Vec<TagGroup>,
    problem: Properties,
    headers: Vec<(String, Prose)>,
    /// The recorded search: the request's path and the response's body.
    pub(super) search: (String, String),
    /// The API's operations, one line each.
    pub(super) outline: Vec<Line>,
}

/// An operation in a few words.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) title: String,
    pub(super) path: String,
    /// Whether the path can be requested as it is.
    pub(super) is_link: bool,
    pub(super) about: String,
    /// The parameters' names with their ranges and defaults.
    pub(super) parameters: Vec<String>,
}

impl Line {
    fn new(path: &str, operation: &Value) -> Self {
        let text = |key: &str| operation[key].as_str().unwrap_or_default();
        let about = text("description").split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let parameters = parameters.filter(|parameter| parameter["in"] == "query").map(|parameter| {
            let (name, schema) = (parameter["name"].as_str().unwrap_or_default(), &parameter["schema"]);
            let range = match (&schema["minimum"], &schema["maximum"]) {
                (least @ Value::Number(_), most @ Value::Number(_)) => Some(format!("{least} to {most}")),
                _ => None,
            };
            let notes: Vec<_> = range.into_iter().chain(default(schema)).collect();
            if notes.is_empty() { format!("`{name}`") } else { format!("`{name}` ({})", notes.join(", ")) }
        });
        let needs_more = |parameter: &Value| parameter["required"] == true;
        let is_link = !operation["parameters"].as_array().into_iter().flatten().any(needs_more);
        Self {
            title: text("summary").to_owned(),
            path: path.to_owned(),
            is_link,
            about,
            parameters: parameters.collect(),
        }
    }
}

#[derive(Debug)]
struct TagGroup {
    id: String,
    title: String,
    about: Prose,
    operations: Vec<Operation>,
}

impl<'a> Reference<'a> {
    pub(super) fn new(document: &str, host: &'a str, base: Base<'a>) -> Self {
        // The service's own document is valid JSON; tests read the page.
        let document: Value = serde_json::from_str(document).unwrap_or_default();
        let api = OpenApi(&document);
        let tags = document["tags"].as_array().into_iter().flatten();
        let search = recorded(api, &document["paths"]["/v1/search"]["get"]["responses"]["200"]);
        Self {
            host,
            base,
            needs_key: api.needs_key(&Value::Null),
            groups: tags.map(|tag| group(api, tag, host)).collect(),
            outline: api.0["paths"]
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(path, _)| path.starts_with("/v1/"))
                .map(|(path, item)| Line::new(path, &item["get"]))
                .collect(),
            problem: Properties::of(api, &document["components"]["schemas"]["Problem"], 0),
            headers: headers(api),
            search: search.map(|(request, response)| (request.to_owned(), response)).unwrap_or_default(),
        }
    }
}

fn group(api: OpenApi<'_>, tag: &Value, host: &str) -> TagGroup {
    let paths = api.0["paths"].as_object().into_iter().flatten();
    let operations = paths.map(|(path, item)| (path, &item["get"])).filter(|(_, get)| get["tags"][0] == tag["name"]);
    let text = |key: &str| tag[key].as_str().unwrap_or_default();
    TagGroup {
        id: text("name").to_lowercase(),
        title: text("name").to_owned(),
        about: Prose::paragraphs(text("description")),
        operations: operations.map(|(path, get)| Operation::new(api, path, get, host)).collect(),
    }
}

fn headers(api: OpenApi<'_>) -> Vec<(String, Prose)> {
    let headers = api.0["components"]["headers"].as_object().into_iter().flatten();
    let header = |(name, header): (&String, &Value)| {
        (name.clone(), Prose::paragraphs(header["description"].as_str().unwrap_or_default()))
    };
    headers.map(header).collect()
}

#[derive(Debug, Template)]
#[template(path = "docs/prose.html")]
pub(super) struct Prose {
    /// Each paragraph's parts, alternating between prose and code.
    paragraphs: Vec<Vec<(String, bool)>>,
    is_block: bool,
}

impl Prose {
    fn paragraphs(text: &str) -> Self {
        let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
        Self { paragraphs: paragraphs.map(marked).collect(), is_block: true }
    }

    /// Text within a paragraph.
    pub(super) fn line(text: &str) -> Self {
        Self { paragraphs: vec![marked(text)], is_block: false }
    }
}

fn marked(text: &str) -> Vec<(String, bool)> {
    text.split('`').enumerate().map(|(at, part)| (part.to_owned(), at % 2 == 1)).collect()
}

const RECORDED: &str = "recorded";

#[derive(Debug, Template)]
#[template(path = "docs/operation.html")]
struct Operation {
    host: String,
    id: String,
    title: String,
    path: String,
    about: Prose,
    parameters: Properties,
    needs_key: bool,
    /// The example's path and query.
    target: String,
    fields: Vec<Field>,
    /// The example's response body.
    example: String,
    responses: Vec<Response>,
}

/// A field in the form for trying out an operation.
#[derive(Debug)]
struct Field {
    name: String,
    value: String,
    is_path: bool,
    is_array: bool,
}

#[derive(Debug)]
struct Response {
    status: String,
    about: Prose,
    /// For success responses only: the header names, and the bodies by media type.
    headers: Vec<String>,
    bodies: Vec<(String, Properties)>,
}

impl Operation {
    fn new(api: OpenApi<'_>, path: &str, operation: &Value, host: &str) -> Self {
        let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
        let responses: Vec<_> = operation["responses"].as_object().into_iter().flatten().collect();
        let recorded = responses.iter().find_map(|(_, response)| recorded(api, response));
        let (target, example) = recorded.unwrap_or((path, String::new()));
        let parameters: Vec<_> = operation["parameters"].as_array().into_iter().flatten().collect();
        Self {
            host: host.to_owned(),
            id: text("operationId"),
            title: text("summary"),
            path: path.to_owned(),
            about: Prose::paragraphs(&text("description")),
            parameters: Properties { rows: parameters.iter().map(|parameter| row(api, parameter)).collect() },
            needs_key: api.needs_key(operation),
            target: target.to_owned(),
            fields: parameters.iter().map(|parameter| field(api, parameter, path, target)).collect(),
            example,
            responses: responses.into_iter().map(|(status, of)| response(api, status, of)).collect(),
        }
    }
}

/// A response's recorded example: the request and the response body.
fn recorded<'d>(api: OpenApi<'d>, response: &'d Value) -> Option<(&'d str, String)> {
    let (_, content) = api.resolve(response)["content"].as_object()?.iter().next()?;
    let recorded = content["examples"].get(RECORDED)?;
    let target = recorded["summary"].as_str()?.strip_prefix("GET ")?;
    Some((target, example(api, &recorded["value"], &content["schema"], 0)))
}

fn row(api: OpenApi<'_>, parameter: &Value) -> Property {
    let text = |key: &str| parameter[key].as_str().unwrap_or_default();
    let place: &[&str] = if text("in") == "path" { &["in the path"] } else { &[] };
    Property::new(api, text("name"), &parameter["schema"], place, text("description"), None)
}

fn field(api: OpenApi<'_>, parameter: &Value, path: &str, target: &str) -> Field {
    let (target_path, query) = target.split_once('?').unwrap_or((target, ""));
    let name = parameter["name"].as_str().unwrap_or_default();
    let is_path = parameter["in"] == "path";
    let value = if is_path {
        let segments = path.split('/').zip(target_path.split('/'));
        segments.filter(|(of, _)| *of == format!("{{{name}}}")).map(|(_, value)| value.to_owned()).collect()
    } else {
        let given = form_urlencoded::parse(query.as_bytes()).filter(|(of, _)| of == name);
        given.map(|(_, value)| value.into_owned()).collect::<Vec<_>>().join(",")
    };
    let is_array = api.resolve(&parameter["schema"])["type"] == "array";
    Field { name: name.to_owned(), value, is_path, is_array }
}

fn response(api: OpenApi<'_>, status: &str, response: &Value) -> Response {
    let response = api.resolve(response);
    let members = |key: &str| response[key].as_object().into_iter().flatten().filter(|_| status.starts_with('2'));
    Response {
        status: status.to_owned(),
        about: Prose::line(response["description"].as_str().unwrap_or_default()),
        headers: members("headers").map(|(name, _)| name.clone()).collect(),
        bodies: members("content")
            .map(|(media_type, content)| (media_type.clone(), Properties::of(api, &content["schema"], 0)))
            .collect(),
    }
}

/// How deep to nest property lists, since schemas may be recursive.
const MAX_DEPTH: usize = 6;

/// The largest integer that JSON numbers represent exactly. As a maximum, it isn't worth showing.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// A schema's alternatives other than `null`, or the schema itself if it has none.
fn alternatives<'d>(api: OpenApi<'d>, schema: &'d Value) -> Vec<&'d Value> {
    let schema = api.resolve(schema);
    let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array());
    let others = alternatives.map(|all| all.iter().map(|one| api.resolve(one)).filter(|one| one["type"] != "null"));
    others.map_or_else(|| vec![schema], Iterator::collect)
}

fn is_nullable(api: OpenApi<'_>, schema: &Value) -> bool {
    let schema = api.resolve(schema);
    let has_null =
        |key: &str| schema[key].as_array().is_some_and(|all| all.iter().any(|one| api.resolve(one)["type"] == "null"));
    has_null("oneOf")
        || has_null("anyOf")
        || schema["type"].as_array().is_some_and(|types| types.contains(&"null".into()))
}

/// The type in words, such as `array of strings or null`.
fn kind(api: OpenApi<'_>, schema: &Value) -> String {
    let mut kinds: Vec<_> = alternatives(api, schema).into_iter().map(|schema| one_kind(api, schema)).collect();
    kinds.dedup();
    if is_nullable(api, schema) {
        kinds.push("null".to_owned());
    }
    kinds.join(" or ")
}

fn one_kind(api: OpenApi<'_>, schema: &Value) -> String {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).filter(|of| *of != "null").collect(),
        _ => vec!["any value"],
    };
    match (types.as_slice(), schema["format"].as_str()) {
        (["array"], _) => format!("array of {}", plural(&kind(api, &schema["items"]))),
        (["string"], Some(format)) => format!("string ({format})"),
        _ => types.join(" or "),
    }
}

fn plural(kind: &str) -> String {
    let (noun, rest) = kind.split_once(' ').map_or((kind, String::new()), |(noun, rest)| (noun, format!(" {rest}")));
    if noun == "any" { "any values".to_owned() } else { format!("{noun}s{rest}") }
}

/// A value's limits in words: range, length, default.
fn limits(api: OpenApi<'_>, schema: &Value) -> Vec<String> {
    let mut limits = Vec::new();
    for schema in alternatives(api, schema) {
        let maximum = schema["maximum"].as_f64().filter(|maximum| *maximum < MAX_SAFE_INTEGER);
        limits.extend(match (schema["minimum"].as_f64(), maximum) {
            (Some(from), Some(to)) => Some(format!("{from} to {to}")),
            (Some(from), None) => Some(format!("from {from}")),
            (None, Some(to)) => Some(format!("up to {to}")),
            (None, None) => None,
        });
        limits.extend(
            schema["maxLength"]
                .as_u64()
                .map(|most| format!("up to {most} {}", agreeing(most, "character", "characters"))),
        );
        limits.extend(schema["maxItems"].as_u64().map(|most| format!("up to {}", counted(most, "item"))));
        limits.extend(default(schema));
    }
    limits
}

fn default(schema: &Value) -> Option<String> {
    schema.get("default").map(|default| match default {
        Value::String(text) => format!("default {text}"),
        other => format!("default {other}"),
    })
}

/// The allowed values of a schema or of its items.
fn values<'d>(api: OpenApi<'d>, schema: &'d Value) -> Vec<&'d str> {
    let values = alternatives(api, schema).into_iter().flat_map(|schema| {
        let items = api.resolve(&schema["items"]);
        schema["enum"].as_array().or_else(|| items["enum"].as_array()).into_iter().flatten()
    });
    values.filter_map(Value::as_str).collect()
}

/// The properties of an object, of an array's items or of a map's values: required ones first,
/// otherwise in their original order.
fn properties<'d>(api: OpenApi<'d>, schema: &'d Value) -> Vec<(&'d str, &'d Value, bool)> {
    let mut found = Vec::new();
    for schema in alternatives(api, schema) {
        let of = schema["properties"].as_object();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let member = |of: &'d Map<String, Value>, name: &str| of.get_key_value(name);
        let first = required.iter().filter_map(|name| member(of?, name)).map(|(name, of)| (name.as_str(), of, true));
        found.extend(first);
        let others = of.into_iter().flatten().filter(|(name, _)| !required.contains(&name.as_str()));
        found.extend(others.map(|(name, of)| (name.as_str(), of, false)));
        for inner in [&schema["items"], &schema["additionalProperties"]].into_iter().filter(|inner| inner.is_object()) {
            found.extend(properties(api, inner));
        }
    }
    found
}

/// A list of parameters or properties.
#[derive(Debug, Template)]
#[template(path = "docs/properties.html")]
struct Properties {
    rows: Vec<Property>,
}

#[derive(Debug)]
struct Property {
    name: String,
    /// The type in words, and its limits.
    notes: String,
    about: Prose,
    values: Vec<String>,
    nested: Option<Nested>,
}

/// A property's own properties, which can be expanded.
#[derive(Debug)]
struct Nested {
    count: usize,
    is_open: bool,
    list: Properties,
}

impl Property {
    /// `notes` are appended to the type.
    fn new(
        api: OpenApi<'_>,
        name: &str,
        schema: &Value,
        notes: &[&str],
        description: &str,
        nested: Option<Nested>,
    ) -> Self {
        let notes = notes.iter().map(|note| (*note).to_owned());
        let notes: Vec<_> = std::iter::once(kind(api, schema)).chain(notes).chain(limits(api, schema)).collect();
        Self {
            name: name.to_owned(),
            notes: notes.join(", "),
            about: Prose::paragraphs(description),
            values: values(api, schema).into_iter().map(str::to_owned).collect(),
            nested,
        }
    }
}

impl Properties {
    /// The properties of a schema.
    fn of(api: OpenApi<'_>, schema: &Value, depth: usize) -> Self {
        let rows = properties(api, schema).into_iter().map(|(name, schema, is_required)| {
            let count = properties(api, schema).len();
            let nested = (count > 0 && depth < MAX_DEPTH).then(|| Nested {
                count,
                is_open: depth == 0 && name == "data",
                list: Self::of(api, schema, depth + 1),
            });
            let own = schema["description"].as_str();
            let description = own.or_else(|| api.resolve(schema)["description"].as_str()).unwrap_or_default();
            Property::new(api, name, schema, if is_required { &[] } else { &["optional"] }, description, nested)
        });
        Self { rows: rows.collect() }
    }
}

/// An example, indented by two spaces. Its members are in the schema's order, which is how the
/// service sends them.
fn example(api: OpenApi<'_>, value: &Value, schema: &Value, indent: usize) -> String {
    let (inner, outer) = ("  ".repeat(indent + 1), "  ".repeat(indent));
    let of = properties(api, schema);
    let lines: Vec<_> = match value {
        Value::Object(members) if !members.is_empty() => {
            let place = |name: &str| of.iter().position(|(of, ..)| *of == name).unwrap_or(usize::MAX);
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| place(name));
            let line = |(name, value): (&String, &Value)| {
                let schema = of.iter().find(|(of, ..)| of == name).map_or(&Value::Null, |(_, schema, _)| schema);
                format!("{inner}{}: {}", Value::from(name.as_str()), example(api, value, schema, indent + 1))
            };
            members.into_iter().map(line).collect()
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{inner}{}", example(api, item, schema, indent + 1))).collect()
        }
        other => return other.to_string(),
    };
    let [open, close] = if value.is_object() { ["{", "}"] } else { ["[", "]"] };
    format!("{open}\n{}\n{outer}{close}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn code_is_marked_and_markup_escaped() {
        let html = |text| Prose::paragraphs(text).render().expect("rendered");
        assert_eq!(html("a <b> `c<d`\n\ne"), "<p>a &lt;b&gt; <code>c&lt;d</code></p>\n<p>e</p>\n");
        assert_eq!(html(""), "");
    }

    #[test]
    fn types_are_described_in_words() {
        let document = json!({"components": {"schemas": {"Kind": {"type": "string", "enum": ["a", "b"]}}}});
        let api = OpenApi(&document);
        let reference = json!({"$ref": "#/components/schemas/Kind"});
        for (schema, words) in [
            (json!({"type": "array", "items": {"type": "string", "format": "date"}}), "array of strings (date)"),
            (json!({"type": ["integer", "null"]}), "integer or null"),
            (json!({"type": ["string", "null"], "enum": ["a", null]}), "string or null"),
            (json!({"type": ["array", "null"], "items": {"type": "integer"}}), "array of integers or null"),
            (json!({"oneOf": [{"type": "null"}, reference]}), "string or null"),
            (json!({}), "any value"),
        ] {
            assert_eq!(kind(api, &schema), words);
        }
        assert_eq!(values(api, &json!({"type": "array", "items": reference})), ["a", "b"]);
        assert_eq!(values(api, &json!({"type": ["string", "null"], "enum": ["a", null]})), ["a"]);
    }

    #[test]
    fn example_follows_the_schemas_order() {
        let document = json!({});
        let schema = json!({"type": "object", "required": ["z", "a"], "properties": {"a": {"type": "array"}, "z": {}}});
        let text = example(OpenApi(&document), &json!({"a": [], "z": 1}), &schema, 0);
        assert_eq!(text, "{\n  \"z\": 1,\n  \"a\": []\n}");
    }
}
