//! Renders an operation: its parameters, an example, a form to try it, and its responses.

use serde_json::Value;

use super::{OpenApi, prose, schema};
use crate::text::html::escape;

const RECORDED: &str = "recorded";

pub(super) fn render(api: OpenApi<'_>, path: &str, operation: &Value) -> String {
    let text = |key: &str| operation[key].as_str().unwrap_or_default();
    let responses: Vec<_> = operation["responses"].as_object().into_iter().flatten().collect();
    let recorded = responses.iter().find_map(|(_, response)| recorded(api, response));
    let (target, example) = recorded.unwrap_or((path, String::new()));
    let parameters: Vec<_> = operation["parameters"].as_array().into_iter().flatten().collect();
    include_str!("operation.html")
        .replace("{{id}}", &escape(text("operationId")))
        .replace("{{title}}", &escape(text("summary")))
        .replace("{{path}}", &escape(path))
        .replace("{{description}}", &prose::paragraphs(text("description")))
        .replace("{{parameters}}", &list_of_parameters(api, &parameters))
        .replace("{{curl}}", &curl(operation, target))
        .replace("{{fields}}", &fields(api, text("operationId"), &parameters, path, target))
        .replace("{{example}}", &escape(&example))
        .replace("{{responses}}", &responses.iter().map(|(status, of)| response(api, status, of)).collect::<String>())
}

/// The request and the body of a response's recorded example.
pub(super) fn recorded<'d>(api: OpenApi<'d>, response: &'d Value) -> Option<(&'d str, String)> {
    let (_, content) = api.resolve(response)["content"].as_object()?.iter().next()?;
    let example = content["examples"].get(RECORDED)?;
    let target = example["summary"].as_str()?.strip_prefix("GET ")?;
    Some((target, schema::example(api, &example["value"], &content["schema"], 0)))
}

fn list_of_parameters(api: OpenApi<'_>, parameters: &[&Value]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let rows = parameters.iter().map(|parameter| {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default();
        let place: &[&str] = if text("in") == "path" { &["in the path"] } else { &[] };
        schema::row(api, text("name"), &parameter["schema"], place, text("description"), "")
    });
    format!("<h4>Parameters</h4>\n<dl class=\"properties\">\n{}</dl>\n", rows.collect::<String>())
}

fn curl(operation: &Value, target: &str) -> String {
    let needs_no_key = operation["security"]
        .as_array()
        .is_some_and(|ways| ways.iter().any(|way| way.as_object().is_some_and(serde_json::Map::is_empty)));
    let key = if needs_no_key { "" } else { "-H \"Authorization: Bearer $API_KEY\" \\\n  " };
    format!("curl {key}'{{{{host}}}}{}'", escape(target))
}

fn fields(api: OpenApi<'_>, operation: &str, parameters: &[&Value], path: &str, target: &str) -> String {
    let (target_path, query) = target.split_once('?').unwrap_or((target, ""));
    let fields = parameters.iter().map(|parameter| {
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
        format!(
            "<label for=\"{id}\"><code>{name}</code></label><input id=\"{id}\" name=\"{name}\" value=\"{}\" autocomplete=\"off\"{}{}>\n",
            escape(&value),
            if is_path { " data-in=\"path\" required" } else { "" },
            if is_array { " data-array placeholder=\"several with commas\"" } else { "" },
            id = escape(&format!("{operation}-{name}")),
            name = escape(name),
        )
    });
    fields.collect()
}

/// Renders a response: for a success, with headers and the body's properties; otherwise in one
/// line.
fn response(api: OpenApi<'_>, status: &str, response: &Value) -> String {
    let response = api.resolve(response);
    let description = prose::line(response["description"].as_str().unwrap_or_default());
    let row = |body: &str| format!("<div><dt><code>{status}</code></dt><dd><p>{description}</p>\n{body}</dd></div>\n");
    if !status.starts_with('2') {
        return row("");
    }
    let headers = response["headers"].as_object().into_iter().flatten();
    let headers: Vec<_> =
        headers.map(|(name, _)| format!("<a href=\"#header-{0}\"><code>{0}</code></a>", escape(name))).collect();
    let headers = if headers.is_empty() { String::new() } else { format!("<p>Headers: {}</p>\n", headers.join(" ")) };
    let contents = response["content"].as_object().into_iter().flatten();
    let bodies = contents.map(|(media_type, content)| {
        format!("<p><code>{}</code></p>\n{}", escape(media_type), schema::list(api, &content["schema"], 0))
    });
    row(&format!("{headers}{}", bodies.collect::<String>()))
}
