//! A generation's news: the changes in its log that a feed lists, newest first.

use crate::catalogue::Records;
use crate::generation::log::{ChangeLog, ChangePlace, ProductChange, Step};

/// The maximum number of entries in a feed.
pub const MAX_NEWS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewsKind {
    Added,
    /// The product's evidence was checked on a later date than before.
    EvidenceRenewed,
}

impl ProductChange {
    /// `None` if the change isn't news.
    pub const fn news(&self) -> Option<NewsKind> {
        match (self.before, self.after) {
            (None, Some(_)) => Some(NewsKind::Added),
            (Some(_), Some(_)) if self.is_evidence_renewed => Some(NewsKind::EvidenceRenewed),
            _ => None,
        }
    }
}

/// A log's news, newest first, and by id within a step.
#[derive(Debug)]
pub struct NewsIndex {
    /// All news about products that still exist.
    all: Vec<ChangePlace>,
    /// For each category, the indices of its news in `all`, ascending.
    by_category: Vec<Vec<u32>>,
}

impl NewsIndex {
    pub(super) fn new(log: &ChangeLog, records: &Records) -> Self {
        let (mut all, mut by_category) = (Vec::new(), Vec::new());
        let changes = log.steps().rev().flat_map(|(step, changes)| {
            (0..).zip(&changes.changes).map(move |(change, of)| (ChangePlace { step, change }, of))
        });
        let news = changes.filter(|(_, change)| change.news().is_some());
        let news = news.filter_map(|(place, change)| Some((place, records.find(&change.id)?)));
        for (number, (place, ordinal)) in (0..).zip(news) {
            for category in records.columns.categories_of(ordinal) {
                let category = *category as usize;
                by_category.resize_with(by_category.len().max(category + 1), Vec::new);
                by_category[category].push(number);
            }
            all.push(place);
        }
        Self { all, by_category }
    }

    /// The latest news in any of these categories (`None` for all), each entry with its step.
    pub fn newest<'l>(&self, log: &'l ChangeLog, categories: Option<&[u32]>) -> Vec<(&'l Step, &'l ProductChange)> {
        let entry = |at: usize| log.entry(self.all[at]);
        let Some(categories) = categories else { return (0..self.all.len().min(MAX_NEWS)).map(entry).collect() };
        let of = categories.iter().filter_map(|category| self.by_category.get(*category as usize));
        let mut newest: Vec<_> = of.flat_map(|news| news.iter().take(MAX_NEWS)).collect();
        newest.sort_unstable();
        newest.dedup();
        newest.into_iter().take(MAX_NEWS).map(|at| entry(*at as usize)).collect()
    }
}
