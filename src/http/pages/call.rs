//! The "API request" section: how to request what a page shows, from the command line and with both
//! clients.

use askama::Template;
use serde_json::Value;

use super::language::Texts;
use super::links::segment;
use super::site::Site;
use crate::text::append;

/// The environment variable that the examples read the key from.
const KEY: &str = "SOFTWARE_DIRECTORY_API_KEY";

/// The URL used in examples if the service has no public URL.
const LOCAL: &str = "http://127.0.0.1:8080";

/// What URLs in examples start with.
pub(super) fn host(site: &Site) -> &str {
    if site.config.base().is_empty() { LOCAL } else { site.config.base() }
}

/// An API request, and the client method for it.
#[derive(Debug)]
pub(super) struct Call {
    /// The path, with `{}` for the id.
    pub(super) path: &'static str,
    pub(super) method: &'static str,
    pub(super) id: Option<String>,
    /// The query parameters; a name may occur several times.
    pub(super) parameters: Vec<(&'static str, String)>,
}

impl Call {
    pub(super) fn new(path: &'static str, method: &'static str) -> Self {
        Self { path, method, id: None, parameters: Vec::new() }
    }

    pub(super) fn of(path: &'static str, method: &'static str, id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..Self::new(path, method) }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => text,
            other => other.to_string(),
        };
        self.parameters.push((name, value));
        self
    }

    fn target(&self) -> String {
        let path = self.path.replace("{}", &segment(self.id.as_deref().unwrap_or_default()).to_string());
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.parameters).finish();
        if query.is_empty() { path } else { format!("{path}?{query}") }
    }

    /// The method's arguments in a programming language, given how that language writes an argument
    /// and a list of arguments.
    fn arguments(&self, argument: impl Fn(&str, &str) -> String, join: impl Fn(Vec<String>) -> String) -> String {
        let mut of: Vec<&str> = self.parameters.iter().map(|(name, _)| *name).collect();
        of.dedup();
        let values = of.into_iter().map(|name| {
            let values = self.parameters.iter().filter(|(of, _)| *of == name).map(|(_, value)| literal(name, value));
            match values.collect::<Vec<_>>().as_slice() {
                [one] => argument(name, one),
                several => argument(name, &format!("[{}]", several.join(", "))),
            }
        });
        let arguments = join(values.collect());
        let id = self.id.as_ref().map(|id| quoted(id));
        id.into_iter().chain((!arguments.is_empty()).then_some(arguments)).collect::<Vec<_>>().join(", ")
    }
}

/// A value as a literal in code, where numbers and booleans (`typo`, `highlight`) aren't quoted.
fn literal(name: &str, value: &str) -> String {
    match name {
        "limit" | "offset" | "min_rating" | "highlight" | "typo" => value.to_owned(),
        _ => quoted(value),
    }
}

/// A string in JSON syntax, which is valid in both languages.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[derive(Debug, Template)]
#[template(path = "parts/call.html")]
pub(super) struct Calls {
    t: &'static Texts,
    /// None if there's no server to send the request to.
    samples: Vec<(&'static str, String)>,
}

impl Calls {
    pub(super) fn new(t: &'static Texts, site: &Site, calls: &[Call]) -> Self {
        let (host, needs_key) = (host(site), site.config.public_api.is_none());
        if site.config.publication.is_some() {
            return Self { t, samples: Vec::new() };
        }
        let samples = vec![
            ("curl", curl(host, needs_key, calls)),
            ("TypeScript", typescript(host, needs_key, calls)),
            ("Python", python(host, needs_key, calls)),
        ];
        Self { t, samples }
    }
}

fn curl(host: &str, needs_key: bool, calls: &[Call]) -> String {
    let key = if needs_key { format!("-H \"Authorization: Bearer ${KEY}\" \\\n  ") } else { String::new() };
    let shell = |text: &str| text.replace('\'', "'\\''");
    let call = |call: &Call| format!("curl {key}'{}'", shell(&format!("{host}{}", call.target())));
    calls.iter().map(call).collect::<Vec<_>>().join("\n\n")
}

fn typescript(host: &str, needs_key: bool, calls: &[Call]) -> String {
    let key = if needs_key { format!("apiKey: process.env.{KEY}!, ") } else { String::new() };
    let mut code = format!(
        "import {{ SoftwareDirectory }} from \"software-directory\";\n\n\
         const client = new SoftwareDirectory({{ {key}baseUrl: {} }});\n",
        quoted(host)
    );
    for (at, call) in calls.iter().enumerate() {
        let join = |arguments: Vec<String>| {
            if arguments.is_empty() { String::new() } else { format!("{{ {} }}", arguments.join(", ")) }
        };
        let arguments = call.arguments(|name, value| format!("{name}: {value}"), join);
        append(&mut code, format_args!("const {} = await client.{}({arguments});\n", variable(call, at), call.method));
    }
    code
}

fn python(host: &str, needs_key: bool, calls: &[Call]) -> String {
    let (import, key) =
        if needs_key { ("import os\n\n", format!("api_key=os.environ[\"{KEY}\"], ")) } else { ("", String::new()) };
    let mut code = format!(
        "{import}from software_directory import SoftwareDirectory\n\nclient = SoftwareDirectory({key}base_url={})\n",
        quoted(host)
    );
    for (at, call) in calls.iter().enumerate() {
        let argument = |name: &str, value: &str| {
            let value = match value {
                "true" => "True",
                "false" => "False",
                value => value,
            };
            format!("{name}={value}")
        };
        let arguments = call.arguments(argument, |arguments| arguments.join(", "));
        append(&mut code, format_args!("{} = client.{}({arguments})\n", variable(call, at), call.method));
    }
    code
}

/// The variable that a call's result is assigned to: `result` for the first call, and for the
/// others, a name for what they request.
fn variable(call: &Call, at: usize) -> &'static str {
    let (resource, method) = call.method.split_once('.').unwrap_or((call.method, call.method));
    match (at, method) {
        (0, _) => "result",
        (_, "list") => resource,
        _ => method,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_quote_ids_and_parameter_values() {
        let calls = [
            Call::new("/v1/search", "search.products")
                .with("q", "it's \"$x\"")
                .with("category", "a")
                .with("category", "b"),
            Call::of("/v1/software/{}", "software.get", "a/b").with("highlight", true),
        ];
        let [curl, typescript, python] =
            [curl("http://h", true, &calls), typescript("http://h", true, &calls), python("http://h", true, &calls)];
        assert!(curl.contains("'http://h/v1/search?q=it%27s+%22%24x%22&category=a&category=b'"), "{curl}");
        assert!(curl.contains("'http://h/v1/software/a%2Fb?highlight=true'"), "{curl}");
        assert!(
            typescript
                .contains(r#"result = await client.search.products({ q: "it's \"$x\"", category: ["a", "b"] });"#),
            "{typescript}"
        );
        assert!(
            typescript.contains(r#"const get = await client.software.get("a/b", { highlight: true });"#),
            "{typescript}"
        );
        assert!(python.contains(r#"get = client.software.get("a/b", highlight=True)"#), "{python}");
    }
}
