//! A product, with everything its record says.

use std::borrow::Cow;

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::attribute::Fact;
use super::call::{Call, Calls};
use super::compare::MAX_COMPARED;
use super::edition::{Edition, Lang};
use super::evidence::{Age, Citations, Marks, age};
use super::frame::{Frame, JsonLd, Section};
use super::glossary::term_href;
use super::history::{Entries, history_of};
use super::home::overview;
use super::language::Texts;
use super::links::{
    Address, Base, PAGE, of_alternatives, of_alternatives_to, of_badge, of_category, of_record, of_search, of_software,
    web_address,
};
use super::overview::Overview;
use super::pager::{Pager, offset};
use super::row::{self, Rating, Row, kind};
use super::site::Site;
use super::terms::TermLinker;
use super::text_budget::TextBudget;
use super::visit::Visit;
use super::{alternatives, attribute, evidence, licence, links, respond};
use crate::catalogue::resource::{Members, RatingSource, ReviewResource, ReviewSummary, SoftwareDetail, SoftwareItem};
use crate::http::api::formats::{self, LICENSES, OPERATING_SYSTEMS, VERSIONS};
use crate::http::extract::PathId;
use crate::http::problem::ApiError;
use crate::record::{EvidenceStatus, slug};
use crate::service;
use crate::service::parameter::definition::SEARCH_Q;
use crate::service::{
    ListReviews, ListSimilar, PageRequest, ReviewFilter, ReviewSort, ReviewsPage, SimilarHit, Stop, Translator,
};
use crate::text::fold::folded;
use crate::text::html::escape;
use crate::text::language;

/// How many similar products the page shows.
const SIMILAR: u32 = 5;

/// How many changes the page shows.
const HISTORY: u32 = 5;

/// How many reviews the page shows.
const REVIEWS: u32 = 10;

/// With fewer reviews than this, the page doesn't offer sorting.
const FEWEST_ORDERED: u64 = 3;

/// How much JSON search engines are given of a property, in bytes.
const MAX_STATED: usize = 2000;

/// The multi-valued attribute that says what a product is about.
const CHIPS: &str = "tags";

/// The maximum number of words in common that a similar product's row lists.
const MAX_WORDS: usize = 4;

/// The parameter for the review order.
const SORT: &str = "sort";

#[derive(Debug, Template)]
#[template(path = "software.html")]
struct SoftwarePage<'a> {
    frame: Frame<'a>,
    edition: Edition<'a>,
    t: &'static Texts,
    base: Base<'a>,
    product: &'a SoftwareDetail<'a>,
    rating: Option<Rating>,
    texts: Linked,
    /// Attributes shown as chips below the description.
    chips: Vec<Fact<'a>>,
    /// What the record says at a glance, below the name.
    glance: Vec<Fact<'a>>,
    /// The other attributes.
    facts: Vec<Fact<'a>>,
    reviews: Reviews<'a>,
    similar: Vec<Row<'a>>,
    history: Entries<'a>,
    properties: PropertyValue,
    citations: Citations<'a>,
    calls: Calls,
    /// Whether some of the record doesn't fit on the page.
    is_cut: bool,
    /// Whether other products say that they can replace this one.
    has_alternatives: bool,
}

/// Text in which glossary terms are linked, as HTML.
#[derive(Debug)]
struct Linked {
    tagline: Option<String>,
    paragraphs: Vec<String>,
    features: Vec<String>,
}

#[derive(Debug)]
struct Reviews<'a> {
    summary: &'a ReviewSummary,
    /// How many reviews gave each number of stars.
    bars: [(u64, u64); 5],
    total: u64,
    shown: Vec<ReviewResource<'a>>,
    /// A sort order's URL and name, and whether it's the current one.
    orders: Vec<(String, &'static str, bool)>,
    pager: Option<Pager>,
    /// Whether some reviews don't fit on the page.
    is_cut: bool,
}

