//! The API reference: a static page, rendered from the OpenAPI document at startup.

mod operation;
mod prose;
mod schema;

use serde_json::Value;

use crate::text::html::escape;

#[derive(Clone, Copy)]
struct OpenApi<'d>(&'d Value);

impl<'d> OpenApi<'d> {
    /// Follows a reference into the document; returns other values as they are.
    fn resolve(self, value: &'d Value) -> &'d Value {
        let target = value["$ref"].as_str().and_then(|path| self.0.pointer(path.strip_prefix('#')?));
        target.map_or(value, |target| self.resolve(target))
    }
}

pub(super) struct Reference {
    pub(super) content: String,
    /// The recorded request of a search, and its response.
    pub(super) search: (String, String),
}

impl Reference {
    pub(super) fn new(document: &str) -> Self {
        // The service's own document is valid JSON; tests read the page.
        let document: Value = serde_json::from_str(document).unwrap_or_default();
        let api = OpenApi(&document);
        let tags = document["tags"].as_array().into_iter().flatten();
        let problem = &document["components"]["schemas"]["Problem"];
        let content = include_str!("page.html")
            .replace("{{groups}}", &tags.map(|tag| group(api, tag)).collect::<String>())
            .replace("{{problem}}", &schema::list(api, problem, 0))
            .replace("{{headers}}", &headers(api));
        let search = operation::recorded(api, &document["paths"]["/v1/search"]["get"]["responses"]["200"]);
        let search = search.map(|(request, response)| (request.to_owned(), response)).unwrap_or_default();
        Self { content, search }
    }
}

fn group(api: OpenApi<'_>, tag: &Value) -> String {
    let paths = api.0["paths"].as_object().into_iter().flatten();
    let operations = paths.map(|(path, item)| (path, &item["get"])).filter(|(_, get)| get["tags"][0] == tag["name"]);
    let text = |key: &str| tag[key].as_str().unwrap_or_default();
    format!(
        "<section class=\"group\">\n<h2 id=\"{}\">{}</h2>\n{}{}</section>\n",
        escape(&text("name").to_lowercase()),
        escape(text("name")),
        prose::paragraphs(text("description")),
        operations.map(|(path, get)| operation::render(api, path, get)).collect::<String>()
    )
}

fn headers(api: OpenApi<'_>) -> String {
    let headers = api.0["components"]["headers"].as_object().into_iter().flatten();
    let rows = headers.map(|(name, header)| {
        let description = prose::paragraphs(header["description"].as_str().unwrap_or_default());
        format!("<div id=\"header-{0}\"><dt><code>{0}</code></dt><dd>{description}</dd></div>\n", escape(name))
    });
    rows.collect()
}
