//! The changes between two generations, and the news: products that were added, and evidence that was
//! renewed.

use std::borrow::Cow;

use super::{PageRequest, ServiceError};
use crate::catalogue::resource::{ChangeResource, Pagination, SoftwareDetail};
use crate::catalogue::shorten;
use crate::generation::{ChangeLog, ChangesSince, MergedChanges, NewsKind, ProductChange, Snapshot};
use crate::search::budget::Stop;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesPage {
    pub data: Vec<ChangeResource>,
    pub pagination: Pagination,
    /// The earlier generation.
    pub from: String,
    pub to: String,
}

pub fn list_changes(snapshot: &Snapshot, since: Option<&str>, page: PageRequest, stop: &Stop) -> Option<ChangesPage> {
    list_changes_to(snapshot.generation(), &snapshot.changes, &snapshot.merged_changes, since, page, stop)
}

/// Lists the products added, changed or removed between a generation and the latest one, `to`; the
/// list is empty if `since` is `None`. Returns `None` if that generation isn't in the log, or is no
/// longer there.
pub fn list_changes_to(
    to: &str,
    log: &ChangeLog,
    merged: &MergedChanges,
    since: Option<&str>,
    page: PageRequest,
    stop: &Stop,
) -> Option<ChangesPage> {
    let from = since.unwrap_or(to);
    let changes = if from == to { ChangesSince::default() } else { merged.since(log, from, page.range(), stop)? };
    let data = changes.page.iter().map(resource).collect();
    let pagination = page.pagination(changes.total as u64);
    Some(ChangesPage { data, pagination, from: from.to_owned(), to: to.to_owned() })
}

fn resource(change: &ProductChange) -> ChangeResource {
    let kind = match (change.before, change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    ChangeResource {
        id: change.id.to_string(),
        change: kind.to_owned(),
        content_hash: change.after.map(|hash| format!("{hash:016x}")),
        evidence_renewed: change.is_evidence_renewed && change.after.is_some(),
    }
}

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