impl SoftwarePage<'_> {
    fn badge_href(&self) -> String {
        of_badge(self.base, &self.item().id)
    }

    /// The HTML that embeds the badge in another site; `None` if the site can't load it.
    fn badge(&self) -> Option<String> {
        let (site, id) = (self.frame.site, &self.item().id);
        let public = site.absolute();
        (site.is_indexable() && !public.path.is_empty()).then(|| {
            format!(
                "<a href=\"{}\"><img src=\"{}\" alt=\"{}\"></a>",
                escape(&of_software(public, id)),
                escape(&of_badge(public, id)),
                escape(&self.item().name)
            )
        })
    }

    fn marks(&self, property: &str) -> Marks {
        self.citations.marks(self.product, property)
    }

    fn item(&self) -> &SoftwareItem<'_> {
        &self.product.item
    }

    fn lang(&self, field: &str) -> Lang<'_> {
        self.edition.of_item(self.item(), field)
    }

    /// For what isn't translated.
    fn own(&self) -> Lang<'_> {
        self.edition.own(self.item().language.as_deref())
    }

    fn alternatives_href(&self, product: &str) -> String {
        match self.edition.catalogue.alternatives(&slug(product)) {
            Some(of) => of_alternatives(self.base, &of.id).at_page(1),
            None => of_search(self.base, SEARCH_Q.name, &format!("alternative to {product}")),
        }
    }

    fn own_alternatives_href(&self) -> String {
        of_alternatives_to(self.base, &self.item().id).at_page(1)
    }

    /// The URL of the comparison with the most similar products.
    fn compare_all_href(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("id", &self.item().id);
        query.extend_pairs(self.similar.iter().take(MAX_COMPARED - 1).map(|row| ("id", row.id())));
        format!("{}/compare?{}", self.base, query.finish())
    }

    fn record_href(&self, kind: &str) -> String {
        of_record(self.edition.root, kind, &self.item().id)
    }

    fn history_href(&self) -> String {
        history_of(self.base, &self.item().id).at_page(1)
    }

    fn kind(&self) -> Cow<'_, str> {
        kind(self.t, &self.item().offering_type).unwrap_or(self.t.software_kind.into())
    }

    fn evidence_label(&self) -> Cow<'_, str> {
        evidence::label(self.t, &self.item().evidence_status)
    }

    fn is_reviewed(&self) -> bool {
        self.item().evidence_status == EvidenceStatus::VendorSourcesReviewed.as_str()
    }

    fn is_pending(&self) -> bool {
        self.item().evidence_status == EvidenceStatus::PendingReview.as_str()
    }

    fn age(&self) -> Option<Age> {
        age(self.item().evidence_checked_on.as_deref()?, evidence::today())
    }

    fn rating_source(&self) -> Option<&'static str> {
        Some(match self.product.detail.rating_source? {
            RatingSource::Stated => self.t.stated_rating,
            RatingSource::Reviews => self.t.computed_rating,
        })
    }

    fn has_details(&self) -> bool {
        let detail = &self.product.detail;
        let lists = [&self.texts.paragraphs, &self.texts.features];
        lists.iter().any(|list| !list.is_empty()) || !self.chips.is_empty() || !detail.alternative_to.is_empty()
    }
}

pub(super) async fn get_software(visit: Visit, PathId(id): PathId) -> Result<Response, ApiError> {
    let overview = overview(&visit.state, &visit.snapshot).await?;
    visit.on_pool(move |visit, stop| show(visit, &overview, id, stop)).await
}

