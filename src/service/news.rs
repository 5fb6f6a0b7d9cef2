//! Lists the news: products that were added, and evidence that was renewed.

use serde::Deserialize;

use super::ServiceError;
use crate::generation::{NewsKind, Snapshot};
use crate::search::budget::Stop;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    pub kind: NewsKind,
    /// When the directory received the change, as RFC 3339 in UTC.
    pub at: String,
    pub id: String,
    pub name: String,
    pub tagline: Option<String>,
    /// Each category's id and name.
    pub categories: Vec<(String, String)>,
    pub evidence_checked_on: Option<String>,
    /// The URI of the export's licence.
    pub license: String,
}

/// Lists the latest news, newest first and by id within a generation. If categories are given, only
/// includes products in those.
pub fn list_news(snapshot: &Snapshot, categories: &[String], stop: &Stop) -> Result<Vec<News>, ServiceError> {
    let known = categories.iter().flat_map(|category| snapshot.catalogue.categories_named(category));
    let known: Vec<_> = known.copied().collect();
    let known = (!categories.is_empty()).then_some(&*known);
    let changes = snapshot.news.newest(&snapshot.changes, known).into_iter();
    let news = changes.filter_map(|(step, change)| Some((change.news()?, step, snapshot.records.find(&change.id)?)));
    news.take_while(|_| !stop.is_set())
        .map(|(kind, step, ordinal)| {
            let item: Item = serde_json::from_slice(snapshot.records.item(ordinal))?;
            let More { export } = serde_json::from_slice(&snapshot.records.detail_fields(ordinal)?)?;
            Ok(Product { item, license: export.license }.news(kind, &step.at))
        })
        .collect()
}

#[derive(Deserialize)]
struct Item {
    id: String,
    name: String,
    tagline: Option<String>,
    categories: Vec<CategoryName>,
    evidence_checked_on: Option<String>,
}

#[derive(Deserialize)]
struct CategoryName {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct More {
    export: Licensed,
}

#[derive(Deserialize)]
struct Licensed {
    license: String,
}

struct Product {
    item: Item,
    license: String,
}

impl Product {
    fn news(&self, kind: NewsKind, at: &str) -> News {
        let item = &self.item;
        let categories = item.categories.iter().map(|category| (category.id.clone(), category.name.clone()));
        News {
            kind,
            at: at.to_owned(),
            id: item.id.clone(),
            name: item.name.clone(),
            tagline: item.tagline.clone(),
            categories: categories.collect(),
            evidence_checked_on: item.evidence_checked_on.clone(),
            license: self.license.clone(),
        }
    }
}
