//! Lists the news: products that were added, and evidence that was renewed.

use std::borrow::Cow;

use super::ServiceError;
use crate::catalogue::resource::SoftwareDetail;
use crate::catalogue::shorten;
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
            let stored = snapshot.records.stored(ordinal)?;
            let SoftwareDetail { mut item, detail } = stored.read()?;
            shorten(&mut item);
            let categories = item.categories.into_iter();
            Ok(News {
                kind,
                at: step.at.clone(),
                id: item.id.into_owned(),
                name: item.name.into_owned(),
                tagline: item.tagline.map(Cow::into_owned),
                categories: categories.map(|category| (category.id.into_owned(), category.name.into_owned())).collect(),
                evidence_checked_on: item.evidence_checked_on.map(Cow::into_owned),
                license: detail.export.license.into_owned(),
            })
        })
        .collect()
}
