//! Tests a generation before it's served: reads everything in it and runs a few requests.

use serde::Deserialize;

use super::{
    ATTRIBUTE_PREFIX, Facet, ListGlossary, ListSimilar, ListSoftware, ListSort, MAX_LIMIT, Order, PageRequest,
    SearchSoftware, SearchSort, ServiceError, get_software, list_changes, list_glossary, list_news, list_software,
    search_software, similar_software, suggest,
};
use crate::generation::{OpenError, Snapshot};

/// The number of products to test: each is searched for by name, and its similar products are
/// listed.
const SAMPLE: usize = 50;

/// Why a generation can't be served.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error(transparent)]
    Damaged(#[from] OpenError),
    #[error("a test request failed")]
    Request(#[from] ServiceError),
    #[error("product {0:?} is listed but doesn't exist")]
    Missing(String),
}

/// The members of a list item that a probe uses.
#[derive(Deserialize)]
struct Item {
    id: String,
    name: String,
}

/// Reads all parts of an embedded generation in full, and requests lists, products and searches. A
/// damaged generation causes an error or a panic.
pub fn probe(snapshot: &Snapshot) -> Result<(), ProbeError> {
    snapshot.verify()?;
    pollster::block_on(request_sample(snapshot))
}

async fn request_sample(snapshot: &Snapshot) -> Result<(), ProbeError> {
    let page = PageRequest { limit: MAX_LIMIT, offset: 0 };
    let attributes = snapshot.catalogue.tables.attributes.iter();
    let attributes =
        attributes.map(|(_, attribute)| Facet::Attribute(format!("{ATTRIBUTE_PREFIX}{}", attribute.property)));
    let facets: Vec<_> = Facet::all().chain(attributes).collect();
    list_glossary(snapshot, &ListGlossary { q: None, page }, None)?;
    list_changes(snapshot, None, page);
    list_news(snapshot, &[]).await?;
    for order in Order::ALL {
        list_software(snapshot, &ListSoftware { sort: Some(ListSort::Stored(order)), page, ..ListSoftware::default() })
            .await?;
    }
    let count = snapshot.software_count();
    for at in (0..count).step_by(count.div_ceil(SAMPLE).max(1)) {
        let one = PageRequest { limit: 1, offset: at as u64 };
        let list = list_software(snapshot, &ListSoftware { page: one, ..ListSoftware::default() }).await?;
        let Some(item) = list.data.first() else { continue };
        let Item { id, name } = serde_json::from_slice(item).map_err(ServiceError::from)?;
        get_software(snapshot, &id).await?.ok_or_else(|| ProbeError::Missing(id.clone()))?;
        similar_software(snapshot, &id, &ListSimilar { page, ..ListSimilar::default() }).await?;
        let first = name.split_whitespace().next().unwrap_or_default();
        suggest(snapshot, first, MAX_LIMIT, None).await?;
        for (q, sort) in [
            (&*name, SearchSort::default()),
            (first, SearchSort::Name),
            (&*format!("\"{name}\""), SearchSort::default()),
        ] {
            let search =
                SearchSoftware { facets: facets.clone(), highlight: true, page, sort, ..SearchSoftware::new(q) };
            search_software(snapshot, &search).await?;
        }
    }
    Ok(())
}