fn show(visit: &Visit, overview: &Overview, id: String, stop: &Stop) -> Result<Response, ApiError> {
    let (t, edition, snapshot, of_texts) = (visit.t(), visit.edition(), &visit.snapshot, visit.of_texts.as_ref());
    let address = Address::record(of_software(edition.base, &id), edition.base).reading(&visit.query, &[SORT, PAGE]);
    let sort = ReviewSort::ALL.into_iter().find(|sort| Some(sort.as_str()) == address.get(SORT)).unwrap_or_default();
    let page = PageRequest { limit: REVIEWS, offset: offset(address.page(), REVIEWS) };
    let list = ListReviews { filter: ReviewFilter::default(), sort, page };
    let Some(stored) = service::read_software(snapshot, &id)? else {
        let was_listed = snapshot.merged_changes.is_removed(&snapshot.changes, &id);
        return Err(if was_listed { ApiError::SoftwareGone(id) } else { ApiError::SoftwareNotFound(id) });
    };
    let mut product = stored.read().map_err(ApiError::internal)?;
    Translator::new(&snapshot.catalogue, of_texts).detail(&mut product);
    let text_budget = TextBudget::of_each(1);
    text_budget.cut_product(&mut product);
    let reviews = service::list_reviews(snapshot, &id, &list, stop);
    let reviews = reviews.ok_or_else(|| ApiError::SoftwareNotFound(id.clone()))?;
    let page = PageRequest { limit: SIMILAR, offset: 0 };
    let few = ListSimilar { page, language: of_texts.cloned(), ..ListSimilar::default() };
    let similar = service::similar_software(snapshot, &id, &few, &service::budget(snapshot, stop))?;
    let similar = similar.map(|page| page.data).unwrap_or_default();
    let items = row::items(similar.iter().map(|hit| &hit.item))?;
    let records = row::records(snapshot, &items)?;
    let similar_products = row::products(items, &records)?;
    let history = service::list_history(snapshot, &id, PageRequest { limit: HISTORY, offset: 0 })?;
    let glossary = &snapshot.catalogue.tables.glossary;
    let term_href = |at: usize| term_href(overview, of_texts, glossary, edition.base, at);
    let mut linker = TermLinker::new(&overview.terms, glossary, &term_href, of_texts);
    let detail = &product.detail;
    let paragraphs = detail.description.as_deref().unwrap_or_default().split("\n\n");
    let paragraphs: Vec<_> = paragraphs.filter(|text| !text.trim().is_empty()).collect();
    let texts = Linked {
        tagline: product.item.tagline.as_deref().map(|tagline| linker.link(tagline)),
        paragraphs: text_budget.values(&paragraphs).iter().map(|text| linker.link(text)).collect(),
        features: detail.features.iter().map(|feature| linker.link(feature)).collect(),
    };
    let attributes = &snapshot.catalogue.tables.attributes;
    let facts = attribute::shown(attributes).filter(|of| !attribute::is_at_a_glance(&of.property));
    let facts = facts.map(|of| Fact::new(edition, of, &product)).filter(|fact| !fact.values.is_empty());
    let (chips, mut facts): (Vec<_>, Vec<_>) = facts.partition(|fact| fact.property == CHIPS);
    facts.sort_by_key(|fact| fact.property != "vendor");
    // An attribute is already among the facts, unless its value has the wrong type.
    let is_unseen = |name: &str, json: &RawValue| {
        let Some(number) = attributes.number(name) else { return true };
        let of = attributes.get(number);
        !of.hidden && of.kind.values(json.get()).is_none_or(|values| values.is_empty())
    };
    let rows = similar_products.iter().zip(&similar);
    let rows = rows.map(|(product, hit)| {
        let mut row = Row::new(edition, product);
        row.note = in_common(edition, hit);
        row
    });
    let view = SoftwarePage {
        has_alternatives: !alternatives::ordinals(snapshot, &product).is_empty(),
        frame: frame(visit, &product),
        edition,
        t,
        base: edition.base,
        product: &product,
        rating: Rating::new(t, product.item.rating_value(), product.item.review_count),
        texts,
        chips,
        glance: attribute::at_a_glance(edition, &product),
        facts,
        reviews: Reviews::new(t, &address, &reviews, sort)?,
        similar: rows.collect(),
        history: Entries { edition, entries: history.map(|page| page.data).unwrap_or_default() },
        properties: PropertyValue::of(&detail.additional_properties, is_unseen).map_err(ApiError::internal)?,
        citations: Citations::new(t),
        calls: calls(t, visit.site(), &id),
        is_cut: text_budget.is_cut(),
    };
    respond::html(StatusCode::OK, t, &view)
}

