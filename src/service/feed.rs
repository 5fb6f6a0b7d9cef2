//! Feeds: how the products that match a search changed.

use std::borrow::Cow;
use std::collections::HashSet;

use super::software::unlimited;
use super::{Order, ServiceError, SoftwareFilter, Stop};
use crate::catalogue::resource::SoftwareDetail;
use crate::catalogue::{Ordinal, SortedBy, shorten};
use crate::generation::{ProductChange, Snapshot, Transition};
use crate::index::SearchRequest;
use crate::search::Plan;
use crate::search::expand::with_all_words;

/// The maximum number of entries in a feed.
const MAX_ENTRIES: usize = 100;
/// The maximum number of properties that an entry names.
const MAX_NAMED: usize = 20;

/// What happened to a product, as seen by those who follow a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedKind {
    Added,
    Started,
    /// It changed while it matched.
    Changed,
    /// Likewise, and its evidence was checked on a later date than before.
    EvidenceRenewed,
    Stopped,
    Removed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    pub kind: FeedKind,
    /// When the directory received the change, as RFC 3339 in UTC.
    pub at: String,
    pub id: String,
    pub name: String,
    pub tagline: Option<String>,
    /// Each category's id and name.
    pub categories: Vec<(String, String)>,
    pub evidence_checked_on: Option<String>,
    /// The URI of the export's licence; empty if the export no longer exists.
    pub license: String,
    /// The properties that changed, at most 20.
    pub changed: Vec<String>,
}

/// Lists the latest changes to the products that pass a filter and have all the words, newest first
/// and by id within a generation. Both sides of a change are matched in the same index, with today's
/// categories and attributes.
pub fn list_feed(
    snapshot: &Snapshot,
    q: Option<&str>,
    filter: &SoftwareFilter,
    stop: &Stop,
) -> Result<Vec<FeedEntry>, ServiceError> {
    let Some(versions) = snapshot.past.versions() else { return Ok(Vec::new()) };
    let matching = matching(versions, q, filter, stop)?;
    let is_match = |version: Option<Ordinal>| version.is_some_and(|version| matching.contains(&version));
    // Versions have ids of their own.
    let is_wanted = |id: &str| {
        (filter.ids.is_empty() || filter.ids.iter().any(|of| of == id)) && filter.except_id.as_deref() != Some(id)
    };
    let changes = snapshot.past.changes(&snapshot.changes).take_while(|_| !stop.is_set());
    let entries = changes.filter(|(_, change, _)| is_wanted(&change.id)).filter_map(|(step, change, transition)| {
        let Transition { before, after } = transition;
        let kind = kind(change, transition, [is_match(before), is_match(after)])?;
        Some((kind, step, change, after.or(before)?))
    });
    let entries = entries.take(MAX_ENTRIES).map(|(kind, step, change, version)| {
        let stored = versions.records.stored(version)?;
        let SoftwareDetail { mut item, detail } = stored.read()?;
        shorten(&mut item);
        let categories = item.categories.into_iter();
        let properties = change.details.iter().flat_map(|details| &details.properties).take(MAX_NAMED);
        Ok(FeedEntry {
            kind,
            at: step.at.clone(),
            id: change.id.to_string(),
            name: item.name.into_owned(),
            tagline: item.tagline.map(Cow::into_owned),
            categories: categories.map(|category| (category.id.into_owned(), category.name.into_owned())).collect(),
            evidence_checked_on: item.evidence_checked_on.map(Cow::into_owned),
            license: detail.export.license.into_owned(),
            changed: properties.map(|of| of.property.to_string()).collect(),
        })
    });
    entries.collect()
}

/// `None` if it isn't for this feed, or only something changed that has no history: a hidden
/// attribute, or what's derived from other records.
fn kind(change: &ProductChange, transition: Transition, matches: [bool; 2]) -> Option<FeedKind> {
    let is_shown = || change.details.as_ref().is_none_or(|of| of.is_incomplete || !of.properties.is_empty());
    Some(match (matches, transition) {
        ([false, true], Transition { before: None, .. }) => FeedKind::Added,
        ([false, true], _) => FeedKind::Started,
        ([true, false], Transition { after: None, .. }) => FeedKind::Removed,
        ([true, false], _) => FeedKind::Stopped,
        ([true, true], _) if change.is_evidence_renewed => FeedKind::EvidenceRenewed,
        ([true, true], _) if is_shown() => FeedKind::Changed,
        _ => return None,
    })
}

/// The versions that pass a filter and have all the words. The change log bounds how many there
/// are, so there's no other budget: a part of them would look as if products had stopped matching.
fn matching(
    versions: &Snapshot,
    q: Option<&str>,
    filter: &SoftwareFilter,
    stop: &Stop,
) -> Result<HashSet<Ordinal>, ServiceError> {
    let budget = unlimited(stop);
    let plan = match q {
        Some(q) => with_all_words(&versions.search, versions, q, &budget)?,
        None => Plan::default(),
    };
    let found = versions.index.search(&SearchRequest {
        plan: &plan,
        filter: &SoftwareFilter { ids: Vec::new(), except_id: None, ..filter.clone() },
        order: Some(SortedBy::Stored(Order::Name)),
        page: 0..versions.software_count(),
        facets: None,
        texts: false,
        budget: &budget,
    })?;
    Ok(found.hits.iter().map(|hit| hit.ordinal).collect())
}
