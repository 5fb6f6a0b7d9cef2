//! Reads single properties: text, lists of strings, dates, links.

use fluent_uri::Uri;
use serde_json::value::RawValue;

use super::{Reader, host};
use crate::export::Code;
use crate::export::budget::{WORD_CHARS, overlong_word};
use crate::export::pointer::Path;
use crate::export::schema::is_uri;
use crate::export::text::{Kind, Value};
use crate::record::{AdditionalProperty, CalendarDate, Property};
use crate::text::shorten::{LIST_CHARS, is_longer};

/// Whether a known property's value was used. If not, it's kept unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Used,
    Additional,
}

impl Reader {
    /// Warns that a known property can't be used as is. Records and reviews still return it
    /// untouched.
    pub(super) fn unusable(&mut self, value: Value<'_>, path: Path<'_>, wanted: &str) -> Use {
        if value.kind() != Kind::Invalid {
            let key = if let Path::Member(_, key) = path { key } else { "this" };
            let message = format!("`{key}` should be {wanted}, but is {}, so it isn't used", value.describe());
            self.report(Code::UnusableProperty, value, path, message, format!("write {wanted}, or leave it out"));
        }
        Use::Additional
    }

    /// Reads text; null counts as no text.
    pub(super) fn text(&mut self, value: Value<'_>, path: Path<'_>, slot: &mut Option<Box<str>>) -> Use {
        if let Some(text) = value.as_str() {
            self.words(value, path, &text);
            *slot = Some(text.into());
        } else if value.kind() != Kind::Null {
            return self.unusable(value, path, "a string");
        }
        Use::Used
    }

    /// Reads a link that browsers can follow; null counts as none.
    pub(super) fn uri(
        &mut self,
        known: &Property,
        value: Value<'_>,
        path: Path<'_>,
        slot: &mut Option<Box<str>>,
    ) -> Use {
        match value.as_str() {
            Some(text) if is_uri(&text) => {
                if let Some(most) = known.max_chars.filter(|most| is_longer(&text, *most)) {
                    return self.unusable(value, path, &format!("a URI of at most {most} characters"));
                }
                self.link(value, path);
                *slot = Some(text.into());
            }
            None if value.kind() == Kind::Null => {}
            _ => return self.unusable(value, path, "a URI"),
        }
        Use::Used
    }

    /// Reads a list of strings. A single string counts as a list of one, null as an empty list.
    pub(super) fn texts(&mut self, value: Value<'_>, path: Path<'_>, slot: &mut Vec<Box<str>>) -> Use {
        if let Some(text) = value.as_str() {
            self.words(value, path, &text);
            if let (true, Path::Member(_, key)) = (text.contains([',', ';']), path)
                && key != "category"
            {
                let message = format!("`{key}` is a single string, but looks like a list of several");
                let help =
                    "if it is a list, write an array such as [\"one\", \"two\"]; otherwise an array with one string";
                self.report(Code::CommaList, value, path, message, help);
            }
            *slot = vec![text.into()];
            return Use::Used;
        }
        if value.kind() == Kind::Null {
            return Use::Used;
        }
        if value.kind() != Kind::Array {
            return self.unusable(value, path, "an array of strings");
        }
        let mut texts = Vec::new();
        for (index, element) in value.elements().enumerate() {
            let Some(text) = element.as_str() else {
                let message =
                    format!("this should be a string, but is {}, so the whole list isn't used", element.describe());
                self.report(Code::UnusableProperty, element, path.element(index), message, "write strings only");
                return Use::Additional;
            };
            self.words(element, path.element(index), &text);
            texts.push(text.into());
        }
        *slot = texts;
        Use::Used
    }

    /// Reports a word that's too long to search, and looks for blemishes.
    pub(super) fn words(&mut self, value: Value<'_>, path: Path<'_>, text: &str) {
        if let Some(length) = overlong_word(text) {
            let message = format!("a word of {length} characters is too long; at most {WORD_CHARS} are allowed");
            let help = "put spaces between its parts, or leave it out";
            self.report(Code::WordTooLong, value, path, message, help);
        }
        self.blemishes.look(value, path, text);
    }

    /// Warns about text that gets shortened in lists.
    pub(super) fn listed(&mut self, value: Value<'_>, path: Path<'_>) {
        let is_long = |text: &str| is_longer(text, LIST_CHARS) && overlong_word(text).is_none();
        if value.as_str().is_some_and(|text| is_long(&text)) {
            let message = format!("lists show only the first {LIST_CHARS} characters of this text");
            self.report(Code::LongText, value, path, message, "shorten it; longer text belongs in `description`");
        }
    }

    /// Looks for blemishes in text that isn't searched.
    pub(super) fn label(&mut self, value: Value<'_>, path: Path<'_>) {
        if let Some(text) = value.as_str() {
            self.blemishes.look(value, path, &text);
        }
    }

    /// Warns about a date that doesn't exist or is in the future.
    pub(super) fn date(&mut self, value: Value<'_>, path: Path<'_>) {
        let Some(text) = value.as_str() else { return };
        let Some(date) = CalendarDate::parse(&text) else {
            let message = format!("`{text}` isn't a calendar date");
            return self.report(
                Code::ImpossibleDate,
                value,
                path,
                message,
                "write the day as YYYY-MM-DD, such as \"2025-03-01\"",
            );
        };
        if date > self.today {
            let message = format!("`{text}` is in the future");
            self.report(Code::FutureDate, value, path, message, "write the day it was actually checked");
        }
    }

    /// Warns about links that browsers don't follow and hosts that can't belong to a public
    /// website.
    pub(super) fn link(&mut self, value: Value<'_>, path: Path<'_>) {
        let Some(text) = value.as_str() else { return };
        let Ok(uri) = Uri::parse(&*text) else { return };
        if is_web(&text) {
            if let Some((code, message, help)) = host::doubt(uri) {
                self.report(code, value, path, message, help);
            }
            return;
        }
        let scheme = text.split(':').next().unwrap_or_default();
        let message = format!("browsers don't follow links with the scheme `{scheme}`");
        self.report(Code::UnusualLink, value, path, message, "write an address that begins with https:// or http://");
    }
}

pub(in crate::export) fn is_web(uri: &str) -> bool {
    uri.split_once(':')
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

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
    use super::*;

    #[test]
    fn only_white_space_between_tokens_is_removed() {
        let raw = "{ \"a b\" : [ 1.50 , -0e+2,\n\t\"c \\\" d\\u0020\" ] , \"\" : { } }";
        let compacted = compact(raw).expect("JSON");
        assert_eq!(compacted.get(), r#"{"a b":[1.50,-0e+2,"c \" d\u0020"],"":{}}"#);
    }
}
