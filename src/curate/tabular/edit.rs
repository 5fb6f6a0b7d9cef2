//! Edits JSON text without changing the order, spacing or spelling of anything else.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json_of;

/// A member of an object, or an element of an array.
pub(super) struct JsonItem<'t> {
    /// `None` in an array.
    pub(super) key: Option<Cow<'t, str>>,
    pub(super) value: &'t str,
    /// Spans the key and the value, or only the value in an array.
    span: Range<usize>,
    value_start: usize,
}

/// What to do with an item.
pub(super) enum Edit {
    Keep,
    Value(String),
    Remove,
}

/// The items of an object or array; `None` if the text is neither.
pub(super) fn items<'t>(text: &'t str) -> Option<Vec<JsonItem<'t>>> {
    let offset = |value: &str| value.as_ptr() as usize - text.as_ptr() as usize;
    if text.trim_ascii_start().starts_with('[') {
        let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let item = |value: &'t str| {
            let start = offset(value);
            JsonItem { key: None, value, span: start..start + value.len(), value_start: start }
        };
        return Some(elements.into_iter().map(|raw| item(raw.get())).collect());
    }
    let members = members(text)?;
    let mut end = text.find('{')? + 1;
    let mut items = Vec::new();
    for (key, raw) in members {
        let value_start = offset(raw.get());
        // There's only a comma and white space between two members.
        let start = end + text[end..value_start].find('"')?;
        end = value_start + raw.get().len();
        items.push(JsonItem { key: Some(key), value: raw.get(), span: start..end, value_start });
    }
    Some(items)
}

