//! Makes text from records harmless and short.

use serde_json::Value;

use crate::text::printable::marked_hidden;
use crate::text::shorten::shortened;

/// Replaces hidden characters, which a model reads but people can't see, with U+FFFD. Cuts text
/// after `max_characters` code points and arrays after `max_items`. Line ends and tabs are kept,
/// since JSON escapes them.
pub(super) fn clean(mut value: Value, max_characters: usize, max_items: usize) -> Value {
    clean_in_place(&mut value, max_characters, max_items);
    value
}

fn clean_in_place(value: &mut Value, max_characters: usize, max_items: usize) {
    match value {
        Value::String(text) if !is_clean_ascii(text, max_characters) => *text = clean_text(text, max_characters),
        Value::Array(items) => {
            items.truncate(max_items);
            for item in items {
                clean_in_place(item, max_characters, max_items);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                clean_in_place(member, max_characters, max_items);
            }
        }
        _ => {}
    }
}

/// Whether [`clean_text`] would leave the text unchanged, as it does for nearly all text.
fn is_clean_ascii(text: &str, max_characters: usize) -> bool {
    text.len() <= max_characters && text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'))
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
    fn hidden_characters_are_replaced_and_long_text_is_cut() {
        let hidden = "a\u{1b}[2J\u{202e}b\u{e0041}\u{200b}\nc\td\u{0}";
        assert_eq!(clean(json!([hidden]), 100, 9), json!(["a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}\nc\td\u{fffd}"]));
        assert_eq!(clean(json!({"a": "äöü", "b": [1, 2, 3]}), 2, 2), json!({"a": "äö…", "b": [1, 2]}));
        assert_eq!(
            clean(json!("日本語 café 👩‍🔬"), 100, 9),
            json!("日本語 café 👩‍🔬"),
            "joiners in scripts and emoji are kept"
        );
    }
}
