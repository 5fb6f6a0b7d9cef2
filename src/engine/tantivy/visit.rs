//! Goes through the documents of a plan, window by window.

use ::tantivy::{DocId, TERMINATED};

use super::TantivyEngine;
use super::cursor::{GroupCursor, List};
use super::window::{WIDTH, Window};
use crate::engine::{EngineError, Match, Visitor};
use crate::search::{Plan, Want};

/// Visits every document that the plan finds.
pub(super) fn visit(
    engine: &TantivyEngine,
    plan: &Plan,
    want: Want,
    visitor: &mut dyn Visitor,
) -> Result<(), EngineError> {
    let mut excluded = Vec::with_capacity(plan.excluded.len());
    for term in &plan.excluded {
        if let Some(term) = engine.find(term)? {
            excluded.push(List::new(engine.read(&term)?));
        }
    }
    let mut visit = Visit {
        excluded,
        found: Window::new(),
        scratch: Window::new(),
        matches: Vec::with_capacity(WIDTH),
        documents: Vec::new(),
        least: None,
    };
    let cursors = plan.groups.iter().map(|group| GroupCursor::open(engine, group)).collect::<Result<Vec<_>, _>>()?;
    let (required, optional): (Vec<_>, Vec<_>) = cursors.into_iter().partition(|cursor| cursor.required);
    let wanted = u8::try_from(required.len()).unwrap_or(u8::MAX);
    match want {
        _ if plan.groups.is_empty() => visit.everything(engine.scorer.documents(), visitor),
        _ if required.is_empty() => visit.some(optional, Vec::new(), wanted, visitor),
        Want::All => visit.all(required, optional, visitor),
        Want::Some => visit.some(required, optional, wanted, visitor),
    }
    Ok(())
}

struct Visit {
    excluded: Vec<List>,
    found: Window,
    scratch: Window,
    matches: Vec<Match>,
    documents: Vec<DocId>,
    /// The score below which a document only counts.
    least: Option<f32>,
}

impl Visit {
    fn everything(&mut self, documents: usize, visitor: &mut dyn Visitor) {
        for start in (0..documents).step_by(WIDTH) {
            self.found.move_to(DocId::try_from(start).unwrap_or(TERMINATED));
            self.found.add_first(documents - start);
            self.exclude();
            self.tell(0, u8::MAX, visitor);
        }
    }

    /// What has every required group: the documents of the rarest, of which each other group leaves some.
    fn all(
        &mut self,
        mut required: Vec<GroupCursor<'_>>,
        mut optional: Vec<GroupCursor<'_>>,
        visitor: &mut dyn Visitor,
    ) {
        required.sort_by_key(|cursor| cursor.cost);
        let Some((lead, rest)) = required.split_first_mut() else { return };
        loop {
            let document = lead.document();
            if document == TERMINATED {
                return;
            }
            self.found.move_to(document);
            lead.unite(&mut self.found, &mut self.scratch);
            for cursor in rest.iter_mut() {
                if self.found.count() == 0 {
                    break;
                }
                cursor.narrow(&mut self.found, &mut self.scratch);
            }
            self.exclude();
            self.reward(&mut optional, u8::MAX);
            self.tell(0, u8::MAX, visitor);
        }
    }

    /// What has any of some groups, complete with so many of them; others only add to the score.
    fn some(
        &mut self,
        mut cursors: Vec<GroupCursor<'_>>,
        mut optional: Vec<GroupCursor<'_>>,
        all: u8,
        visitor: &mut dyn Visitor,
    ) {
        loop {
            let document = cursors.iter().map(GroupCursor::document).min().unwrap_or(TERMINATED);
            if document == TERMINATED {
                return;
            }
            self.found.move_to(document);
            for cursor in &mut cursors {
                cursor.unite(&mut self.found, &mut self.scratch);
            }
            self.exclude();
            self.reward(&mut optional, all);
            self.tell(all, all, visitor);
        }
    }

    fn exclude(&mut self) {
        for list in &mut self.excluded {
            list.seek(self.found.start());
            let found = &mut self.found;
            list.for_each_until(found.end(), |document, _| found.remove(document));
        }
    }

    /// Adds the scores of groups that no document needs, where they can matter: to documents that satisfy as many groups as
    /// told, and to those that may come up to the least score with them.
    fn reward(&mut self, groups: &mut [GroupCursor<'_>], always: u8) {
        if groups.is_empty() {
            return;
        }
        let most: f32 = groups.iter().map(|group| group.worth).sum();
        let least = self.least.unwrap_or(0.0);
        self.documents.clear();
        self.documents.extend(
            self.found
                .counted()
                .filter(|(_, score, satisfied)| *satisfied >= always || score + most >= least)
                .map(|(document, ..)| document),
        );
        if !self.documents.is_empty() {
            for group in groups {
                group.reward(&mut self.found, &self.documents, &mut self.scratch);
            }
        }
    }

    /// Tells the visitor the documents of the window, those that satisfy `all` groups as complete ones. Documents whose score
    /// doesn't matter are only counted, but for those that satisfy as many groups as told.
    fn tell(&mut self, all: u8, always: u8, visitor: &mut dyn Visitor) {
        let least = self.least.unwrap_or(f32::NEG_INFINITY);
        self.matches.clear();
        for (ordinal, score, satisfied) in self.found.counted() {
            if satisfied >= always || score >= least {
                self.matches.push(Match { ordinal, score, complete: satisfied >= all });
            }
        }
        let told = self.matches.len() as u64;
        if told > 0 {
            visitor.visit(&self.matches);
        }
        visitor.count(u64::from(self.found.count()) - told);
        self.least = visitor.least();
    }
}
