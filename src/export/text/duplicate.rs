//! Keys that one object uses twice.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::tape::{Kind, Value};

/// Up to this many keys, comparing each with each is faster than hashing them.
const PAIRWISE: usize = 16;

/// A key's second (or third, …) use, and its first.
pub(super) struct Duplicate<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) first: Range<usize>,
    pub(super) again: Range<usize>,
}

/// Looks for duplicates; keeps its memory from object to object.
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

    /// Decides the usual case, few keys and none with escapes, without a hash table. `false` means: not decided.
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
