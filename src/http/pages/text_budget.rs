//! Limits how much of its records' text a page shows. Whatever doesn't fit is cut before it's
//! written, and the page links to the full record.

use std::borrow::Cow;
use std::cell::Cell;

use crate::catalogue::resource::{EvidenceResource, Members, SoftwareDetail};
use crate::text::shorten::{in_list, shortened};

/// How much text a page shows of one record, and of all its records, in bytes.
const RECORD_BYTES: usize = 128 * 1024;
const PAGE_BYTES: usize = 512 * 1024;

/// What the markup around a text costs, in bytes.
const MARKUP_BYTES: usize = 64;

/// The budget for one record.
#[derive(Debug)]
pub(super) struct TextBudget {
    left: Cell<usize>,
    is_cut: Cell<bool>,
}

impl TextBudget {
    /// The budget for each of a page's records.
    pub(super) fn of_each(records: usize) -> Self {
        let left = Cell::new(RECORD_BYTES.min(PAGE_BYTES / records.max(1)));
        Self { left, is_cut: Cell::new(false) }
    }

    /// Whether something was cut.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// Whether something of this size fits, in which case it's charged.
    pub(super) fn fits(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes.saturating_add(MARKUP_BYTES));
        // Leave some room for what follows.
        let left = left.filter(|left| *left >= self.left.get() / 4);
        self.left.set(left.unwrap_or(self.left.get()));
        self.is_cut.set(self.is_cut.get() || left.is_none());
        left.is_some()
    }

    /// The text, or its beginning.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.fits(text.len()) {
            return Cow::Borrowed(text);
        }
        let most = (self.left.get() / 4 * 3).saturating_sub(MARKUP_BYTES);
        let cut = shortened(text, most);
        self.left.set(self.left.get().saturating_sub(cut.len() + MARKUP_BYTES));
        cut
    }

    /// The values of a list that fit in half of what's left. Their text is charged separately.
    pub(super) fn values<'l, T>(&self, list: &'l [T]) -> &'l [T] {
        let count = list.len().min(self.left.get() / 2 / MARKUP_BYTES);
        self.is_cut.set(self.is_cut.get() || count < list.len());
        &list[..count]
    }

    /// Cuts text in place.
    pub(super) fn cut(&self, text: &mut Cow<'_, str>) {
        if let Cow::Owned(cut) = self.text(text) {
            *text = cut.into();
        }
    }

    /// Cuts a list and its text in place.
    pub(super) fn cut_all(&self, list: &mut Vec<Cow<'_, str>>) {
        self.truncate(list);
        for text in list {
            self.cut(text);
        }
    }

    /// Cuts whatever doesn't fit of a product's text.
    pub(super) fn cut_product(&self, SoftwareDetail { item, detail }: &mut SoftwareDetail<'_>) {
        detail.export.name = in_list(&detail.export.name).into_owned().into();
        let texts = [&mut item.tagline, &mut item.vendor, &mut detail.pricing].into_iter().flatten();
        texts.chain([&mut item.name, &mut detail.export.name]).for_each(|text| self.cut(text));
        let lists = [&mut detail.features, &mut detail.tags, &mut detail.standards, &mut detail.alternative_to];
        let lists = lists.into_iter().chain([&mut detail.aliases, &mut detail.deployment, &mut detail.languages]);
        lists.for_each(|list| self.cut_all(list));
        self.truncate(&mut detail.sources);
        for source in &mut detail.sources {
            self.cut(&mut source.label);
            self.cut(&mut source.url);
        }
        detail.evidence.retain(|_, sources| {
            sources.retain(|EvidenceResource { source, label, quote, archived, .. }| {
                let texts = [Some(source), label.as_ref(), quote.as_ref(), archived.as_ref()];
                self.fits(2 * MARKUP_BYTES + texts.into_iter().flatten().map(|text| text.len()).sum::<usize>())
            });
            !sources.is_empty()
        });
        self.truncate(&mut item.categories);
        item.categories.iter_mut().for_each(|category| self.cut(&mut category.name));
        self.truncate(&mut detail.same_as);
        for same in &mut detail.same_as {
            self.cut(&mut same.name);
            self.cut(&mut same.export);
        }
        detail.description.iter_mut().for_each(|description| self.cut(description));
        self.cut_members(&mut detail.additional_properties);
    }

    /// Replaces values that don't fit with `…`.
    fn cut_members(&self, Members(members): &mut Members<'_>) {
        self.truncate(members);
        for (name, json) in members {
            self.cut(name);
            let text = json.get();
            // Each nested value has its own markup.
            let nested =
                if text.starts_with(['[', '{']) { memchr::memchr_iter(b',', text.as_bytes()).count() } else { 0 };
            if !self.fits(text.len() + nested * MARKUP_BYTES)
                && let Ok(cut) = serde_json::from_str("\"…\"")
            {
                *json = cut;
            }
        }
    }

    fn truncate<T>(&self, list: &mut Vec<T>) {
        list.truncate(self.values(list).len());
    }
}
