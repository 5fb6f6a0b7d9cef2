//! Finds keys that occur twice in an object.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::tape::{Kind, Value};

/// For up to this many keys, comparing them pairwise is faster than hashing.
const PAIRWISE: usize = 16;

/// A repeated key: where it first occurs, and where it occurs again.
pub(super) struct Duplicate<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) first: Range<usize>,
    pub(super) again: Range<usize>,
}

/// Finds repeated keys; reuses its memory from object to object.
#[derive(Default)]
pub(super) struct Finder {
    keys: Vec<Range<usize>>,
}

impl Finder {
    pub(super) fn find<'t>(&mut self, object: Value<'t>, mut found: impl FnMut(Duplicate<'t>)) {
        if self.all_differ_at_a_glance(object) {
            return;
        }
        let mut first: HashMap<Cow<'t, str>, Range<usize>> = HashMap::new();
        for (key, _) in object.members() {
            let name = key.as_str().unwrap_or_default();
            if let Some(first) = first.get(&name) {
                found(Duplicate { key: name, first: first.clone(), again: key.span() });
            } else {
                first.insert(name, key.span());
            }
        }
    }

    /// Handles the common case (few keys, none with escapes) without a hash table. `false` means
    /// undecided.
    fn all_differ_at_a_glance(&mut self, object: Value<'_>) -> bool {
        self.keys.clear();
        for (key, _) in object.members() {
            if self.keys.len() == PAIRWISE || key.kind() != Kind::Plain {
                return false;
            }
            let raw = key.raw();
            if self.keys.iter().any(|other| other.len() == raw.len() && object.slice(other.clone()) == raw) {
                return false;
            }
            self.keys.push(key.span());
        }
        true
    }
}
