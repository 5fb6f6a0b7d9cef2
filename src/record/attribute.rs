//! Attributes: the properties of products that a directory filters, counts and sorts by.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::property::{AttributeType, BUILT_IN, SOFTWARE, Section};
use super::{CalendarDate, Language, Software, Translations};
use crate::text::fold::folded;
use crate::text::shorten::{LIST_CHARS, is_longer};

/// How many attributes a directory may have, including the built-in ones.
pub const MAX_ATTRIBUTES: usize = 64;

/// The maximum number of distinct values per attribute that a directory is designed for. More would
/// use up memory without helping readers.
pub const MAX_VALUES: usize = 100_000;

/// Separates the ends of a range.
const TO: &str = "..";

/// A property that products are filtered and counted by, as declared in an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// The property's key in a record.
    pub property: Box<str>,
    pub label: Box<str>,
    pub kind: AttributeType,
    /// The unit of the attribute's numbers.
    pub unit: Option<Box<str>>,
    /// Whether searches look for words in the attribute's values.
    pub searchable: bool,
    /// Whether pages leave the attribute out.
    pub hidden: bool,
    /// After how many days evidence for the attribute is stale. Only a curator's tools use it.
    #[serde(skip)]
    pub max_age_days: Option<u16>,
    /// The label's language, unless it's English.
    pub language: Option<Language>,
    /// Translations of the label.
    pub translations: Translations,
}

/// The values that a filter accepts, as an inclusive range of keys. An open end is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    pub from: Option<String>,
    pub to: Option<String>,
}

impl KeyRange {
    pub fn one(key: &str) -> Self {
        Self { from: Some(key.to_owned()), to: Some(key.to_owned()) }
    }

    /// The key of the only value in the range, if there's just one.
    pub fn single(&self) -> Option<&str> {
        self.from.as_deref().filter(|from| self.to.as_deref() == Some(from))
    }
}

/// An attribute's position in its directory's table.
pub type AttributeNumber = usize;

/// A directory's attributes: the built-in ones, then those declared by its exports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes(Vec<Attribute>);

impl AttributeType {
    /// Whether the values have an order, so that ranges make sense.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::Number | Self::Date)
    }

    /// The key that values are compared and sorted by; `None` if the text isn't a value of this
    /// type. Case, accents, white space, hyphens and underscores in text don't matter, so `ISO
    /// 9001`, `ISO9001` and `iso-9001` are the same value, but `C++` and `C#` aren't.
    pub fn key(self, value: &str) -> Option<String> {
        let is_separator = |c: &char| c.is_whitespace() || matches!(c, '-' | '_');
        match self {
            Self::Text => Some(folded(value).filter(|c| !is_separator(c)).collect()),
            Self::Number => {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite())?;
                // -0.0 is 0.0.
                Some(format!("{:016x}", total_order(number + 0.0)))
            }
            Self::Boolean => matches!(value, "true" | "false").then(|| value.to_owned()),
            Self::Date => CalendarDate::parse(value).map(|day| day.to_string()),
        }
    }

    /// Reads a single value or, for numbers and dates, a range such as `10..50`, either end of
    /// which may be left out. `None` if it's neither, or if the range ends before it starts.
    pub fn range(self, text: &str) -> Option<KeyRange> {
        let (from, to) = match text.split_once(TO).filter(|_| self.is_ordered()) {
            Some(ends) if ends != ("", "") => ends,
            Some(_) => return None,
            None => (text, text),
        };
        let end = |text: &str| if text.is_empty() && from != to { Some(None) } else { self.key(text).map(Some) };
        let (from, to) = (end(from)?, end(to)?);
        let is_empty = matches!((&from, &to), (Some(from), Some(to)) if from > to);
        (!is_empty).then_some(KeyRange { from, to })
    }

    /// The values in a property's JSON text as written; `None` if they have another type.
    pub fn values(self, json: &str) -> Option<Vec<Box<str>>> {
        match (self, serde_json::from_str(json).ok()?) {
            (_, Value::Null) => Some(Vec::new()),
            (Self::Text, Value::String(text)) => (!is_longer(&text, LIST_CHARS)).then(|| vec![text.into()]),
            (Self::Text, Value::Array(values)) => {
                let text = |value| match value {
                    Value::String(text) if !is_longer(&text, LIST_CHARS) => Some(text.into()),
                    _ => None,
                };
                values.into_iter().map(text).collect()
            }
            (Self::Number, Value::Number(_)) | (Self::Boolean, Value::Bool(_)) => Some(vec![json.into()]),
            (Self::Date, Value::String(text)) if CalendarDate::parse(&text).is_some() => Some(vec![text.into()]),
            _ => None,
        }
    }

    /// Whether the values in a property's JSON text have each type, in the order of [`Self::ALL`].
    /// Parses only lists and long strings, because there are many records.
    pub fn fitting(json: &str) -> [bool; Self::ALL.len()] {
        match json.as_bytes() {
            [b'n', ..] => [true; 4],
            [b't' | b'f', ..] => [false, false, true, false],
            [b'-' | b'0'..=b'9', ..] => [false, true, false, false],
            [b'"', text @ .., b'"'] => {
                let is_text = text.len() <= LIST_CHARS || Self::Text.values(json).is_some();
                let is_day = text.len() == 10 && Self::Date.values(json).is_some();
                [is_text, false, false, is_day]
            }
            [b'[', ..] => [Self::Text.values(json).is_some(), false, false, false],
            _ => [false; 4],
        }
    }
}

