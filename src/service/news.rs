//! Lists the news: products that were added, and evidence that was renewed.

use foldhash::HashMap;
use serde::Deserialize;

use super::ServiceError;
use super::software::unlimited;
use crate::catalogue::{Order, SoftwareFilter, SortedBy};
use crate::engine::SearchRequest;
use crate::generation::{MAX_NEWS, NewsKind, Snapshot};
use crate::search::Plan;
use crate::search::budget::{Budget, Stop};

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
pub async fn list_news(snapshot: &Snapshot, categories: &[String]) -> Result<Vec<News>, ServiceError> {
    list_news_within(snapshot, categories, &unlimited(&Stop::default())).await
}

/// The same as [`list_news`], but with a custom budget.
pub async fn list_news_within(
    snapshot: &Snapshot,
    categories: &[String],
    budget: &Budget,
) -> Result<Vec<News>, ServiceError> {
    let known = categories.iter().flat_map(|category| snapshot.catalogue.categories_named(category));
    let known: Vec<_> = known.copied().collect();
    let known = (!categories.is_empty()).then_some(&*known);
    let candidates = snapshot.news.newest(&snapshot.changes, known).into_iter();
    let candidates = candidates.filter_map(|(step, change)| Some((change.news()?, &*step.at, &*change.id)));
    let candidates: Vec<_> = candidates.collect();
    let mut news = Vec::new();
    for changes in candidates.chunks(MAX_NEWS) {
        let products = products(snapshot, changes, categories, budget).await?;
        news.extend(changes.iter().filter_map(|(kind, at, id)| Some(products.get(*id)?.news(*kind, at))));
        if news.len() >= MAX_NEWS || !budget.allows_more() {
            break;
        }
    }
    news.truncate(MAX_NEWS);
    Ok(news)
}

/// The changed products by id, if they still exist and are in any of the categories.
async fn products(
    snapshot: &Snapshot,
    changes: &[(NewsKind, &str, &str)],
    categories: &[String],
    budget: &Budget,
) -> Result<HashMap<String, Product>, ServiceError> {
    let filter = SoftwareFilter {
        ids: changes.iter().map(|(_, _, id)| (*id).to_owned()).collect(),
        categories: categories.to_vec(),
        ..SoftwareFilter::default()
    };
    let request = SearchRequest {
        plan: &Plan::default(),
        filter: &filter,
        order: Some(SortedBy::Stored(Order::Name)),
        page: 0..changes.len(),
        facets: None,
        texts: true,
        budget,
    };
    let found = snapshot.engine.search(&request).await?;
    let products = found.hits.iter().zip(&found.texts).map(|(hit, texts)| {
        let item: Item = serde_json::from_slice(&hit.item)?;
        let More { export } = serde_json::from_slice(&texts.fields)?;
        Ok((item.id.clone(), Product { item, license: export.license }))
    });
    products.collect()
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
