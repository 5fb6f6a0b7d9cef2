//! News: products that were added, and evidence that was renewed.

use serde::Deserialize;

use super::{ServiceError, SoftwareFilter};
use crate::snapshot::{ProductChange, Snapshot};

/// The most news.
const MAX_NEWS: usize = 100;

/// The kinds of news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewsKind {
    /// The product was added.
    Added,
    /// The product's evidence was checked on a later day than before.
    EvidenceRenewed,
}

/// A product with news, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The kind.
    pub kind: NewsKind,
    /// When the directory had it, RFC 3339 in UTC.
    pub at: String,
    /// The product's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its short description.
    pub tagline: Option<String>,
    /// Its categories, each with id and name.
    pub categories: Vec<(String, String)>,
    /// When its evidence was checked.
    pub evidence_checked_on: Option<String>,
    /// The licence of its export: a URI.
    pub license: String,
}

/// Lists the newest news, the newest first and those of a generation by id, of the categories given or of all.
///
/// # Errors
/// Where a product's text is damaged.
pub fn list_news(snapshot: &Snapshot, categories: Vec<String>) -> Result<Vec<News>, ServiceError> {
    let filter = SoftwareFilter { categories, ..SoftwareFilter::default() }.resolve(&snapshot.catalogue);
    let columns = &snapshot.catalogue.tables.columns;
    let changes = snapshot.changes.newest().flat_map(|step| step.changes.iter().map(|change| (&*step.at, change)));
    let news = changes.filter_map(|(at, change)| {
        let kind = kind(change)?;
        let ordinal = snapshot.catalogue.find(&change.id)?;
        filter.admit(columns, ordinal).passed().then(|| describe(snapshot, ordinal, kind, at))
    });
    news.take(MAX_NEWS).collect()
}

fn kind(change: &ProductChange) -> Option<NewsKind> {
    match (change.before, change.after) {
        (None, Some(_)) => Some(NewsKind::Added),
        (Some(_), Some(_)) if change.is_evidence_renewed => Some(NewsKind::EvidenceRenewed),
        _ => None,
    }
}

/// The members of an item that news show.
#[derive(Deserialize)]
struct Item {
    id: String,
    name: String,
    tagline: Option<String>,
    categories: Vec<Named>,
    evidence_checked_on: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    name: String,
}

/// The members of a product's detail fields that news show.
#[derive(Deserialize)]
struct More {
    export: Licensed,
}

#[derive(Deserialize)]
struct Licensed {
    license: String,
}

fn describe(snapshot: &Snapshot, ordinal: u32, kind: NewsKind, at: &str) -> Result<News, ServiceError> {
    let item: Item = serde_json::from_slice(snapshot.catalogue.item(ordinal))?;
    let more: More = serde_json::from_slice(&snapshot.catalogue.detail_fields(ordinal)?)?;
    Ok(News {
        kind,
        at: at.to_owned(),
        id: item.id,
        name: item.name,
        tagline: item.tagline,
        categories: item.categories.into_iter().map(|category| (category.id, category.name)).collect(),
        evidence_checked_on: item.evidence_checked_on,
        license: more.export.license,
    })
}