impl Attribute {
    pub fn new(property: &str, label: &str, kind: AttributeType) -> Self {
        Self {
            property: property.into(),
            label: label.into(),
            kind,
            unit: None,
            searchable: true,
            hidden: false,
            max_age_days: None,
            language: None,
            translations: Translations::default(),
        }
    }

    /// The entry in an export's `attributes` that declares this attribute, on one line.
    pub fn declaration(&self) -> String {
        let mut members = vec![("property", Value::from(&*self.property)), ("label", Value::from(&*self.label))];
        if self.kind != AttributeType::Text {
            members.push(("type", self.kind.as_str().into()));
        }
        let unit = self.unit.as_deref().map(|unit| ("unit", unit.into()));
        let members: Vec<_> =
            members.into_iter().chain(unit).map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("{{{}}}", members.join(", "))
    }

    /// The label in a language; `None` if there's no label in that language.
    pub fn find_label(&self, language: &Language) -> Option<&str> {
        self.translations.find("label", self.language.as_ref(), language).map(|found| found.text(&self.label))
    }

    /// The label in a language, or else as declared.
    pub fn label_in(&self, language: Option<&Language>) -> &str {
        language.and_then(|language| self.find_label(language)).unwrap_or(&self.label)
    }

    /// The keys by which a query names a yes-or-no attribute: its property, and its label in all
    /// languages. None for other types, whose values are named instead.
    pub fn names(&self) -> Vec<String> {
        let labels = self.translations.of("label").map(|(_, text)| text).chain([&*self.label, &self.property]);
        let names = labels.filter(|_| self.kind == AttributeType::Boolean);
        names.filter_map(|name| AttributeType::Text.key(name)).collect()
    }

    /// Whether another declaration is the same, apart from translations of the label.
    pub fn is_declared_like(&self, other: &Self) -> bool {
        let (language, translations) = (self.language.clone(), self.translations.clone());
        Self { language, translations, ..other.clone() } == *self
    }

    /// A product's values as written in its record; empty if they have another type.
    pub fn values_of<'s>(&self, software: &'s Software) -> Cow<'s, [Box<str>]> {
        if let Some(texts) = software.built_in(&self.property) {
            return Cow::Borrowed(texts);
        }
        let property = software.additional_properties.iter().find(|(name, _)| *name == self.property);
        Cow::Owned(property.and_then(|(_, json)| self.kind.values(json.get())).unwrap_or_default())
    }
}

impl Default for Attributes {
    fn default() -> Self {
        Self(BUILT_IN.map(|(property, label)| Attribute::new(property, label, AttributeType::Text)).into())
    }
}

impl Attributes {
    /// Adds an attribute, or replaces the one for the same property and keeps its translations.
    pub fn declare(&mut self, mut attribute: Attribute) {
        match self.0.iter_mut().find(|of| of.property == attribute.property) {
            Some(declared) => {
                attribute.translations.merge(&declared.translations);
                *declared = attribute;
            }
            None => self.0.push(attribute),
        }
    }

    pub fn number(&self, property: &str) -> Option<AttributeNumber> {
        self.0.iter().position(|attribute| *attribute.property == *property)
    }

    pub fn is_searchable(&self, property: &str) -> bool {
        self.number(property).is_some_and(|number| self.0[number].searchable)
    }

    /// The attributes whose words are searched, except the built-in ones.
    pub fn searched(&self) -> impl Iterator<Item = &Attribute> {
        let declared = self.0.iter().skip(BUILT_IN.len());
        declared.filter(|attribute| attribute.searchable && attribute.kind == AttributeType::Text)
    }

    /// The attributes whose values are recognised in queries: yes-or-no properties, and text that
    /// isn't in the short fields, whose words are found anyway. Hidden ones, and those that searches
    /// don't look at, aren't recognised.
    pub fn understood(&self) -> impl Iterator<Item = (AttributeNumber, &Attribute)> {
        let is_short = |property: &str| {
            let field = SOFTWARE.iter().find(|of| of.name == property).and_then(|of| of.searched);
            field.is_some_and(|field| field.section() == Section::Summary)
        };
        let is_understood = move |attribute: &Attribute| {
            let kind = attribute.kind;
            matches!(kind, AttributeType::Text | AttributeType::Boolean) && !is_short(&attribute.property)
        };
        self.iter().filter(move |(_, attribute)| !attribute.hidden && attribute.searchable && is_understood(attribute))
    }

