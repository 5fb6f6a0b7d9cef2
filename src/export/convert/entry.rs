//! Reads the elements of the envelope's other arrays: categories, reviews, glossary terms, synonyms,
//! pins and attributes.

use std::ops::Range;

use super::property::{Use, is_web};
use super::{Entry, Opinion, PinnedProducts, Reader, Term};
use crate::export::budget::{GROUP_TERMS, LABEL_CHARS, MAX_AGE_DAYS, PIN_QUERIES, PROPERTY_CHARS, name_problem};
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::schema::{Count, count, is_uri};
use crate::export::text::{Kind, Value};
use crate::export::{Code, SectionKind};
use crate::record::{
    ATTRIBUTE, Attribute, AttributeType, CATEGORY, CalendarDate, Category, GlossarySource, GlossaryTerm, Language,
    MAX_PINNED, PIN, Pin, Property, REVIEW, Review, SYNONYMS, SynonymGroup, TERM,
};
use crate::text::shorten::is_longer;

impl Reader {
    /// Reads the elements of one of the envelope's optional arrays. `read` returns an element's value
    /// and the location that identifies it; `None` if the element is left out.
    fn entries<'d, T>(
        &mut self,
        root: Value<'d>,
        kind: SectionKind,
        known: &'static [Property],
        mut read: impl FnMut(&mut Self, Value<'d>, Path<'_>) -> Option<(Range<usize>, T)>,
    ) -> Vec<Entry<T>> {
        let Some(list) = root.get(kind.key()) else { return Vec::new() };
        let parent = Path::Root.member(kind.key());
        if !matches!(list.kind(), Kind::Array | Kind::Null | Kind::Invalid) {
            let message = format!("`{}` is {}, so it isn't used", kind.key(), list.describe());
            self.report(Code::EntryLeftOut, list, parent, message, "write an array, or leave it out");
        }
        let mut known = NearMiss::new(known);
        let entry = |(index, entry)| {
            let path = parent.element(index);
            self.near_misses(&mut known, entry, path);
            let (key, value) = read(self, entry, path)?;
            Some(Entry { index, key, value })
        };
        list.elements().enumerate().filter_map(entry).collect()
    }

    pub(super) fn categories(&mut self, root: Value<'_>) -> Vec<Entry<Category>> {
        self.entries(root, SectionKind::Categories, &CATEGORY, |reader, entry, path| {
            let (name, key) = reader.required(entry, path, "name", "a category")?;
            if let Some(problem) = name_problem(&name) {
                reader.left_out(entry, path, &format!("a category's name {problem}"));
                return None;
            }
            let description = reader.optional_text(entry, path, "description");
            let translations = reader.entry_translations(entry, path, &CATEGORY);
            Some((key.span(), Category { name, description, translations }))
        })
    }

    fn left_out(&mut self, value: Value<'_>, path: Path<'_>, why: &str) {
        if value.kind() != Kind::Invalid {
            let message = format!("this entry is left out: {why}");
            self.report(Code::EntryLeftOut, value, path, message, "complete it, or remove it");
        }
    }

    /// Reads required text, which mustn't be blank. If it's missing, reports the entry as left out.
    fn required<'d>(
        &mut self,
        entry: Value<'d>,
        path: Path<'_>,
        key: &str,
        what: &str,
    ) -> Option<(Box<str>, Value<'d>)> {
        if entry.kind() != Kind::Object {
            self.left_out(entry, path, &format!("{what} must be an object, but this is {}", entry.describe()));
            return None;
        }
        let found = entry.get(key).and_then(|value| Some((Box::<str>::from(value.as_str()?), value)));
        let found = found.filter(|(text, _)| !text.trim().is_empty());
        if let Some((text, value)) = &found {
            self.words(*value, path.member(key), text);
        } else {
            self.left_out(entry, path, &format!("{what} needs a `{key}`, a non-empty string"));
        }
        found
    }

    fn optional_text(&mut self, entry: Value<'_>, path: Path<'_>, key: &str) -> Option<Box<str>> {
        let mut text = None;
        if let Some(value) = entry.get(key) {
            let _: Use = self.text(value, path.member(key), &mut text);
        }
        text
    }

    /// Reads an optional list of strings, dropping blank ones.
    fn optional_texts(&mut self, entry: Value<'_>, path: Path<'_>, key: &str) -> Vec<Box<str>> {
        let mut texts = Vec::new();
        if let Some(value) = entry.get(key) {
            let _: Use = self.texts(value, path.member(key), &mut texts);
        }
        texts.retain(|text| !text.trim().is_empty());
        texts
    }

    pub(super) fn reviews(&mut self, root: Value<'_>) -> Vec<Entry<Opinion>> {
        self.entries(root, SectionKind::Reviews, &REVIEW, Self::review)
    }

    fn review(&mut self, entry: Value<'_>, path: Path<'_>) -> Option<(Range<usize>, Opinion)> {
        let (id, key) = self.required(entry, path, "id", "a review")?;
        let (software_id, about) = self.required(entry, path, "software_id", "a review")?;
        let Some(rating) = entry.get("rating").and_then(stars) else {
            self.left_out(entry, path, "a review needs a `rating`, a whole number from 1 to 5");
            return None;
        };
        let mut review = Review {
            id,
            software_id,
            rating,
            title: None,
            body: None,
            author: None,
            created_at: None,
            created_at_seconds: None,
            verified: None,
            additional_properties: Vec::new(),
        };
        for (key, value) in entry.members() {
            let name = key.as_str().unwrap_or_default();
            if self.review_property(&mut review, &name, value, path.member(&name)) == Use::Additional {
                review.additional_properties.extend(self.keep(&name, value, path));
            }
        }
        Some((key.span(), Opinion { review, software_id: about.span() }))
    }

    fn review_property(&mut self, review: &mut Review, key: &str, value: Value<'_>, path: Path<'_>) -> Use {
        match key {
            "id" | "software_id" | "rating" => Use::Used,
            "title" => self.text(value, path, &mut review.title),
            "body" => self.text(value, path, &mut review.body),
            "author" => self.text(value, path, &mut review.author),
            "created_at" => self.created_at(review, value, path),
            "verified" => match value.kind() {
                Kind::True | Kind::False => {
                    review.verified = Some(value.kind() == Kind::True);
                    Use::Used
                }
                Kind::Null => Use::Used,
                _ => self.unusable(value, path, "true or false"),
            },
            _ => Use::Additional,
        }
    }

    fn created_at(&mut self, review: &mut Review, value: Value<'_>, path: Path<'_>) -> Use {
        if value.kind() == Kind::Null {
            return Use::Used;
        }
        let moment = value.as_str().and_then(|text| moment(&text));
        let Some(moment) = moment else {
            return self.unusable(
                value,
                path,
                "a time such as \"2025-03-01T12:00:00Z\" or a day such as \"2025-03-01\"",
            );
        };
        review.created_at = Some(moment.to_string().into());
        review.created_at_seconds = Some(moment.as_second());
        Use::Used
    }

    pub(super) fn glossary(&mut self, root: Value<'_>) -> Vec<Entry<Term>> {
        self.entries(root, SectionKind::Glossary, &TERM, Self::term)
    }

    fn term(&mut self, entry: Value<'_>, path: Path<'_>) -> Option<(Range<usize>, Term)> {
        let (term, key) = self.required(entry, path, "term", "a glossary term")?;
        let (definition, _) = self.required(entry, path, "definition", "a glossary term")?;
        if let Some(problem) = name_problem(&term) {
            self.left_out(entry, path, &format!("a glossary term {problem}"));
            return None;
        }
        let term = GlossaryTerm {
            term,
            definition,
            abbreviations: self.optional_texts(entry, path, "abbreviations"),
            synonyms: self.optional_texts(entry, path, "synonyms"),
            related: self.optional_texts(entry, path, "related"),
            source: entry.get("source").and_then(|source| self.glossary_source(source, path.member("source"))),
            translations: self.entry_translations(entry, path, &TERM),
        };
        let related = entry.get("related").map(places).unwrap_or_default();
        Some((key.span(), Term { term, related }))
    }

    /// Reads a source: a title or a URL as a string, or an object with either or both.
    fn glossary_source(&mut self, source: Value<'_>, path: Path<'_>) -> Option<GlossarySource> {
        if let Some(text) = source.as_str() {
            let is_link = is_uri(&text) && is_web(&text);
            if is_link {
                self.link(source, path);
            } else {
                self.label(source, path);
            }
            let (title, url) = if is_link { (None, Some(text.into())) } else { (Some(text.into()), None) };
            return Some(GlossarySource { title, url });
        }
        match source.kind() {
            Kind::Object => {
                let title = self.optional_text(source, path, "title");
                let url = self.optional_text(source, path, "url");
                if let (Some(text), Some(value)) = (&url, source.get("url")) {
                    if is_uri(text) {
                        self.link(value, path.member("url"));
                    } else {
                        self.unusable(value, path.member("url"), "a URI");
                        return title.map(|title| GlossarySource { title: Some(title), url: None });
                    }
                }
                (title.is_some() || url.is_some()).then_some(GlossarySource { title, url })
            }
            Kind::Null => None,
            _ => {
                self.unusable(source, path, "a string or an object with `title` and `url`");
                None
            }
        }
    }

    pub(super) fn synonyms(&mut self, root: Value<'_>) -> Vec<Entry<SynonymGroup>> {
        self.entries(root, SectionKind::Synonyms, &SYNONYMS, |reader, entry, path| {
            for Property { name: key, .. } in &SYNONYMS {
                let Some(terms) = entry.get(key) else { continue };
                for term in std::iter::once(terms).chain(terms.elements()) {
                    reader.words(term, path.member(key), &term.as_str().unwrap_or_default());
                }
            }
            let group = group(entry).map_err(|why| reader.left_out(entry, path, why)).ok()?;
            Some((entry.head(), group))
        })
    }

    pub(super) fn pins(&mut self, root: Value<'_>) -> Vec<Entry<PinnedProducts>> {
        self.entries(root, SectionKind::Pins, &PIN, |reader, entry, path| {
            let pin = pinned(entry).map_err(|why| reader.left_out(entry, path, &why)).ok()?;
            Some((entry.head(), pin))
        })
    }

    /// Reads an export's attributes. `language` is the export's language; `None` if that's English.
    pub(super) fn attributes(&mut self, root: Value<'_>, language: Option<&Language>) -> Vec<Entry<Attribute>> {
        self.entries(root, SectionKind::Attributes, &ATTRIBUTE, |reader, entry, path| {
            let (property, key) = reader.required(entry, path, "property", "an attribute")?;
            let (label, _) = reader.required(entry, path, "label", "an attribute")?;
            let attribute = attribute(entry, &property, &label);
            let attribute = attribute.map_err(|why| reader.left_out(entry, path, why)).ok()?;
            let translations = reader.entry_translations(entry, path, &ATTRIBUTE);
            Some((key.span(), Attribute { language: language.cloned(), translations, ..attribute }))
        })
    }
}

