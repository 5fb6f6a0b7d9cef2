//! Reads glossary terms.

use std::ops::Range;

use super::{Entry, Reader, Term};
use crate::export::SectionKind;
use crate::export::budget::name_problem;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::schema::is_uri;
use crate::export::text::{Kind, Value};
use crate::record::{GlossarySource, GlossaryTerm, TERM};

use super::property::is_web;

impl Reader {
    pub(super) fn glossary(&mut self, root: Value<'_>) -> Vec<Entry<Term>> {
        let mut known = NearMiss::new(&TERM);
        let parent = Path::Root.member(SectionKind::Glossary.key());
        let entries = self.optional_section(root, SectionKind::Glossary);
        let read = |(index, entry)| {
            let path = parent.element(index);
            self.near_misses(&mut known, entry, path);
            self.term(entry, index, path)
        };
        entries.into_iter().filter_map(read).collect()
    }

    fn term(&mut self, entry: Value<'_>, index: usize, path: Path<'_>) -> Option<Entry<Term>> {
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
        Some(Entry { index, key: key.span(), value: Term { term, related } })
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
}

/// The spans of the strings in a list, except blank ones.
fn places(list: Value<'_>) -> Vec<Range<usize>> {
    let texts = std::iter::once(list).chain(list.elements());
    let is_term = |value: &Value<'_>| value.as_str().is_some_and(|text| !text.trim().is_empty());
    texts.filter(is_term).map(|value| value.span()).collect()
}