    pub fn get(&self, number: AttributeNumber) -> &Attribute {
        &self.0[number]
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (AttributeNumber, &Attribute)> {
        self.0.iter().enumerate()
    }

    pub const fn len(&self) -> usize {
        self.0.len()
    }
}

/// Maps a number to an integer with the same order as [`f64::total_cmp`].
pub const fn total_order(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_order_matches_numeric_order() {
        let numbers = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, f64::MIN_POSITIVE, 3.0, 5.0, f64::INFINITY];
        assert!(numbers.map(total_order).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn keys_of_numbers_and_dates_sort_like_their_values() {
        let key = |value: &str| AttributeType::Number.key(value).expect("a number");
        assert!(["-1e9", "-2.5", "0", "0.1", "3", "20", "1e300"].map(key).is_sorted_by(|a, b| a < b));
        assert_eq!((key("-0"), key("1.50"), key("10")), (key("0"), key("1.5"), key("1e1")));
        let day = |value: &str| AttributeType::Date.key(value).expect("a day");
        assert!(["0999-12-31", "2024-02-29", "2024-03-01"].map(day).is_sorted_by(|a, b| a < b));
        for (kind, wrong) in [
            (AttributeType::Number, "ten"),
            (AttributeType::Number, "inf"),
            (AttributeType::Number, "NaN"),
            (AttributeType::Number, ""),
            (AttributeType::Boolean, "yes"),
            (AttributeType::Date, "2025-02-29"),
        ] {
            assert_eq!(kind.key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_range_has_at_least_one_end_and_starts_before_it_ends() {
        let (number, key) = (AttributeType::Number, |value: &str| AttributeType::Number.key(value));
        let range = |from, to| Some(KeyRange { from, to });
        assert_eq!(number.range("10..50"), range(key("10"), key("50")));
        assert_eq!(number.range("-1.5..-1.5"), range(key("-1.5"), key("-1.5")));
        assert_eq!(number.range("10.."), range(key("10"), None));
        assert_eq!(number.range("..50"), range(None, key("50")));
        assert_eq!(number.range("10"), range(key("10"), key("10")));
        for wrong in ["", "..", "50..10", "a..b", "1..2..3", "1...2"] {
            assert_eq!(number.range(wrong), None, "{wrong:?}");
        }
        let text = AttributeType::Text;
        assert_eq!(text.range("a..b"), range(text.key("a..b"), text.key("a..b")), "text doesn't support ranges");
        assert_eq!(text.range(""), range(Some(String::new()), Some(String::new())));
        assert!(AttributeType::Boolean.range("false..true").is_none());
    }

    #[test]
    fn values_have_the_declared_type() {
        let values = |kind: AttributeType, json: &str| {
            kind.values(json).map(|values| values.into_iter().map(String::from).collect::<Vec<_>>())
        };
        let some = |values: &[&str]| Some(values.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(values(AttributeType::Text, r#""MIT""#), some(&["MIT"]));
        assert_eq!(values(AttributeType::Text, r#"["a","b"]"#), some(&["a", "b"]));
        assert_eq!(values(AttributeType::Text, r#"["a",1]"#), None);
        assert_eq!(values(AttributeType::Number, "1.50"), some(&["1.50"]));
        assert_eq!(values(AttributeType::Number, r#""1.50""#), None);
        assert_eq!(values(AttributeType::Boolean, "true"), some(&["true"]));
        assert_eq!(values(AttributeType::Date, r#""2025-02-28""#), some(&["2025-02-28"]));
        assert_eq!(values(AttributeType::Date, r#""2025-02-29""#), None);
        for kind in AttributeType::ALL {
            assert_eq!(values(kind, "null"), some(&[]));
            assert_eq!(values(kind, "{}"), None);
        }
        let texts = ["", "a", "2025-02-28", "2025-02-29", "\u{e9}\n\"", &"\n".repeat(500), &"é".repeat(501)];
        let texts = texts.map(|text| serde_json::to_string(text).expect("JSON"));
        let others = ["null", "true", "false", "0", "-1.5e3", "{}", "[]", r#"["a"]"#, r#"["a",null]"#];
        for json in texts.iter().map(String::as_str).chain(others) {
            assert_eq!(
                AttributeType::fitting(json),
                AttributeType::ALL.map(|kind| kind.values(json).is_some()),
                "{json}"
            );
        }
    }
}
