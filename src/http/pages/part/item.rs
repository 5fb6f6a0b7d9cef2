//! A product, as a list item and in full, read from its JSON.

use std::borrow::Cow;

use serde::Deserialize;

use super::properties::Members;
use super::text_budget::TextBudget;
use crate::http::pages::edition::{Edition, Lang};
use crate::record::{Attribute, Language};
use crate::text::shorten::in_list;

#[derive(Debug, Deserialize)]
pub(in crate::http::pages) struct Item<'a> {
    #[serde(borrow)]
    pub(in crate::http::pages) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) name: Cow<'a, str>,
    pub(in crate::http::pages) tagline: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(in crate::http::pages) categories: Vec<CategoryName<'a>>,
    pub(in crate::http::pages) rating: Option<f64>,
    pub(in crate::http::pages) review_count: Option<u64>,
    #[serde(borrow)]
    pub(in crate::http::pages) website: Cow<'a, str>,
    pub(in crate::http::pages) vendor: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(in crate::http::pages) offering_type: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) evidence_status: Cow<'a, str>,
    pub(in crate::http::pages) evidence_checked_on: Option<Cow<'a, str>>,
    /// The language of the product's own text, if it isn't English.
    pub(in crate::http::pages) language: Option<Language>,
    #[serde(default, borrow)]
    untranslated: Vec<Cow<'a, str>>,
}

impl Item<'_> {
    /// The `lang` attribute for text that may be translated.
    pub(in crate::http::pages) fn lang<'i>(&'i self, edition: &Edition<'i>, field: &str) -> Lang<'i> {
        edition.lang(self.language.as_ref(), &self.untranslated, field)
    }

    /// For all other text.
    pub(in crate::http::pages) fn own(&self, edition: &Edition<'_>) -> Lang<'_> {
        edition.own(self.language.as_ref())
    }
}

#[derive(Debug, Deserialize)]
pub(in crate::http::pages) struct CategoryName<'a> {
    #[serde(borrow)]
    pub(in crate::http::pages) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) name: Cow<'a, str>,
}

/// The fields of a product's details that aren't in its list item.
#[derive(Debug, Deserialize)]
pub(in crate::http::pages) struct More<'a> {
    pub(in crate::http::pages) description: Option<Cow<'a, str>>,
    pub(in crate::http::pages) aliases: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) tags: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) features: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) standards: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) alternative_to: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) deployment: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) pricing: Option<Cow<'a, str>>,
    pub(in crate::http::pages) languages: Vec<Cow<'a, str>>,
    pub(in crate::http::pages) sources: Vec<Source<'a>>,
    pub(in crate::http::pages) rating_source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(in crate::http::pages) additional_properties: Members<'a>,
    #[serde(borrow)]
    pub(in crate::http::pages) export: ExportName<'a>,
    pub(in crate::http::pages) same_as: Vec<SameAs<'a>>,
}

#[derive(Debug, Deserialize)]
pub(in crate::http::pages) struct Source<'a> {
    #[serde(borrow)]
    pub(in crate::http::pages) label: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) url: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(in crate::http::pages) struct ExportName<'a> {
    #[serde(borrow)]
    pub(in crate::http::pages) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) license: Cow<'a, str>,
    pub(in crate::http::pages) as_of: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(in crate::http::pages) struct SameAs<'a> {
    #[serde(borrow)]
    pub(in crate::http::pages) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::http::pages) export: Cow<'a, str>,
}

/// A product, parsed from the body of its API response.
#[derive(Debug)]
pub(in crate::http::pages) struct Product<'a> {
    pub(in crate::http::pages) item: Item<'a>,
    pub(in crate::http::pages) more: More<'a>,
}

impl<'a> Product<'a> {
    pub(in crate::http::pages) fn read(body: &'a [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow)]
            data: &'a serde_json::value::RawValue,
        }
        let Data { data } = serde_json::from_slice(body)?;
        // Parsed twice, because flattening with serde would copy everything.
        Ok(Self { item: serde_json::from_str(data.get())?, more: serde_json::from_str(data.get())? })
    }

    /// Cuts whatever doesn't fit in a budget.
    pub(in crate::http::pages) fn within(mut self, budget: &TextBudget) -> Self {
        let Self { item, more } = &mut self;
        more.export.name = in_list(&more.export.name).into_owned().into();
        let texts = [&mut item.tagline, &mut item.vendor, &mut more.pricing].into_iter().flatten();
        texts.chain([&mut item.name, &mut more.export.name]).for_each(|text| budget.cut(text));
        let lists = [&mut more.features, &mut more.tags, &mut more.standards, &mut more.alternative_to];
        let lists = lists.into_iter().chain([&mut more.aliases, &mut more.deployment, &mut more.languages]);
        lists.for_each(|list| budget.cut_all(list));
        more.sources.truncate(budget.values(&more.sources).len());
        more.sources.iter_mut().for_each(|source| {
            budget.cut(&mut source.label);
            budget.cut(&mut source.url);
        });
        item.categories.truncate(budget.values(&item.categories).len());
        item.categories.iter_mut().for_each(|category| budget.cut(&mut category.name));
        more.same_as.truncate(budget.values(&more.same_as).len());
        more.same_as.iter_mut().for_each(|same| {
            budget.cut(&mut same.name);
            budget.cut(&mut same.export);
        });
        more.description.iter_mut().for_each(|description| budget.cut(description));
        more.additional_properties.cut(budget);
        self
    }

    /// An attribute's values, as written in the record; empty if they have the wrong type.
    pub(in crate::http::pages) fn values(&self, attribute: &Attribute) -> Vec<Cow<'_, str>> {
        let values: &[Cow<'_, str>] = match &*attribute.property {
            "vendor" => self.item.vendor.as_slice(),
            "standards" => &self.more.standards,
            "deployment" => &self.more.deployment,
            "languages" => &self.more.languages,
            "tags" => &self.more.tags,
            property => {
                let json = self.more.additional_properties.get(property);
                let values = json.and_then(|json| attribute.kind.values(json.get())).unwrap_or_default();
                return values.into_iter().map(|value| String::from(value).into()).collect();
            }
        };
        values.iter().map(|value| Cow::Borrowed(&**value)).collect()
    }
}
