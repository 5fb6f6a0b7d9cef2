//! The changes between two generations, and a product's history.

use super::{PageRequest, ServiceError};
use crate::catalogue::resource::{ChangeResource, HistoryEntry, Pagination, PropertyChange};
use crate::generation::{ChangeLog, ChangesSince, Generation, MergedChanges, ProductChange, Snapshot};
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

const fn kind(change: &ProductChange) -> &'static str {
    match (change.before, change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    }
}

fn resource(change: &ProductChange) -> ChangeResource {
    ChangeResource {
        id: change.id.to_string(),
        change: kind(change).to_owned(),
        content_hash: change.after.map(|hash| format!("{hash:016x}")),
        evidence_renewed: change.is_evidence_renewed && change.after.is_some(),
    }
}

/// A page of a product's history, newest first.
#[derive(Debug, Clone)]
pub struct HistoryPage<'s> {
    pub data: Vec<HistoryEntry<'s>>,
    pub pagination: Pagination,
    /// When the history begins (RFC 3339 in UTC), because nothing is known about earlier changes;
    /// `None` if unknown.
    pub since: Option<&'s str>,
}

/// Lists the changes to a product, which may have been removed; `None` if nothing is known about it.
pub fn list_history<'s>(
    snapshot: &'s Snapshot,
    id: &str,
    page: PageRequest,
) -> Result<Option<HistoryPage<'s>>, ServiceError> {
    let log = &snapshot.changes;
    let all = snapshot.merged_changes.of(log, id);
    if all.len() == 0 && snapshot.records.find(id).is_none() {
        return Ok(None);
    }
    // Hidden properties and what's derived from other records have no history.
    let is_shown = |change: &ProductChange| {
        change.details.as_ref().is_none_or(|details| details.is_incomplete || !details.properties.is_empty())
    };
    let entries: Vec<_> = all.filter(|(.., change)| is_shown(change)).collect();
    let range = page.range();
    let on_page = entries.iter().skip(range.start).take(range.len());
    let data = on_page.map(|(step, generation, change)| {
        Ok(HistoryEntry {
            at: &step.at,
            generation: generation.map_or(snapshot.generation(), Generation::as_str),
            change: kind(change),
            changes: property_changes(change)?,
            truncated: change.details.as_ref().is_some_and(|details| details.is_incomplete),
        })
    });
    Ok(Some(HistoryPage {
        data: data.collect::<Result<_, ServiceError>>()?,
        pagination: page.pagination(entries.len() as u64),
        since: Some(log.begun_at()).filter(|at| !at.is_empty()),
    }))
}

fn property_changes(change: &ProductChange) -> Result<Vec<PropertyChange<'_>>, serde_json::Error> {
    let properties = change.details.iter().flat_map(|details| &details.properties);
    let changes = properties.map(|of| {
        let (from, to) = (of.from.as_deref(), of.to.as_deref());
        Ok(PropertyChange {
            property: &of.property,
            from: from.map(serde_json::from_str).transpose()?,
            to: to.map(serde_json::from_str).transpose()?,
            truncated: of.is_truncated,
        })
    });
    changes.collect()
}
