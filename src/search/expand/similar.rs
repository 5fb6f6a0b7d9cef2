//! Turns a search for alternatives to a product into a search for similar products if no record is
//! listed as an alternative.

use std::sync::Arc;

use super::Expansion;
use super::slot::Slot;
use crate::search::plan::{Alternative, Rerank};
use crate::search::stem_slots::StemSlots;

impl Expansion {
    /// Searches for products similar to [`similar_to`](Self::similar_to), which itself comes last.
    /// `shared` lists what that product may have in common with others, as written and as searched.
    pub fn seek_similar(&mut self, id: String, shared: Vec<(String, Vec<Alternative>)>, rerank: Rerank) {
        let (Some(name), [subject]) = (self.similar_to.take(), &self.slots[..]) else { return };
        let slot = |(written, alternatives)| {
            let mut slot = Slot { alternatives, required: false, others: Vec::new(), ..subject.clone() };
            slot.word.folded = written;
            slot
        };
        let slots: Vec<_> = shared.into_iter().map(slot).collect();
        if slots.is_empty() {
            return;
        }
        self.stems = Arc::new(StemSlots::new(slots.iter().map(Slot::stems)));
        self.slots = slots;
        self.report.alternatives_to_id = Some(id);
        let plan = &mut self.plan;
        plan.groups = self.slots.iter().map(Slot::group).collect();
        plan.excluded.retain(|term| *term != name);
        plan.last = vec![name];
        (plan.enough, plan.rerank) = (0, rerank);
    }
}