impl<'a> Reviews<'a> {
    fn new(t: &'static Texts, address: &Address, reviews: &'a ReviewsPage, sort: ReviewSort) -> Result<Self, ApiError> {
        let mut is_cut = false;
        let mut read = |review: &'a [u8]| {
            let mut review: ReviewResource<'_> = serde_json::from_slice(review).map_err(ApiError::internal)?;
            let budget = TextBudget::of_each(4 * reviews.page.data.len());
            let texts = [&mut review.title, &mut review.author, &mut review.body];
            texts.into_iter().flatten().for_each(|text| budget.cut(text));
            is_cut |= budget.is_cut();
            Ok::<_, ApiError>(review)
        };
        let (total, counts) = (reviews.page.pagination.total, &reviews.summary.distribution);
        let orders = ReviewSort::ALL.map(|order| {
            let name = match order {
                ReviewSort::Newest => t.newest_reviews,
                ReviewSort::Oldest => t.oldest_reviews,
                ReviewSort::Best => t.best_reviews,
                ReviewSort::Worst => t.worst_reviews,
            };
            (format!("{}#reviews", address.with(SORT, order.as_str())), name, order == sort)
        });
        Ok(Self {
            summary: &reviews.summary,
            bars: [(5, counts.five), (4, counts.four), (3, counts.three), (2, counts.two), (1, counts.one)],
            total,
            shown: reviews.page.data.iter().map(|review| read(review)).collect::<Result<_, _>>()?,
            orders: if total < FEWEST_ORDERED || address.has_pages() { Vec::new() } else { orders.into() },
            pager: Pager::new(t, reviews.page.pagination, address, false),
            is_cut,
        })
    }
}

/// What two products have in common, as HTML.
fn in_common(edition: Edition<'_>, hit: &SimilarHit<'_>) -> Option<String> {
    let categories = hit.categories.iter().map(|category| {
        format!("<bdi{}>{}</bdi>", edition.category(&category.id), escape(category.name_in(edition.language)))
    });
    let says_something = |word: &&String| !language::is_function_word(&folded(word).collect::<String>());
    let words = hit
        .words
        .iter()
        .filter(says_something)
        .take(MAX_WORDS)
        .map(|word| format!("<i><bdi>{}</bdi></i>", escape(word)));
    let shared: Vec<_> = categories.chain(words).collect();
    let (label, colon) = (escape(edition.t.in_common), edition.t.colon);
    (!shared.is_empty()).then(|| format!("<span class=\"quiet\">{label}{colon}</span> {}", shared.join(", ")))
}

fn frame<'a>(visit: &'a Visit, SoftwareDetail { item, detail }: &SoftwareDetail<'_>) -> Frame<'a> {
    let (t, site) = (visit.t(), visit.site());
    let description = item.tagline.as_deref().or(detail.description.as_deref()).unwrap_or_default();
    let mut frame = visit.frame().titled(&item.name).described(description);
    frame.section = Section::Products;
    frame.is_found = true;
    frame = frame.at(&of_software(visit.base(), &item.id));
    if site.config.base().is_empty() {
        return frame;
    }
    let url = of_software(site.absolute(), &item.id);
    let rating = item
        .rating_value()
        .filter(|rating| (0.0..=5.0).contains(rating))
        .zip(item.review_count.filter(|count| *count > 0));
    let rating = rating.map(|(value, count)| {
        json!({"@type": "AggregateRating", "ratingValue": value, "bestRating": 5, "worstRating": 0, "reviewCount": count})
    });
    let vendor = item.vendor.as_deref().map(|vendor| json!({"@type": "Organization", "name": vendor}));
    let attributes = &visit.snapshot.catalogue.tables.attributes;
    let is_hidden = |name: &str| attributes.number(name).is_some_and(|number| attributes.get(number).hidden);
    let stated = |names: &[&str]| -> Value {
        let Members(members) = &detail.additional_properties;
        let find =
            |name| members.iter().find(|(of, json)| of == name && json.get().len() <= MAX_STATED && !is_hidden(of));
        let json = names.iter().find_map(find).map(|(_, json)| json.get()).unwrap_or_default();
        serde_json::from_str(json).unwrap_or_default()
    };
    let license = stated(LICENSES);
    let price = detail.pricing.as_deref().map(|pricing| json!({"@type": "Offer", "description": pricing}));
    let application = JsonLd::new(
        "SoftwareApplication",
        &[
            ("name", json!(item.name)),
            ("description", if description.is_empty() { json!(null) } else { json!(description) }),
            ("url", json!(url)),
            ("sameAs", web_address(&item.website).map_or(json!(null), |web| json!(web.url))),
            ("applicationCategory", json!(item.categories.first().map(|category| &category.name))),
            ("author", json!(vendor)),
            ("aggregateRating", json!(rating)),
            ("offers", json!(price)),
            ("operatingSystem", stated(OPERATING_SYSTEMS)),
            ("softwareVersion", stated(VERSIONS)),
            ("license", if license.is_null() { license } else { formats::license(&license) }),
            ("isBasedOn", stated(&["is_based_on"])),
        ],
    );
    let mut places = vec![(t.products, site.absolute().products())];
    places
        .extend(item.categories.first().map(|category| (&*category.name, of_category(site.absolute(), &category.id))));
    places.push((&item.name, url));
    frame.json_ld = vec![application, JsonLd::breadcrumbs(&places)];
    frame
}

