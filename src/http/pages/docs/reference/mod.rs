//! The API reference: a static page, rendered from the OpenAPI document at startup.

mod operation;
mod prose;
mod schema;

use askama::Template;
use serde_json::Value;

use self::operation::Operation;
pub(super) use self::prose::Prose;
use self::schema::Properties;

#[derive(Clone, Copy)]
struct OpenApi<'d>(&'d Value);

impl<'d> OpenApi<'d> {
    /// Resolves a reference within the document; returns other values unchanged.
    fn resolve(self, value: &'d Value) -> &'d Value {
        let target = value["$ref"].as_str().and_then(|path| self.0.pointer(path.strip_prefix('#')?));
        target.map_or(value, |target| self.resolve(target))
    }
}

#[derive(Debug, Template)]
#[template(path = "docs/reference.html")]
pub(super) struct Reference<'a> {
    host: &'a str,
    base: &'a str,
    groups: Vec<Group>,
    problem: Properties,
    headers: Vec<(String, Prose)>,
    /// The response body of the recorded search.
    pub(super) search_response: String,
}

#[derive(Debug)]
struct Group {
    id: String,
    title: String,
    about: Prose,
    operations: Vec<Operation>,
}

impl<'a> Reference<'a> {
    pub(super) fn new(document: &str, host: &'a str, base: &'a str) -> Self {
        // The service's own document is valid JSON; tests read the page.
        let document: Value = serde_json::from_str(document).unwrap_or_default();
        let api = OpenApi(&document);
        let tags = document["tags"].as_array().into_iter().flatten();
        let search = operation::recorded(api, &document["paths"]["/v1/search"]["get"]["responses"]["200"]);
        Self {
            host,
            base,
            groups: tags.map(|tag| group(api, tag, host)).collect(),
            problem: Properties::of(api, &document["components"]["schemas"]["Problem"], 0),
            headers: headers(api),
            search_response: search.map(|(_, response)| response).unwrap_or_default(),
        }
    }
}

fn group(api: OpenApi<'_>, tag: &Value, host: &str) -> Group {
    let paths = api.0["paths"].as_object().into_iter().flatten();
    let operations = paths.map(|(path, item)| (path, &item["get"])).filter(|(_, get)| get["tags"][0] == tag["name"]);
    let text = |key: &str| tag[key].as_str().unwrap_or_default();
    Group {
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
