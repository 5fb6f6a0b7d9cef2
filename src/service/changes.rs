//! The changes between two generations.

use super::PageRequest;
use crate::catalogue::resource::{ChangeResource, Pagination};
use crate::generation::{ChangeLog, ChangesSince, MergedChanges, ProductChange, Snapshot};
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
