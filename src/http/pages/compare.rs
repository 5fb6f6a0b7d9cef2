//! Up to four products side by side.

use std::borrow::Cow;
use std::fmt::Display;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use super::attribute::{self, Fact};
use super::call::{Call, Calls};
use super::edition::{Edition, Lang};
use super::evidence::{Badge, Citations, Marks};
use super::frame::{Frame, Section};
use super::language::Texts;
use super::links::{self, Base, COMPARED};
use super::respond;
use super::row::{Rating, kind};
use super::text_budget::TextBudget;
use super::visit::Visit;
use crate::catalogue::StoredProduct;
use crate::catalogue::resource::SoftwareDetail;
use crate::http::problem::ApiError;
use crate::service::{self, Translator};

/// How many products can be compared.
pub(super) const MAX_COMPARED: usize = 4;

#[derive(Debug, Template)]
#[template(path = "compare.html")]
struct ComparisonPage<'a> {
    frame: Frame<'a>,
    edition: Edition<'a>,
    t: &'static Texts,
    base: Base<'a>,
    products: &'a [SoftwareDetail<'a>],
    rows: Vec<Compared<'a>>,
    /// Whether rows in which all products agree are left out.
    only_differences: bool,
    citations: Citations<'a>,
    calls: Calls,
}

/// A row of the comparison: an attribute or some other list of words.
#[derive(Debug)]
struct Compared<'a> {
    property: &'a str,
    name: (&'a str, Lang<'a>),
    /// Each product's values.
    values: Vec<(Lang<'a>, Vec<String>)>,
}

impl<'a> ComparisonPage<'a> {
    /// The URL of the comparison without this product.
    fn without(&self, product: &SoftwareDetail<'_>) -> String {
        let others = self.products.iter().map(|other| &*other.item.id).filter(|id| *id != product.item.id);
        address(self.base, others, self.only_differences)
    }

    /// The URL of the comparison with or without the rows in which all products agree.
    fn switched(&self) -> String {
        address(self.base, self.products.iter().map(|product| &*product.item.id), !self.only_differences)
    }

    /// Whether to show a row that every comparison has.
    fn shows(&self, row: &str) -> bool {
        let says = |SoftwareDetail { item, detail }: &SoftwareDetail<'_>| match row {
            "tagline" => format!("{:?}", item.tagline),
            "rating" => format!("{:?} {:?}", item.rating_value(), item.review_count),
            "evidence" => format!("{} {:?}", item.evidence_status, item.evidence_checked_on),
            "categories" => item.categories.iter().map(|category| &*category.id).collect::<Vec<_>>().join(" "),
            "kind" => item.offering_type.to_string(),
            "website" => item.website.to_string(),
            _ => detail.export.id.to_string(),
        };
        !self.only_differences || differ(self.products.iter().map(says))
    }

    fn lang(&self, product: &'a SoftwareDetail<'a>, field: &str) -> Lang<'_> {
        self.edition.of_item(&product.item, field)
    }

    fn marks(&self, product: &'a SoftwareDetail<'a>, property: &str) -> Marks {
        self.citations.marks(product, property)
    }

    fn has_categories(&self) -> bool {
        self.products.iter().any(|product| !product.item.categories.is_empty())
    }

    fn rating(&self, product: &SoftwareDetail<'_>) -> Option<Rating> {
        Rating::new(self.t, product.item.rating_value(), product.item.review_count)
    }

    fn badge(&self, product: &'a SoftwareDetail<'a>) -> Option<Badge<'a>> {
        Badge::new(self.t, &product.item)
    }

    fn kind<'p>(&self, product: &'p SoftwareDetail<'_>) -> Cow<'p, str> {
        kind(self.t, &product.item.offering_type).unwrap_or(self.t.software_kind.into())
    }
}

/// The parameter that leaves out rows in which all products agree.
const ONLY: (&str, &str) = ("only", "differences");

fn address<'i>(base: impl Display, ids: impl Iterator<Item = &'i str>, only_differences: bool) -> String {
    let pairs = ids.map(|id| (COMPARED, id)).chain(only_differences.then_some(ONLY));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("{base}/compare?{query}")
}

fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    values.next().is_some_and(|first| values.any(|value| value != first))
}

