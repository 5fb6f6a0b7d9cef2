//! A product in a list, and its rating.

use std::borrow::Cow;

use askama::Template;
use bytes::Bytes;

use super::attribute::{self, Fact};
use super::edition::{Edition, Lang};
use super::evidence::Badge;
use super::language::Texts;
use crate::catalogue::StoredProduct;
use crate::catalogue::resource::{CategoryRef, Highlight, SoftwareDetail, SoftwareItem};
use crate::generation::Snapshot;
use crate::http::problem::ApiError;
use crate::record::OfferingType;
use crate::service::{ServiceError, read_software};
use crate::text::html::escape;
use crate::text::shorten::in_list;

/// How many of a field's matches a row shows.
const MAX_MATCHES: usize = 4;

/// How many facts a row shows.
const MAX_FACTS: usize = 5;

/// The maximum size of a record that a row shows more of, in bytes.
const MAX_RECORD: usize = 64 * 1024;

#[derive(Debug, Template)]
#[template(path = "parts/row.html")]
pub(super) struct Row<'a> {
    edition: Edition<'a>,
    t: &'static Texts,
    item: &'a SoftwareItem<'a>,
    /// Where the query matched the product.
    pub(super) matches: Vec<Highlight<'a>>,
    /// The category to show: a chosen one if the product is in it, otherwise the main one.
    category: Option<&'a CategoryRef<'a>>,
    rating: Option<Rating>,
    badge: Option<Badge<'a>>,
    /// A line below the tagline, as HTML.
    pub(super) note: Option<String>,
    /// What the record says at a glance.
    facts: Vec<Fact<'a>>,
    /// The name of the record's export, if products come from several.
    export: Option<Cow<'a, str>>,
    /// The same product in other exports: their names, and the URLs of its pages.
    pub(super) also: Vec<(Cow<'a, str>, String)>,
    /// Whether the directory's editors pinned the product to this query.
    pub(super) is_chosen: bool,
    /// The form that compares the product if it's selected, and whether it is.
    pub(super) selected_by: Option<(&'static str, bool)>,
}

impl<'a> Row<'a> {
    pub(super) fn new(edition: Edition<'a>, product: &'a SoftwareDetail<'a>) -> Self {
        let SoftwareDetail { item, detail } = product;
        let t = edition.t;
        let mut facts = attribute::at_a_glance(edition, product);
        facts.truncate(MAX_FACTS);
        let exports = &edition.catalogue.tables.exports;
        let has_several = exports.iter().filter(|export| export.resource.software_count > 0).count() > 1;
        Self {
            edition,
            t,
            item,
            matches: Vec::new(),
            category: item.categories.first(),
            rating: Rating::new(t, item.rating_value(), item.review_count),
            badge: Badge::new(t, item),
            note: None,
            facts,
            export: (has_several && !detail.export.name.is_empty()).then(|| in_list(&detail.export.name)),
            also: Vec::new(),
            is_chosen: false,
            selected_by: None,
        }
    }

    /// Shows the product's first category whose id is among these.
    pub(super) fn preferring(self, chosen: &[&str]) -> Self {
        let chosen = self.item.categories.iter().find(|category| chosen.contains(&&*category.id));
        Self { category: chosen.or(self.category), ..self }
    }

    pub(super) fn id(&self) -> &str {
        &self.item.id
    }

    fn lang(&self, field: &str) -> Lang<'_> {
        self.edition.of_item(self.item, field)
    }

    /// For text that isn't translated.
    fn own(&self) -> Lang<'_> {
        self.edition.own(self.item.language.as_deref())
    }

    /// The number of categories that the row doesn't show.
    fn other_categories(&self) -> usize {
        self.item.categories.len() - usize::from(self.category.is_some())
    }

    fn kind(&self) -> Option<Cow<'_, str>> {
        kind(self.t, &self.item.offering_type)
    }

    fn matches_in<'m>(&'m self, field: &'m str) -> impl Iterator<Item = &'m Highlight<'a>> {
        self.matches.iter().filter(move |found| found.field == field)
    }

    /// Text with its matches marked. A field's highlights may also come from its other values or
    /// from other languages. Those of long text are excerpts.
    fn html(&self, field: &str, text: &str) -> String {
        let plain = escape(text);
        let unmarked = |html: &str| html.replace("<mark>", "").replace("</mark>", "");
        let mut marked = self.matches_in(field).filter_map(|found| {
            let part = found.html.trim_matches('…');
            let text = unmarked(part);
            let at = plain.find(&text).filter(|_| part.len() < found.html.len() || text.len() == plain.len())?;
            Some([&plain[..at], part, &plain[at + text.len()..]].concat())
        });
        marked.next().unwrap_or_else(|| plain.clone())
    }

    fn category_html(&self, category: &CategoryRef<'_>) -> String {
        self.html("categories", &category.name)
    }

    /// Whether some text that the row shows in any case is marked.
    fn is_marked(&self) -> bool {
        let item = self.item;
        let category = self.category.map(|category| self.category_html(category));
        let others = [("tagline", item.tagline.as_deref()), ("vendor", item.vendor.as_deref())];
        let others = others.into_iter().filter_map(|(field, text)| Some(self.html(field, text?)));
        let mut shown = std::iter::once(self.html("name", &item.name)).chain(others).chain(category);
        shown.any(|html| html.contains("<mark>"))
    }

    /// Whether matches in the row's text say why the product was found.
    pub(super) fn is_explained(&self) -> bool {
        self.is_chosen || self.is_marked() || self.elsewhere().is_some()
    }

    /// What a field is called in which nothing but a translation or a further value matched.
    fn label(&self, field: &str) -> &'a str {
        let t = self.t;
        match field {
            "name" => t.also_called,
            "tagline" => t.description,
            "categories" => t.category,
            "offering_type" => t.kind,
            _ => {
                let attributes = &self.edition.catalogue.tables.attributes;
                let of = attributes.number(field).map(|number| attributes.get(number));
                of.map_or(t.facts, |of| attribute::name(t, self.edition.language, of).0)
            }
        }
    }

    /// The first matches in a field that the row doesn't otherwise show.
    fn elsewhere(&self) -> Option<Elsewhere<'_>> {
        let t = self.t;
        let fields = [
            ("aliases", t.also_called),
            ("tags", t.tags),
            ("standards", t.standards),
            ("alternative_to", t.alternative_to),
            ("features", t.features),
            ("description", t.description),
            ("category_description", t.its_category),
        ];
        let other = || {
            let field = self.matches.first().filter(|_| !self.is_marked()).map(|found| &*found.field)?;
            Some((field, self.label(field)))
        };
        let is_matched = |(field, _): &(&str, &str)| self.matches_in(field).next().is_some();
        fields.into_iter().find(is_matched).or_else(other).and_then(|(field, label)| {
            let is_synonym = self.matches_in(field).next()?.by.as_deref() == Some("synonym");
            let texts = self.matches_in(field).take(MAX_MATCHES).map(|found| {
                let lang = found.language.as_deref().map(|tag| Lang::of(t, tag));
                (lang.unwrap_or_else(|| self.own()), &*found.html)
            });
            Some(Elsewhere { label, is_synonym, texts: texts.collect() })
        })
    }
}

