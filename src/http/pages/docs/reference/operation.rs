//! An operation: its parameters, an example, a form to try it out, and its responses.

use askama::Template;
use serde_json::Value;

use super::Prose;
use super::schema::{Properties, Property};
use super::{OpenApi, schema};

const RECORDED: &str = "recorded";

#[derive(Debug, Template)]
#[template(path = "docs/operation.html")]
pub(super) struct Operation {
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
    pub(super) fn new(api: OpenApi<'_>, path: &str, operation: &Value, host: &str) -> Self {
        let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
        let responses: Vec<_> = operation["responses"].as_object().into_iter().flatten().collect();
        let recorded = responses.iter().find_map(|(_, response)| recorded(api, response));
        let (target, example) = recorded.unwrap_or((path, String::new()));
        let parameters: Vec<_> = operation["parameters"].as_array().into_iter().flatten().collect();
        let is_open = |way: &Value| way.as_object().is_some_and(serde_json::Map::is_empty);
        Self {
            host: host.to_owned(),
            id: text("operationId"),
            title: text("summary"),
            path: path.to_owned(),
            about: Prose::paragraphs(&text("description")),
            parameters: Properties { rows: parameters.iter().map(|parameter| row(api, parameter)).collect() },
            needs_key: !operation["security"].as_array().is_some_and(|ways| ways.iter().any(is_open)),
            target: target.to_owned(),
            fields: parameters.iter().map(|parameter| field(api, parameter, path, target)).collect(),
            example,
            responses: responses.into_iter().map(|(status, of)| response(api, status, of)).collect(),
        }
    }
}

/// A response's recorded example: the request and the response body.
pub(super) fn recorded<'d>(api: OpenApi<'d>, response: &'d Value) -> Option<(&'d str, String)> {
    let (_, content) = api.resolve(response)["content"].as_object()?.iter().next()?;
    let example = content["examples"].get(RECORDED)?;
    let target = example["summary"].as_str()?.strip_prefix("GET ")?;
    Some((target, schema::example(api, &example["value"], &content["schema"], 0)))
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