/// The ids of the products to compare, as many as fit, each once.
pub(super) fn chosen<'i>(ids: impl Iterator<Item = Cow<'i, str>>) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    for id in ids {
        if chosen.len() < MAX_COMPARED && chosen.iter().all(|other| **other != *id) {
            chosen.push(id.into_owned());
        }
    }
    chosen
}

pub(super) async fn get_comparison(visit: Visit) -> Result<Response, ApiError> {
    let query = &visit.query;
    let sent = query.pairs().filter(|(name, _)| *name == COMPARED.as_bytes());
    let ids = chosen(sent.map(|(_, id)| String::from_utf8_lossy(id)));
    let only_differences = query.pairs().any(|(name, value)| name == ONLY.0.as_bytes() && value == ONLY.1.as_bytes());
    // A form also sends the list's search and filters.
    if query.pairs().any(|(name, _)| ![COMPARED, ONLY.0].iter().any(|known| known.as_bytes() == name)) {
        let address = address(visit.base(), ids.iter().map(String::as_str), only_differences);
        return Ok(respond::redirect(StatusCode::SEE_OTHER, &address));
    }
    visit.on_pool(move |visit, _| show(visit, &ids, only_differences)).await
}

fn show(visit: &Visit, ids: &[String], only_differences: bool) -> Result<Response, ApiError> {
    let (t, edition) = (visit.t(), visit.edition());
    // Products that no longer exist are left out.
    let records = ids.iter().filter_map(|id| service::read_software(&visit.snapshot, id).transpose());
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let mut products =
        records.iter().map(StoredProduct::read).collect::<Result<Vec<_>, _>>().map_err(ApiError::internal)?;
    let mut translator = Translator::new(edition.catalogue, edition.language);
    for product in &mut products {
        translator.detail(product);
        // The product's page shows more, or links to the full record.
        TextBudget::of_each(4 * MAX_COMPARED).cut_product(product);
    }
    let names: Vec<_> = products.iter().map(|product| &*product.item.name).collect();
    let title = if names.is_empty() { t.compare.to_owned() } else { names.join(" – ") };
    let attributes = attribute::shown(&edition.catalogue.tables.attributes).map(|of| {
        let values = |product| {
            let fact = Fact::new(edition, of, product);
            (fact.lang, fact.values.into_iter().map(|(value, _)| value).collect())
        };
        Compared {
            property: &of.property,
            name: attribute::name(edition.t, edition.language, of),
            values: products.iter().map(values).collect(),
        }
    });
    let words = |property, name, words: for<'p> fn(&'p SoftwareDetail<'_>) -> &'p [Cow<'p, str>]| {
        let of = products.iter().map(|product| (edition.own(product.item.language.as_deref()), words(product)));
        let values = of.map(|(lang, words)| (lang, words.iter().map(ToString::to_string).collect()));
        Compared { property, name: (name, Lang::default()), values: values.collect() }
    };
    let mut rows: Vec<_> = attributes.collect();
    rows.push(words("pricing", t.pricing, |product| product.detail.pricing.as_slice()));
    rows.push(words("features", t.features, |product| &product.detail.features));
    rows.push(words("alternative_to", t.alternative_to, |product| &product.detail.alternative_to));
    rows.retain(|row| row.values.iter().any(|(_, values)| !values.is_empty()));
    rows.retain(|row| !only_differences || differ(row.values.iter().map(|(_, values)| values)));
    let calls: Vec<_> =
        products.iter().map(|product| Call::of("/v1/software/{}", "software.get", &product.item.id)).collect();
    let mut frame = visit.frame().titled(&title);
    frame.section = Section::Products;
    frame.is_noindex = products.is_empty();
    let address = |only_differences| address("", products.iter().map(|product| &*product.item.id), only_differences);
    (frame.address, frame.canonical) = (address(only_differences), Some(address(false)));
    let calls = Calls::new(t, visit.site(), &calls);
    let page = ComparisonPage {
        frame,
        edition,
        t,
        base: edition.base,
        products: &products,
        rows,
        only_differences,
        citations: Citations::new(t),
        calls,
    };
    respond::html(StatusCode::OK, t, &page)
}
