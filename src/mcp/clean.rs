//! Texts of records, made harmless and short.

use serde_json::Value;

use crate::text::printable::marked_hidden;
use crate::text::shorten::shortened;

/// Replaces hidden characters, which a model reads and a person doesn't see, with U+FFFD, and cuts texts after `max_characters` code
/// points and arrays after `max_items`. Line ends and tabs are kept: JSON escapes them.
pub(super) fn clean(value: Value, max_characters: usize, max_items: usize) -> Value {
    match value {
        Value::String(text) => clean_text(&text, max_characters).into(),
        Value::Array(items) => {
            items.into_iter().take(max_items).map(|item| clean(item, max_characters, max_items)).collect()
        }
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, clean(member, max_characters, max_items))).collect()
        }
        other => other,
    }
}

fn clean_text(text: &str, max_characters: usize) -> String {
    let shown = |(c, is_hidden)| if is_hidden && !matches!(c, '\n' | '\r') { char::REPLACEMENT_CHARACTER } else { c };
    let clean: String = marked_hidden(text).map(shown).take(max_characters + 1).collect();
    shortened(&clean, max_characters).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_replaced_and_long_texts_cut() {
        let hidden = "a\u{1b}[2J\u{202e}b\u{e0041}\u{200b}\nc\td\u{0}";
        assert_eq!(clean(json!([hidden]), 100, 9), json!(["a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}\nc\td\u{fffd}"]));
        assert_eq!(clean(json!({"a": "äöü", "b": [1, 2, 3]}), 2, 2), json!({"a": "äö…", "b": [1, 2]}));
        assert_eq!(
            clean(json!("日本語 café 👩‍🔬"), 100, 9),
            json!("日本語 café 👩‍🔬"),
            "joiners of scripts and emoji stay"
        );
    }
}
