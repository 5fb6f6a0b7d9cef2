//! Values that are returned as they were written.

use serde_json::value::RawValue;

use super::Reader;
use crate::export::Code;
use crate::export::pointer::Path;
use crate::export::text::Value;
use crate::record::AdditionalProperty;

impl Reader {
    /// Leaves a property untouched, except for white space between its tokens: every digit and
    /// escape is kept.
    pub(super) fn keep(&mut self, key: &str, value: Value<'_>, path: Path<'_>) -> Option<AdditionalProperty> {
        if let Some(raw) = compact(value.raw()) {
            return Some((key.into(), raw));
        }
        let message = format!("`{key}` can't be kept");
        self.report(Code::UnusableProperty, value, path.member(key), message, "write it as a plain JSON value");
        None
    }
}

/// Removes the white space between a JSON value's tokens.
pub(super) fn compact(raw: &str) -> Option<Box<RawValue>> {
    let mut text = String::with_capacity(raw.len());
    write_compact(raw, &mut text);
    RawValue::from_string(text).ok()
}

pub fn write_compact(raw: &str, text: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find([' ', '\t', '\n', '\r', '"']) {
        let (before, found) = rest.split_at(at);
        text.push_str(before);
        let length = if found.starts_with('"') { string_length(found) } else { 1 };
        if length > 1 {
            text.push_str(&found[..length]);
        }
        rest = &found[length..];
    }
    text.push_str(rest);
}

/// The length of the string literal at the start, including quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn only_white_space_between_tokens_is_removed() {
        let raw = "{ \"a b\" : [ 1.50 , -0e+2,\n\t\"c \\\" d\\u0020\" ] , \"\" : { } }";
        let compacted = compact(raw).expect("JSON");
        assert_eq!(compacted.get(), r#"{"a b":[1.50,-0e+2,"c \" d\u0020"],"":{}}"#);
    }
}
