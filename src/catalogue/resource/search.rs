//! The parts of a search response other than the products.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the query was interpreted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueryReport {
    /// Words that were taken for misspellings of other words, and phrases that no product contains,
    /// which were searched as separate words.
    pub corrected: Vec<Correction>,
    /// Words that were dropped because no product contains them, or because they weren't among the
    /// ten rarest.
    pub dropped: Vec<String>,
    /// What no product has: words that name what the query is looking for, and values of filters.
    /// Absent if there's nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub unknown: Vec<UnknownValue>,
    /// Terms that were also searched for because they mean the same thing.
    pub synonyms: Vec<Correction>,
    /// Words and phrases that hits must not contain: those after a `-`, or after a `not` that
    /// excludes something.
    pub excluded: Vec<String>,
    /// Words after a `without` or `no`. Hits that have them come last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub unwanted: Vec<String>,
    /// Words that name values of attributes. Products with such a value come first; a filter
    /// would leave the others out. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub understood: Vec<UnderstoodAttribute>,
    /// Ids of the products that the directory's editors put first for this query, in that order.
    /// Filters and exclusions still apply to them, and a product with exactly this name still comes
    /// before them.
    #[serde(default)]
    pub pinned: Vec<String>,
    /// The product whose alternatives the query asks for, as written in the query. Absent if it
    /// doesn't ask for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub alternatives_to: Option<String>,
    /// Id of the product in `alternatives_to`, if no product is listed as an alternative to it. The
    /// hits are then the products most like it, at most ten. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub alternatives_to_id: Option<String>,
    /// How many of the products found contain all the words. The others contain only some of them,
    /// and are included if fewer than ten products contain all.
    pub with_all_words: u64,
    /// How many of the products found contain none of the words but are close to the query in
    /// meaning. When sorting by relevance, these come last. They're added only if the words match
    /// few products.
    #[serde(default)]
    pub related: u64,
    /// `true` if the search was stopped early because it took too much work. The total and the
    /// counts are then lower bounds. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub incomplete: bool,
}

impl QueryReport {
    /// Whether a word was dropped because no product contains it.
    pub(crate) fn is_unknown(&self, word: &str) -> bool {
        self.unknown.iter().any(|unknown| unknown.is_word() && unknown.value == word)
    }
}

/// Words of a query that name values of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnderstoodAttribute {
    /// As written in the query.
    pub words: String,
    /// The attribute's property.
    pub attribute: String,
    /// The values. `attribute={attribute}:{value}` for each of them keeps only products with one of
    /// them.
    pub values: Vec<String>,
}

/// A word or a filter's value that no product has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnknownValue {
    /// The parameter that it's in: `q` for a word.
    pub parameter: String,
    /// As written in the request.
    pub value: String,
    /// At most three existing values of the parameter that may have been meant, most similar first.
    pub nearest: Vec<String>,
}

impl UnknownValue {
    pub(crate) fn new(parameter: &str, value: &str, nearest: Vec<String>) -> Self {
        Self { parameter: parameter.to_owned(), value: value.to_owned(), nearest }
    }

    /// A word in a query.
    pub(crate) fn word(word: &str) -> Self {
        Self::new("q", word, Vec::new())
    }

    pub(crate) fn is_word(&self) -> bool {
        self.parameter == "q"
    }
}

/// A word in the query and what was searched for instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Replacement)]
pub struct Correction {
    /// As written in the query.
    pub from: String,
    /// As searched.
    pub to: String,
}

/// One value of a facet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetValue<'a> {
    /// The value to filter by.
    #[serde(borrow)]
    pub value: Cow<'a, str>,
    /// The label to display.
    #[serde(borrow)]
    pub label: Cow<'a, str>,
    /// Number of products in the result with this value, ignoring the facet's own filter.
    pub count: u64,
}

/// A field of a hit, with its matches. A hit has at most about 16 KiB of highlights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Highlight<'a> {
    /// The field's name.
    #[serde(borrow)]
    pub field: Cow<'a, str>,
    /// The field's text (an excerpt if it's long), HTML-escaped, with matches in `<mark>`.
    #[serde(borrow)]
    pub html: Cow<'a, str>,
    /// The first hundred matches in the field's text as given here or, for fields not given here,
    /// in the product's full record.
    #[schema(value_type = Vec<TextRange>)]
    pub ranges: Cow<'a, [TextRange]>,
    /// `synonym` if the text contains no word from the query, but one that means the same thing;
    /// more values may be added later. Absent otherwise.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub by: Option<Cow<'a, str>>,
    /// The text's language, if it's a translation. Absent for the record's own text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub language: Option<Cow<'a, str>>,
}

impl Highlight<'_> {
    /// Appends the highlight as JSON, byte for byte as serde would, but faster if only line breaks
    /// need escaping. The field, `by` and language must be names that don't need escaping.
    pub fn write(&self, json: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        let is_other = |byte: u8| byte != b'\n' && matches!(byte, 0..b' ' | b'"' | b'\\');
        if self.html.bytes().fold(false, |any, byte| any | is_other(byte)) {
            return serde_json::to_writer(json, self);
        }
        for part in [r#"{"field":""#, &self.field, r#"","html":""#] {
            json.extend_from_slice(part.as_bytes());
        }
        let html = self.html.as_bytes();
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', html) {
            json.extend_from_slice(&html[from..end]);
            json.extend_from_slice(br"\n");
            from = end + 1;
        }
        json.extend_from_slice(&html[from..]);
        json.extend_from_slice(br#"","ranges":["#);
        let mut digits = itoa::Buffer::new();
        for (at, range) in self.ranges.iter().enumerate() {
            json.extend_from_slice(if at == 0 { br#"{"start":"# } else { br#",{"start":"# });
            json.extend_from_slice(digits.format(range.start).as_bytes());
            json.extend_from_slice(br#","length":"#);
            json.extend_from_slice(digits.format(range.length).as_bytes());
            json.push(b'}');
        }
        json.push(b']');
        if let Some(by) = &self.by {
            json.extend_from_slice(br#","by":""#);
            json.extend_from_slice(by.as_bytes());
            json.push(b'"');
        }
        if let Some(language) = &self.language {
            json.extend_from_slice(br#","language":""#);
            json.extend_from_slice(language.as_bytes());
            json.push(b'"');
        }
        json.push(b'}');
        Ok(())
    }
}

/// A range of text, in Unicode code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TextRange {
    /// Number of code points before the range.
    pub start: u64,
    /// Number of code points in the range.
    pub length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_highlight_is_written_as_serde_would() {
        let ranges = [TextRange { start: 0, length: 6 }, TextRange { start: 10, length: 4 }];
        let texts = [
            "<mark>Permit</mark> to <mark>Wörk</mark> &amp; more",
            "",
            "\none\n\ntwo\n",
            "a\tb",
            "\u{1}",
            "\"",
            "\\\n",
        ];
        let cases = texts.iter().flat_map(|text| [(*text, &ranges[..], None), (*text, &ranges[..1], Some("synonym"))]);
        for (html, ranges, by) in cases {
            let (by, language) = (by.map(Cow::from), by.map(|_| Cow::from("de")));
            let highlight = Highlight { field: "name".into(), html: html.into(), ranges: ranges.into(), by, language };
            let mut json = Vec::new();
            highlight.write(&mut json).expect("written");
            assert_eq!(String::from_utf8(json).expect("text"), serde_json::to_string(&highlight).expect("written"));
        }
    }
}