fn stars(value: Value<'_>) -> Option<u8> {
    if value.kind() != Kind::Number {
        return None;
    }
    match count(value.raw()) {
        Count::Fits(stars @ 1..=5) => u8::try_from(stars).ok(),
        _ => None,
    }
}

/// Parses an RFC 3339 time, or a date, which means midnight UTC.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    if CalendarDate::parse(text).is_some() {
        return format!("{text}T00:00:00Z").parse().ok();
    }
    text.parse().ok()
}

/// The spans of the strings in a list, except blank ones.
fn places(list: Value<'_>) -> Vec<Range<usize>> {
    let texts = std::iter::once(list).chain(list.elements());
    let is_term = |value: &Value<'_>| value.as_str().is_some_and(|text| !text.trim().is_empty());
    texts.filter(is_term).map(|value| value.span()).collect()
}

fn group(entry: Value<'_>) -> Result<SynonymGroup, &'static str> {
    if entry.kind() != Kind::Object {
        return Err("a synonym group must be an object");
    }
    let lists = ["terms", "from", "ambiguous"].into_iter().filter_map(|key| entry.get(key));
    if lists.into_iter().any(|list| list.elements().count() > GROUP_TERMS) {
        // Each term stands for all the others, so a group's cost is quadratic.
        return Err("a synonym group can have at most 200 terms");
    }
    let several = |key| entry.get(key).map(terms);
    match (several("terms"), several("from"), entry.get("to"), several("ambiguous")) {
        (Some(terms), None, None, None) => match terms {
            Some(terms) if terms.len() > 1 => Ok(SynonymGroup::Equivalent(terms)),
            _ => Err("`terms` must be an array of two or more non-empty strings"),
        },
        (None, Some(from), Some(to), None) => {
            let to = to.as_str().filter(|to| !to.trim().is_empty());
            match (from, to) {
                (Some(from), Some(to)) if !from.is_empty() => Ok(SynonymGroup::OneWay { from, to: to.into() }),
                _ => Err("`from` must be an array of non-empty strings, and `to` a non-empty string"),
            }
        }
        (None, None, None, Some(terms)) => match terms {
            Some(terms) if !terms.is_empty() => Ok(SynonymGroup::Ambiguous(terms)),
            _ => Err("`ambiguous` must be an array of non-empty strings"),
        },
        _ => Err("a group needs either `terms`, or `from` and `to`, or `ambiguous`"),
    }
}

/// The strings in an array; `None` if it contains a blank string or anything else.
fn terms(list: Value<'_>) -> Option<Vec<Box<str>>> {
    let text = |element: Value<'_>| element.as_str().filter(|text| !text.trim().is_empty()).map(Into::into);
    (list.kind() == Kind::Array).then(|| list.elements().map(text).collect()).flatten()
}

fn pinned(entry: Value<'_>) -> Result<PinnedProducts, String> {
    if entry.kind() != Kind::Object {
        return Err("a pin must be an object".to_owned());
    }
    let queries = texts(entry, "queries", PIN_QUERIES)?;
    if let Some(query) = queries.iter().find_map(|query| query.as_str().filter(|query| Pin::key(query).is_empty())) {
        return Err(format!("the query `{query}` has no letter or digit"));
    }
    let software = texts(entry, "software", MAX_PINNED)?;
    let boxed = |texts: &[Value<'_>]| texts.iter().filter_map(|text| Some(text.as_str()?.into())).collect();
    let pin = Pin { queries: boxed(&queries), software: boxed(&software) };
    Ok(PinnedProducts { pin, software: software.iter().map(Value::span).collect() })
}

/// Reads an array of one to `most` non-blank strings.
fn texts<'d>(entry: Value<'d>, key: &str, most: usize) -> Result<Vec<Value<'d>>, String> {
    let list = entry.get(key).filter(|list| list.kind() == Kind::Array);
    let texts: Vec<_> = list.iter().flat_map(Value::elements).collect();
    let is_text = |value: &Value<'_>| value.as_str().is_some_and(|text| !text.trim().is_empty());
    if texts.is_empty() || !texts.iter().all(is_text) {
        return Err(format!("`{key}` must be an array of non-empty strings"));
    }
    if texts.len() > most {
        return Err(format!("`{key}` has {} entries; at most {most} are allowed", texts.len()));
    }
    Ok(texts)
}