fn calls(t: &'static Texts, site: &Site, id: &str) -> Calls {
    let calls = [
        Call::of("/v1/software/{}", "software.get", id),
        Call::of("/v1/reviews/{}", "reviews.list", id).with("limit", REVIEWS),
        Call::of("/v1/software/{}/similar", "software.similar", id).with("limit", SIMILAR),
    ];
    Calls::new(t, site, &calls)
}

/// Deeper values are shown as JSON.
const MAX_DEPTH: usize = 6;

#[derive(Debug, Template)]
#[template(path = "parts/value.html")]
pub(super) enum PropertyValue {
    Text(String),
    /// A number, a flag, null, or JSON.
    Code(String),
    List(Vec<PropertyValue>),
    Object(Vec<(String, PropertyValue)>),
}

impl PropertyValue {
    /// The object's members that `keep` selects, in their original order.
    pub(super) fn of(
        Members(members): &Members<'_>,
        keep: impl Fn(&str, &RawValue) -> bool,
    ) -> Result<Self, serde_json::Error> {
        let kept = members.iter().filter(|(name, json)| keep(name, json));
        kept.map(|(name, json)| Ok((name.clone().into_owned(), Self::at_depth(json, 1)?)))
            .collect::<Result<_, _>>()
            .map(Self::Object)
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Object(members) if members.is_empty())
    }

    fn at_depth(json: &RawValue, depth: usize) -> Result<Self, serde_json::Error> {
        let text = json.get();
        Ok(match text.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            Some(b'[' | b'{') if depth == MAX_DEPTH => Self::Code(text.to_owned()),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                Self::List(items.into_iter().map(|item| Self::at_depth(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text)?;
                let members =
                    members.into_iter().map(|(name, value)| Ok((name.into_owned(), Self::at_depth(value, depth + 1)?)));
                Self::Object(members.collect::<Result<_, serde_json::Error>>()?)
            }
            _ => Self::Code(text.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(json: &str) -> String {
        let members: Members<'_> = serde_json::from_str(json).expect("JSON");
        PropertyValue::of(&members, |name, _| name != "left out").expect("read").render().expect("rendered")
    }

    #[test]
    fn values_are_escaped_and_numbers_keep_their_digits() {
        let shown = html(
            r#"{"left out": 0, "<b>": [1.50, 12345678901234567890123, null], "u": "https://a.example/", "t": "<i>"}"#,
        );
        for part in ["&lt;b&gt;", "1.50", "12345678901234567890123", "null", "href=\"https://a.example/\"", "&lt;i&gt;"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("<b>") && !shown.contains("<i>") && !shown.contains("left"), "{shown}");
    }

    #[test]
    fn deeply_nested_values_are_shown_as_json() {
        let deep = format!("{{\"deep\": {}1{}}}", "[".repeat(200), "]".repeat(200));
        assert!(html(&deep).contains(&"[".repeat(190)), "not a list in a list in a list");
    }
}
