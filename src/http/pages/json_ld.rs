//! Structured data for search engines (schema.org, JSON-LD).

use std::fmt;

use serde_json::{Value, json};

/// A JSON document as the content of a script element. HTML doesn't decode entities there, so
/// anything that could end the element is escaped as in JSON.
#[derive(Debug)]
pub(super) struct JsonLd(Value);

impl JsonLd {
    /// An object of a schema.org type; null members are omitted.
    pub(super) fn new(kind: &str, members: &[(&str, Value)]) -> Self {
        let mut thing = json!({"@context": "https://schema.org", "@type": kind});
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            thing[*name] = value.clone();
        }
        Self(thing)
    }

    /// Breadcrumbs from the home page to a page: names and absolute URLs.
    pub(super) fn breadcrumbs(places: &[(&str, String)]) -> Self {
        let items = (1..).zip(places).map(|(position, (name, url)): (u32, _)| {
            json!({"@type": "ListItem", "position": position, "name": name, "item": url})
        });
        Self::new("BreadcrumbList", &[("itemListElement", items.collect())])
    }
}

impl fmt::Display for JsonLd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        f.write_str(&text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_close_its_script_element() {
        let hostile = "</script><!--<script>&lt;\u{2028}";
        let text = JsonLd::new("Thing", &[("name", hostile.into()), ("url", Value::Null)]).to_string();
        assert!(!text.contains(['<', '>', '&']), "{text}");
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["name"], hostile);
        assert!(read.get("url").is_none());
    }
}
