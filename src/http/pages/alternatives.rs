//! The products that say they can replace another one, which may be a record itself.

use askama::Template;
use axum::extract::MatchedPath;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::frame::{Frame, JsonLd, Section};
use super::language::Texts;
use super::links::{PAGE, of_alternatives, of_alternatives_to, of_software};
use super::pager::{Pager, offset, part};
use super::respond;
use super::row::Row;
use super::visit::Visit;
use crate::catalogue::resource::SoftwareDetail;
use crate::catalogue::{Alternatives, Ordinal};
use crate::generation::Snapshot as Generation;
use crate::http::extract::PathId;
use crate::http::problem::ApiError;
use crate::record::slug;
use crate::service::{self, PageRequest, Translator};

/// The route of a product's alternatives.
pub(super) const OF_PRODUCT: &str = "/software/{id}/alternatives";

/// How many products a page shows.
const PRODUCTS: u32 = 20;

#[derive(Debug, Template)]
#[template(path = "alternatives.html")]
struct AlternativesPage<'a> {
    frame: Frame<'a>,
    t: &'static Texts,
    name: &'a str,
    /// The page of the replaced product.
    href: Option<String>,
    total: u64,
    rows: Vec<Row<'a>>,
    pager: Option<Pager>,
}

/// Handles both routes: the product's, and the one of names.
pub(super) async fn get_alternatives(
    visit: Visit,
    route: MatchedPath,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    visit.on_pool(move |visit, _| show(visit, id, route.as_str() == OF_PRODUCT)).await
}

/// The products that can replace a product, best first.
pub(in crate::http) fn ordinals(snapshot: &Generation, product: &SoftwareDetail<'_>) -> Vec<Ordinal> {
    let own = snapshot.records.find(&product.item.id);
    let found = names(product).filter_map(|name| snapshot.catalogue.alternatives(&slug(name)));
    let mut ordinals: Vec<_> = found.flat_map(|of| &of.products).copied().filter(|at| Some(*at) != own).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    ordinals
}

fn names<'p>(product: &'p SoftwareDetail<'_>) -> impl Iterator<Item = &'p str> {
    std::iter::once(&product.item.name).chain(&product.detail.aliases).map(|name| &**name)
}

/// The id of the product that a name stands for.
pub(super) fn product_of(snapshot: &Generation, of: &Alternatives) -> Result<Option<String>, ApiError> {
    let Some(id) = service::find_named(snapshot, &of.name)? else { return Ok(None) };
    let Some(stored) = service::read_software(snapshot, &id)? else { return Ok(None) };
    let product = stored.read().map_err(ApiError::internal)?;
    let is_named = names(&product).any(|name| slug(name) == *of.id);
    Ok(is_named.then_some(id))
}

fn show(visit: &Visit, id: String, is_product: bool) -> Result<Response, ApiError> {
    let (t, site, base, snapshot) = (visit.t(), visit.site(), visit.base(), &visit.snapshot);
    let (name, product, ordinals, address) = if is_product {
        let stored = service::read_software(snapshot, &id)?.ok_or_else(|| ApiError::SoftwareNotFound(id.clone()))?;
        let product = stored.read().map_err(ApiError::internal)?;
        let address = of_alternatives_to(base, &id);
        (product.item.name.to_string(), Some(id), ordinals(snapshot, &product), address)
    } else {
        let of = snapshot.catalogue.alternatives(&id).ok_or(ApiError::RouteNotFound)?;
        (of.name.to_string(), product_of(snapshot, of)?, of.products.clone(), of_alternatives(base, &id))
    };
    if ordinals.is_empty() {
        return Err(ApiError::RouteNotFound);
    }
    let address = address.reading(&visit.query, &[PAGE]);
    let page = PageRequest { limit: PRODUCTS, offset: offset(address.page(), PRODUCTS) };
    let page = page.pagination(ordinals.len() as u64);
    let shown = part(&ordinals, page).iter().map(|ordinal| snapshot.records.stored(*ordinal));
    let shown = shown.collect::<Result<Vec<_>, _>>().map_err(ApiError::internal)?;
    let mut translator = Translator::new(&snapshot.catalogue, visit.of_texts.as_ref());
    let products = shown.iter().map(|stored| {
        let mut product = stored.read().map_err(ApiError::internal)?;
        translator.detail(&mut product);
        Ok::<_, ApiError>(product)
    });
    let products = products.collect::<Result<Vec<_>, _>>()?;
    let title = format!("{} {name}", t.alternatives_to);
    let mut frame = visit.frame().titled(&title).described(&title).at(&address.at_page(address.page()));
    frame.section = Section::Products;
    // The page of the product is the one to list.
    if let Some(id) = &product {
        frame = frame.canonical_at(&of_alternatives_to(base, id).at_page(address.page()));
    }
    if !site.config.base().is_empty() {
        let item = |(position, id): (u64, &str)| json!({"@type": "ListItem", "position": position, "url": of_software(site.absolute(), id)});
        let items = (page.offset + 1..).zip(products.iter().map(|product| &*product.item.id)).map(item);
        let members = [
            ("name", json!(title)),
            ("numberOfItems", json!(page.total)),
            ("itemListElement", items.collect::<Vec<Value>>().into()),
        ];
        frame.json_ld = vec![JsonLd::new("ItemList", &members)];
    }
    let edition = visit.edition();
    let view = AlternativesPage {
        frame,
        t,
        name: &name,
        href: product.as_deref().map(|id| of_software(base, id)),
        total: page.total,
        rows: products.iter().map(|product| Row::new(edition, product)).collect(),
        pager: Pager::new(t, page, &address, false),
    };
    respond::html(StatusCode::OK, t, &view)
}