/// Rebuilds the text with some items changed and others added at its end. Added items are given as
/// JSON, with their keys if the text is an object.
pub(super) fn rebuild(
    text: &str,
    items: &[JsonItem<'_>],
    changes: &[Edit],
    added: &[(Option<&str>, String)],
) -> String {
    let open = text.find(['{', '[']).map_or(0, |at| at + 1);
    let close = text.rfind(['}', ']']).unwrap_or(text.len());
    let mut rebuilt = text[..open].to_owned();
    let mut end = open;
    let mut is_first = true;
    for (item, change) in items.iter().zip(changes) {
        let lead = &text[end..item.span.start];
        end = item.span.end;
        if matches!(change, Edit::Remove) {
            continue;
        }
        rebuilt.push_str(if is_first {
            lead.trim_start_matches(|c: char| c != ',').strip_prefix(',').unwrap_or(lead)
        } else {
            lead
        });
        is_first = false;
        match change {
            Edit::Value(value) => {
                rebuilt.push_str(&text[item.span.start..item.value_start]);
                rebuilt.push_str(value);
            }
            _ => rebuilt.push_str(&text[item.span.clone()]),
        }
    }
    let (space, colon) = style(text, items, open);
    for (key, value) in added {
        rebuilt.push_str(if is_first { "" } else { "," });
        rebuilt.push_str(&space);
        is_first = false;
        if let Some(key) = key {
            rebuilt.push_str(&json_of(*key));
            rebuilt.push_str(&colon);
        }
        rebuilt.push_str(value);
    }
    let tail = if items.is_empty() && !added.is_empty() && text[open..close].trim_ascii().is_empty() {
        ""
    } else {
        &text[end..close]
    };
    rebuilt.push_str(tail);
    rebuilt.push_str(&text[close..]);
    rebuilt
}

/// The white space before an item, and the text between key and value.
fn style(text: &str, items: &[JsonItem<'_>], open: usize) -> (String, String) {
    let Some(last) = items.last() else { return (String::new(), ": ".to_owned()) };
    let before = items.len().checked_sub(2).map_or(open, |index| items[index].span.end);
    let space = text[before..last.span.start].trim_start_matches(|c: char| c.is_whitespace() && before != open);
    let colon = text[..last.value_start].rfind(':').filter(|_| last.key.is_some());
    let colon = colon.map_or_else(|| ": ".to_owned(), |at| text[at..last.value_start].to_owned());
    (space.trim_start_matches(',').to_owned(), colon)
}

/// Writes an object with these members, spaced like another object; `None` if that object is empty.
pub(super) fn like<S: AsRef<str>>(object: &str, members: &[(&str, S)]) -> Option<String> {
    let items = items(object)?;
    let last = items.last()?;
    let (open, close) = (object.find('{')? + 1, object.rfind('}')?);
    let (space, colon) = style(object, &items, open);
    let first = object.get(open..items[0].span.start)?;
    let mut text = "{".to_owned();
    for (index, (key, value)) in members.iter().enumerate() {
        text.push_str(if index == 0 { first } else { "," });
        text.push_str(if index == 0 { "" } else { &space });
        text.push_str(&json_of(*key));
        text.push_str(&colon);
        text.push_str(value.as_ref());
    }
    text.push_str(object.get(last.span.end..close)?);
    text.push('}');
    Some(text)
}

/// An object's members in their original order, including those whose keys are used twice.
pub(super) type Members<'t> = Vec<(Cow<'t, str>, &'t RawValue)>;

/// The members of an object; `None` if the text is anything else.
pub(super) fn members(text: &str) -> Option<Members<'_>> {
    #[derive(Deserialize)]
    struct Key<'t>(#[serde(borrow)] Cow<'t, str>);
    struct Object;
    impl<'de> Visitor<'de> for Object {
        type Value = Members<'de>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((Key(key), value)) = map.next_entry()? {
                members.push((key, value));
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Object).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, set: &[(&str, Option<&str>)]) -> String {
        let items = items(text).expect("an object");
        let change = |item: &JsonItem<'_>| match set.iter().find(|(key, _)| item.key.as_deref() == Some(key)) {
            None => Edit::Keep,
            Some((_, None)) => Edit::Remove,
            Some((_, Some(value))) => Edit::Value((*value).to_owned()),
        };
        let changes: Vec<_> = items.iter().map(change).collect();
        let is_new = |key: &str| items.iter().all(|item| item.key.as_deref() != Some(key));
        let added: Vec<_> = set
            .iter()
            .filter(|(key, _)| is_new(key))
            .filter_map(|(key, value)| Some((Some(*key), (*value)?.to_owned())))
            .collect();
        rebuild(text, &items, &changes, &added)
    }

    #[test]
    fn unchanged_parts_are_kept_as_written() {
        let text = "{\n  \"a\" : 1.0,\n\n  \"b\": [ 1,2 ],\n  \"c\":\"\\u00e4\"\n}";
        assert_eq!(edited(text, &[("b", Some("3"))]), text.replace("[ 1,2 ]", "3"));
        assert_eq!(edited(text, &[("b", None)]), "{\n  \"a\" : 1.0,\n  \"c\":\"\\u00e4\"\n}");
        assert_eq!(edited(text, &[("a", None)]), "{\n\n  \"b\": [ 1,2 ],\n  \"c\":\"\\u00e4\"\n}");
        assert_eq!(edited(text, &[("d", Some("4"))]), text.replace("\"\n}", "\",\n  \"d\":4\n}"));
        assert_eq!(edited(text, &[("a", None), ("b", None), ("c", None), ("d", Some("4"))]), "{\n  \"d\":4\n}");
        assert_eq!(edited("{}", &[("d", Some("4"))]), "{\"d\": 4}");
        assert_eq!(edited("{\"a\":1}", &[("d", Some("4"))]), "{\"a\":1,\"d\":4}");
        assert_eq!(edited("{\"a\":1}", &[("a", None)]), "{}");
    }

    #[test]
    fn an_object_is_spaced_like_another() {
        let members = [("x", "1"), ("y", "2")];
        assert_eq!(like("{\n  \"a\": 0,\n  \"b\": 0\n}", &members).as_deref(), Some("{\n  \"x\": 1,\n  \"y\": 2\n}"));
        assert_eq!(like("{ \"a\":0, \"b\":0 }", &members).as_deref(), Some("{ \"x\":1, \"y\":2 }"));
        assert_eq!(like("{}", &members), None);
    }

    #[test]
    fn array_elements_are_changed_the_same_way() {
        let text = "[\n  {\"a\": 1},\n  {\"b\": 2}\n]";
        let of = items(text).expect("an array");
        assert_eq!(of[1].value, "{\"b\": 2}");
        let added = [(None, "{\"c\": 3}".to_owned())];
        assert_eq!(rebuild(text, &of, &[Edit::Remove, Edit::Keep], &added), "[\n  {\"b\": 2},\n  {\"c\": 3}\n]");
        assert!(items("5").is_none());
    }
}
