//! Reads categories, with helpers for the envelope's other optional arrays.

use super::property::Use;
use super::{Entry, Reader};
use crate::export::budget::name_problem;
use crate::export::near_miss::NearMiss;
use crate::export::pointer::Path;
use crate::export::text::{Kind, Value};
use crate::export::{Code, SectionKind};
use crate::record::{CATEGORY, Category};

impl Reader {
    pub(super) fn categories(&mut self, root: Value<'_>) -> Vec<Entry<Category>> {
        let mut known = NearMiss::new(&CATEGORY);
        let parent = Path::Root.member(SectionKind::Categories.key());
        let mut categories = Vec::new();
        for (index, value) in self.optional_section(root, SectionKind::Categories) {
            let path = parent.element(index);
            self.near_misses(&mut known, value, path);
            let Some((name, key)) = self.required(value, path, "name", "a category") else { continue };
            if let Some(problem) = name_problem(&name) {
                self.left_out(value, path, &format!("a category's name {problem}"));
                continue;
            }
            let description = self.optional_text(value, path, "description");
            let translations = self.entry_translations(value, path, &CATEGORY);
            categories.push(Entry { index, key: key.span(), value: Category { name, description, translations } });
        }
        categories
    }

    pub(super) fn left_out(&mut self, value: Value<'_>, path: Path<'_>, why: &str) {
        if value.kind() != Kind::Invalid {
            let message = format!("this entry is left out: {why}");
            self.report(Code::EntryLeftOut, value, path, message, "complete it, or remove it");
        }
    }

    /// Reads required text, which mustn't be blank. If it's missing, reports the entry as left out.
    pub(super) fn required<'d>(
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

    pub(super) fn optional_text(&mut self, entry: Value<'_>, path: Path<'_>, key: &str) -> Option<Box<str>> {
        let mut text = None;
        if let Some(value) = entry.get(key) {
            let _: Use = self.text(value, path.member(key), &mut text);
        }
        text
    }

    /// Reads an optional list of strings, dropping blank ones.
    pub(super) fn optional_texts(&mut self, entry: Value<'_>, path: Path<'_>, key: &str) -> Vec<Box<str>> {
        let mut texts = Vec::new();
        if let Some(value) = entry.get(key) {
            let _: Use = self.texts(value, path.member(key), &mut texts);
        }
        texts.retain(|text| !text.trim().is_empty());
        texts
    }
}