pub(super) fn items<'a>(items: impl Iterator<Item = &'a Bytes>) -> Result<Vec<SoftwareItem<'a>>, ApiError> {
    items.map(|item| serde_json::from_slice(item)).collect::<Result<_, _>>().map_err(ApiError::internal)
}

/// The full records of list items; `None` for those that are too large for a row.
pub(super) fn records(
    snapshot: &Snapshot,
    items: &[SoftwareItem<'_>],
) -> Result<Vec<Option<StoredProduct>>, ServiceError> {
    let read = |item: &SoftwareItem<'_>| read_software(snapshot, &item.id);
    items.iter().map(|item| Ok(read(item)?.filter(|record| record.size_bytes() <= MAX_RECORD))).collect()
}

/// The products to show in rows, given their items and [`records`].
pub(super) fn products<'a>(
    items: Vec<SoftwareItem<'a>>,
    records: &'a [Option<StoredProduct>],
) -> Result<Vec<SoftwareDetail<'a>>, ApiError> {
    let details = records.iter().map(|record| record.as_ref().map(StoredProduct::detail).transpose());
    let products = items.into_iter().zip(details);
    let products = products.map(|(item, detail)| Ok(SoftwareDetail { item, detail: detail?.unwrap_or_default() }));
    products.collect::<Result<_, serde_json::Error>>().map_err(ApiError::internal)
}

/// The product type, unless it's software, which nearly all are.
pub(super) fn kind<'k>(t: &'static Texts, offering_type: &'k str) -> Option<Cow<'k, str>> {
    match OfferingType::ALL.into_iter().find(|known| known.as_str() == offering_type) {
        Some(OfferingType::Software) => None,
        Some(OfferingType::DocumentTemplates) => Some(t.templates_kind.into()),
        None => Some(offering_type.into()),
    }
}

/// Matches in a field that a row doesn't otherwise show, so the row names the field next to them.
struct Elsewhere<'m> {
    label: &'m str,
    is_synonym: bool,
    /// HTML in which everything but the service's own marks is escaped.
    texts: Vec<(Lang<'m>, &'m str)>,
}

const STARS: u8 = 5;

#[derive(Debug, Template)]
#[template(path = "parts/rating.html")]
pub(super) struct Rating {
    t: &'static Texts,
    value: f64,
    review_count: Option<u64>,
}

impl Rating {
    pub(super) fn new(t: &'static Texts, rating: Option<f64>, review_count: Option<u64>) -> Option<Self> {
        rating.map(|value| Self { t, value, review_count })
    }

    /// Full and empty stars, rounded; the number next to them is exact.
    fn stars(&self) -> (String, String) {
        let full = (1..=STARS).filter(|star| self.value >= f64::from(*star) - 0.5).count();
        ("★".repeat(full), "★".repeat(usize::from(STARS) - full))
    }
}
