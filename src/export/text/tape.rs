//! A parsed document: a flat list of nodes with the byte spans of their text, 16 bytes per node.

use std::borrow::Cow;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Kind {
    Null,
    True,
    False,
    Number,
    /// A string without escapes.
    Plain,
    /// A string with escapes.
    Escaped,
    Array,
    Object,
    /// A word that isn't a JSON value, which has already been reported.
    Invalid,
}

/// A value or a key. An array's node is followed by its elements, an object's by alternating keys
/// and values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the first node after this one and its contents.
    pub(super) next: u32,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(in crate::export) struct Document<'t> {
    pub(super) text: &'t str,
    /// Never empty: the root comes first.
    pub(super) nodes: Vec<Node>,
}

/// A value or key in a document.
#[derive(Clone, Copy)]
pub(in crate::export) struct Value<'d> {
    text: &'d str,
    nodes: &'d [Node],
    index: usize,
}

impl Document<'_> {
    pub(in crate::export) fn root(&self) -> Value<'_> {
        Value { text: self.text, nodes: &self.nodes, index: 0 }
    }
}

impl<'d> Value<'d> {
    pub(super) const fn new(text: &'d str, nodes: &'d [Node], index: usize) -> Self {
        Self { text, nodes, index }
    }

    fn node(&self) -> Node {
        self.nodes[self.index]
    }

    pub(in crate::export) fn kind(&self) -> Kind {
        self.node().kind
    }

    /// The value's bytes in the file.
    pub(in crate::export) fn span(&self) -> Range<usize> {
        let [start, end] = self.bounds();
        start as usize..end as usize
    }

    /// The start and end of [`Self::span`].
    pub(in crate::export) fn bounds(&self) -> [u32; 2] {
        [self.node().start, self.node().end]
    }

    /// What a finding points at: only the opening bracket of an array or object, which may be many
    /// lines long; otherwise the whole span.
    pub(in crate::export) fn head(&self) -> Range<usize> {
        match self.kind() {
            Kind::Array | Kind::Object => self.span().start..self.span().start + 1,
            _ => self.span(),
        }
    }

    /// The value as written.
    pub(in crate::export) fn raw(&self) -> &'d str {
        &self.text[self.span()]
    }

    /// The unescaped text, if it's a string.
    pub(in crate::export) fn as_str(&self) -> Option<Cow<'d, str>> {
        let inner = || {
            let Range { start, end } = self.span();
            &self.text[start + 1..end - 1]
        };
        match self.kind() {
            Kind::Plain => Some(Cow::Borrowed(inner())),
            Kind::Escaped => Some(Cow::Owned(unescape(inner()))),
            _ => None,
        }
    }

    fn children(&self) -> impl Iterator<Item = Self> + use<'d> {
        let (text, nodes) = (self.text, self.nodes);
        let (first, end) = (self.index + 1, self.node().next as usize);
        let first = (first < end).then_some(first);
        std::iter::successors(first, move |index| Some(nodes[*index].next as usize).filter(|next| *next < end))
            .map(move |index| Value { text, nodes, index })
    }

    /// An array's elements; empty for other values.
    pub(in crate::export) fn elements(&self) -> impl Iterator<Item = Self> + use<'d> {
        let is_array = self.kind() == Kind::Array;
        self.children().take_while(move |_| is_array)
    }

    /// An object's members, as key and value; empty for other values.
    pub(in crate::export) fn members(&self) -> impl Iterator<Item = (Self, Self)> + use<'d> {
        let is_object = self.kind() == Kind::Object;
        let mut children = self.children().take_while(move |_| is_object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The value of the last member with this key.
    pub(in crate::export) fn get(&self, key: &str) -> Option<Self> {
        self.members().filter(|(name, _)| name.is_text(key)).last().map(|(_, value)| value)
    }

    pub(in crate::export) fn is_text(&self, text: &str) -> bool {
        self.as_str().is_some_and(|own| own == text)
    }

    /// The value's kind with an article, for messages.
    pub(in crate::export) fn describe(&self) -> &'static str {
        match self.kind() {
            Kind::Null => "null",
            Kind::True | Kind::False => "a boolean",
            Kind::Number => "a number",
            Kind::Plain | Kind::Escaped => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
            Kind::Invalid => "not a JSON value",
        }
    }
}

/// Unescapes the text between a string's quotes. Tolerates errors that the parser has reported: an
/// unpaired surrogate becomes U+FFFD, and an unknown escape becomes the character after `\`.
pub(super) fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (c, length) = escape(&rest[at..]);
        text.push(c);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text
}

/// The character that an escape stands for, and the escape's length in bytes.
fn escape(raw: &str) -> (char, usize) {
    let Some(letter) = raw[1..].chars().next() else { return ('\\', 1) };
    let c = match letter {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode(raw),
        other => other,
    };
    (c, 1 + letter.len_utf8())
}

fn unicode(raw: &str) -> (char, usize) {
    let Some(unit) = code_unit(raw) else { return ('u', 2) };
    if let Some(c) = char::from_u32(unit) {
        return (c, 6);
    }
    let low = raw.get(6..).and_then(code_unit).filter(|low| is_low_surrogate(*low));
    match low {
        Some(low) if is_high_surrogate(unit) => {
            let c = char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            (c.unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The UTF-16 code unit of the `\uXXXX` escape at the start of `raw`.
pub(super) fn code_unit(raw: &str) -> Option<u32> {
    let digits = raw.strip_prefix("\\u")?.get(..4)?;
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

pub(super) const fn is_high_surrogate(unit: u32) -> bool {
    matches!(unit, 0xd800..=0xdbff)
}

pub(super) const fn is_low_surrogate(unit: u32) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_stand_for_their_characters() {
        assert_eq!(unescape(r#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"#), "a\"\\/\u{8}\u{c}\n\r\té😀z");
    }

    #[test]
    fn an_unpaired_surrogate_becomes_the_replacement_character() {
        assert_eq!(unescape(r"\ud83d\n\ude00\ud83d\ud83d\ude00"), "\u{fffd}\n\u{fffd}\u{fffd}😀");
    }
}
