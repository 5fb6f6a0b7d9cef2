//! A queue in which callers take turns.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::key::Holder;

/// A round-robin queue: first in, first out for each caller, and one item per caller in turn. A
/// caller with many waiting items delays another caller's next item by only one.
#[derive(Debug)]
pub(super) struct Turns<T> {
    /// The callers with waiting items, next turn first.
    callers: VecDeque<Holder>,
    waiting: HashMap<Holder, VecDeque<T>>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { callers: VecDeque::new(), waiting: HashMap::new() }
    }
}

impl<T> Turns<T> {
    pub(super) fn push(&mut self, caller: Holder, item: T) {
        match self.waiting.entry(caller) {
            Entry::Occupied(mut own) => own.get_mut().push_back(item),
            Entry::Vacant(own) => {
                self.callers.push_back(own.key().clone());
                own.insert(VecDeque::from([item]));
            }
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let caller = self.callers.pop_front()?;
        let own = self.waiting.get_mut(&caller)?;
        let item = own.pop_front();
        if own.is_empty() {
            self.waiting.remove(&caller);
        } else {
            self.callers.push_back(caller);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_take_turns() {
        let mut turns = Turns::default();
        for item in ["a1", "a2", "a3", "b1", "c1", "b2"] {
            turns.push(Holder::Key(item[..1].into()), item);
        }
        assert_eq!([(); 4].map(|()| turns.pop()), ["a1", "b1", "c1", "a2"].map(Some));
        // A caller that had nothing waiting goes to the back.
        turns.push(Holder::Key("c".into()), "c2");
        assert_eq!([(); 4].map(|()| turns.pop()), [Some("b2"), Some("a3"), Some("c2"), None]);
        assert!(turns.waiting.is_empty());
    }
}
