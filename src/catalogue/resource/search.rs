//! The parts of a search response other than the products.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the query was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueryReport {
    /// Words that were taken for a misspelling of others, and phrases that no product has, taken for their words.
    pub corrected: Vec<Correction>,
    /// Words that did not count: no product has them, or they were beyond the ten rarest.
    pub dropped: Vec<String>,
    /// Those of the dropped words that tell what is sought and that no product has: the hits have only other words of the query.
    /// Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub unknown: Vec<String>,
    /// Terms that were searched as well because they mean the same.
    pub synonyms: Vec<Correction>,
    /// Words and phrases that hits must not have: behind a `-`, or a `not` that leaves something out.
    pub excluded: Vec<String>,
    /// Ids of the products that the directory's editors put first for this query, in their order. Filters and exclusions apply to them
    /// too, and a product with exactly this name still comes before them.
    #[serde(default)]
    pub pinned: Vec<String>,
    /// The product that alternatives are looked for to, as the query has it. Absent where none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub alternatives_to: Option<String>,
    /// The id of that product if no product is called an alternative to it: the hits are products similar to it, and it comes last
    /// itself. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub alternatives_to_id: Option<String>,
    /// How many of the products found have all words. In the order of relevance these come first, and those with only some of the
    /// words follow.
    pub with_all_words: u64,
    /// How many of the products found have none of the words, but are near the query in meaning. In the order of relevance they come
    /// last. They're added only if words find few products.
    #[serde(default)]
    pub related: u64,
    /// `true` if the search stopped early, as too much work: total and counts are lower bounds. Absent otherwise.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(required = false)]
    pub incomplete: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A word of the query and what was searched for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Replacement)]
pub struct Correction {
    /// As the query has it.
    pub from: String,
    /// As it was searched.
    pub to: String,
}

/// One value of a facet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetValue<'a> {
    /// The value for the filter.
    #[serde(borrow)]
    pub value: Cow<'a, str>,
    /// The label to display.
    #[serde(borrow)]
    pub label: Cow<'a, str>,
    /// How many products of the result have it, its own filter left out.
    pub count: u64,
}

/// A field of a hit with the places that matched. A hit has about 16 KiB of them at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Highlight<'a> {
    /// The field's name.
    #[serde(borrow)]
    pub field: Cow<'a, str>,
    /// Its text (a part of it where it is long), escaped for HTML, the matches in `<mark>`.
    #[serde(borrow)]
    pub html: Cow<'a, str>,
    /// The first hundred matches in the field's text: as the product has it here, or for other fields in its record.
    #[schema(value_type = Vec<TextRange>)]
    pub ranges: Cow<'a, [TextRange]>,
    /// `synonym` where no word of the query is in the text, but one that means the same; further values may come. Absent otherwise.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub by: Option<Cow<'a, str>>,
    /// The language of the text, where it's a translation. Absent for the record's own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub language: Option<Cow<'a, str>>,
}

impl Highlight<'_> {
    /// Appends it as JSON, byte for byte as serde would, but faster if only line breaks need
    /// escaping. The field, `by` and language must be names that need no escaping.
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

/// A part of a text, in Unicode code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TextRange {
    /// Code points before it.
    pub start: u64,
    /// Its length in code points.
    pub length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highlight_is_written_the_way_serde_does() {
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