fn attribute(entry: Value<'_>, property: &str, label: &str) -> Result<Attribute, &'static str> {
    let given = |key: &str| entry.get(key).filter(|value| value.kind() != Kind::Null);
    // A request separates an attribute from its value with a colon.
    if property.contains(':') || is_longer(property, PROPERTY_CHARS) {
        return Err("an attribute's `property` can have at most 100 characters and can't contain a colon");
    }
    if is_longer(label, LABEL_CHARS) {
        return Err("an attribute's `label` can have at most 500 characters");
    }
    let kind = match given("type") {
        Some(value) => AttributeType::ALL.into_iter().find(|kind| value.is_text(kind.as_str())),
        None => Some(AttributeType::Text),
    };
    let kind = kind.ok_or("an attribute's `type` must be `text`, `number`, `boolean` or `date`")?;
    match Property::of_software(property).map(|known| known.attribute) {
        Some(None) => return Err("the directory already handles this property itself"),
        Some(Some(_)) if kind != AttributeType::Text => return Err("this attribute's values are always text"),
        _ => {}
    }
    let short = |value: Value<'_>| value.as_str().filter(|unit| !is_longer(unit, LABEL_CHARS)).map(Into::into);
    let wrong_unit = "an attribute's `unit` must be a string of at most 500 characters";
    let unit = given("unit").map(|value| short(value).ok_or(wrong_unit)).transpose()?;
    let flag = |key: &str, default: bool| match given(key).map(|value| value.kind()) {
        None => Ok(default),
        Some(Kind::True) => Ok(true),
        Some(Kind::False) => Ok(false),
        Some(_) => Err("`searchable` and `hidden` must be true or false"),
    };
    let (searchable, hidden) = (flag("searchable", true)?, flag("hidden", false)?);
    let days = |value: Value<'_>| value.raw().parse().ok().filter(|days| (1..=MAX_AGE_DAYS).contains(days));
    let wrong_age = "an attribute's `max_age_days` must be a whole number from 1 to 36500";
    let max_age_days = given("max_age_days").map(|value| days(value).ok_or(wrong_age)).transpose()?;
    Ok(Attribute { unit, searchable, hidden, max_age_days, ..Attribute::new(property, label, kind) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc() {
        let shown = |text| moment(text).map(|moment| moment.to_string());
        assert_eq!(shown("2025-03-01").as_deref(), Some("2025-03-01T00:00:00Z"));
        assert_eq!(shown("2025-03-01T01:30:00+02:00").as_deref(), Some("2025-02-28T23:30:00Z"));
        for wrong in ["2025-02-30", "yesterday", "2025-03-01T12:00:00", ""] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
