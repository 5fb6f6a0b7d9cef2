//! Lays out a JSON value of unknown structure for readers. Numbers keep all their digits.

use askama::Template;
use serde_json::value::RawValue;

use crate::catalogue::resource::Members;
use crate::http::pages::links;

/// Deeper values are shown as JSON.
const MAX_DEPTH: usize = 6;

#[derive(Debug, Template)]
#[template(path = "parts/value.html")]
pub(in crate::http::pages) enum Value {
    Text(String),
    /// A number, a flag, null, or JSON.
    Code(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The object's members that `keep` selects, in their original order.
    pub(in crate::http::pages) fn of(
        Members(members): &Members<'_>,
        keep: impl Fn(&str, &RawValue) -> bool,
    ) -> Result<Self, serde_json::Error> {
        let kept = members.iter().filter(|(name, json)| keep(name, json));
        kept.map(|(name, json)| Ok((name.clone().into_owned(), Self::at_depth(json, 1)?)))
            .collect::<Result<_, _>>()
            .map(Self::Object)
    }

    pub(in crate::http::pages) fn is_empty(&self) -> bool {
        matches!(self, Self::Object(members) if members.is_empty())
    }

    fn at_depth(json: &RawValue, depth: usize) -> Result<Self, serde_json::Error> {
        let text = json.get();
        Ok(match text.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            Some(b'[' | b'{') if depth == MAX_DEPTH => Self::Code(text.to_owned()),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                Self::List(items.into_iter().map(|item| Self::at_depth(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text)?;
                let members =
                    members.into_iter().map(|(name, value)| Ok((name.into_owned(), Self::at_depth(value, depth + 1)?)));
                Self::Object(members.collect::<Result<_, serde_json::Error>>()?)
            }
            _ => Self::Code(text.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(json: &str) -> String {
        let members: Members<'_> = serde_json::from_str(json).expect("JSON");
        Value::of(&members, |name, _| name != "left out").expect("read").render().expect("rendered")
    }

    #[test]
    fn values_are_escaped_and_numbers_keep_their_digits() {
        let shown = html(
            r#"{"left out": 0, "<b>": [1.50, 12345678901234567890123, null], "u": "https://a.example/", "t": "<i>"}"#,
        );
        for part in ["&lt;b&gt;", "1.50", "12345678901234567890123", "null", "href=\"https://a.example/\"", "&lt;i&gt;"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("<b>") && !shown.contains("<i>") && !shown.contains("left"), "{shown}");
    }

    #[test]
    fn deeply_nested_values_are_shown_as_json() {
        let deep = format!("{{\"deep\": {}1{}}}", "[".repeat(200), "]".repeat(200));
        assert!(html(&deep).contains(&"[".repeat(190)), "not a list in a list in a list");
    }
}
