//! Compares two sets: pairs elements by identity, then compares their fields.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::count::summary;
use super::set::{Item, Set};
use super::{CategoryCount, Changed, Changes, Difference, Entry, field};
use crate::record::identity;

/// Compares two sets in linear time and memory. Only records whose text differs are parsed.
pub fn compare(old: &Set, new: &Set) -> Difference {
    // If each set is a single export, the two are compared even if their ids differ.
    let pair = match (&old.exports[..], &new.exports[..]) {
        ([old], [new]) => Some((&*old.id, &*new.id)),
        _ => None,
    };
    let context = Context { pair };
    let mut software =
        context.compare(old.software.iter().map(|record| &record.item), new.software.iter().map(|record| &record.item));
    context.renamed(&mut software, old, new);
    for changed in &mut software.changed {
        changed.evidence = field::evidence(&changed.fields);
    }
    let mut difference = Difference {
        exports: context.exports(old, new),
        software,
        categories: context.compare(old.categories.iter(), new.categories.iter()),
        category_counts: category_counts(old, new),
        reviews: context.compare(old.reviews.iter(), new.reviews.iter()),
        glossary: context.compare(old.glossary.iter(), new.glossary.iter()),
        synonyms: context.compare(old.synonyms.iter(), new.synonyms.iter()),
        pins: context.compare(old.pins.iter(), new.pins.iter()),
        ..Difference::default()
    };
    difference.summary = summary(&difference, old, new);
    difference
}

struct Context<'s> {
    /// If each set contains only one export, the ids of the two, which count as the same export.
    pair: Option<(&'s str, &'s str)>,
}

impl Context<'_> {
    fn is_moved(&self, old: &Item, new: &Item) -> bool {
        old.export != new.export && self.pair != Some((&old.export, &new.export))
    }

    /// Pairs elements that have the same identity, in order, and compares each pair.
    fn compare<'i>(&self, old: impl Iterator<Item = &'i Item>, new: impl Iterator<Item = &'i Item>) -> Changes {
        let old: Vec<_> = old.collect();
        let mut of_id: HashMap<&str, Vec<usize>> = HashMap::with_capacity(old.len());
        for (place, item) in old.iter().enumerate().rev() {
            of_id.entry(&item.id).or_default().push(place);
        }
        let mut changes = Changes::default();
        let mut is_there = vec![false; old.len()];
        for new in new {
            match of_id.get_mut(&*new.id).and_then(Vec::pop) {
                Some(place) => {
                    is_there[place] = true;
                    changes.changed.extend(self.changed(old[place], new));
                }
                None => changes.added.push(entry(new)),
            }
        }
        changes.removed =
            old.iter().zip(is_there).filter(|(_, is_there)| !is_there).map(|(item, _)| entry(item)).collect();
        changes
    }

    /// How an element changed; `None` if it didn't.
    fn changed(&self, old: &Item, new: &Item) -> Option<Changed> {
        let former_export = self.is_moved(old, new).then(|| Box::from(&*old.export));
        let fields = field::changes(&old.json, &new.json);
        let former_id = (old.id != new.id).then(|| old.id.clone());
        if fields.is_empty() && former_export.is_none() && former_id.is_none() {
            return None;
        }
        let Entry { id, name, export, .. } = entry(new);
        Some(Changed { id, name, export, former_id, former_export, evidence: None, fields })
    }

    /// Pairs products whose id changed but whose name and URL didn't. Products that share both with
    /// another product aren't paired.
    fn renamed(&self, changes: &mut Changes, old: &Set, new: &Set) {
        let lone = |set: &Set, entries: &[Entry]| {
            let records: HashMap<&str, usize> =
                set.software.iter().enumerate().map(|(place, record)| (&*record.item.id, place)).collect();
            let mut of_address: HashMap<(Box<str>, Box<str>), Vec<usize>> = HashMap::new();
            for place in entries.iter().filter_map(|entry| records.get(&*entry.id).copied()) {
                let record = &set.software[place];
                of_address.entry((record.item.name.clone(), record.url.clone())).or_default().push(place);
            }
            of_address
        };
        if changes.added.is_empty() || changes.removed.is_empty() {
            return;
        }
        let (removed, added) = (lone(old, &changes.removed), lone(new, &changes.added));
        let mut renamed: Vec<(usize, usize)> = added
            .iter()
            .filter_map(|(address, added)| match (&added[..], removed.get(address).map(Vec::as_slice)) {
                ([new], Some([old])) => Some((*old, *new)),
                _ => None,
            })
            .collect();
        renamed.sort_unstable_by_key(|(_, new)| *new);
        let (mut from_ids, mut to_ids) = (HashSet::new(), HashSet::new());
        for (from, to) in renamed {
            let (from, to) = (&old.software[from].item, &new.software[to].item);
            changes.changed.extend(self.changed(from, to));
            from_ids.insert(&*from.id);
            to_ids.insert(&*to.id);
        }
        changes.removed.retain(|entry| !from_ids.contains(&*entry.id));
        changes.added.retain(|entry| !to_ids.contains(&*entry.id));
    }

    fn exports(&self, old: &Set, new: &Set) -> Changes {
        match (self.pair, &old.exports[..], &new.exports[..]) {
            (Some(_), [old], [new]) => {
                let changed = self.changed(old, new).filter(|changed| !changed.fields.is_empty());
                Changes { changed: changed.into_iter().collect(), ..Changes::default() }
            }
            _ => self.compare(old.exports.iter(), new.exports.iter()),
        }
    }
}

fn entry(item: &Item) -> Entry {
    let Item { id, name, export, json } = item;
    Entry { id: id.clone(), name: name.clone(), export: Box::from(&**export), value: json.clone() }
}

fn category_counts(old: &Set, new: &Set) -> Vec<CategoryCount> {
    let mut counts: BTreeMap<String, CategoryCount> = BTreeMap::new();
    for (set, is_new) in [(new, true), (old, false)] {
        for name in set.software.iter().flat_map(|record| &record.categories) {
            let of = || CategoryCount { name: name.clone(), old: 0, new: 0 };
            let count = counts.entry(identity(name)).or_insert_with(of);
            *if is_new { &mut count.new } else { &mut count.old } += 1;
        }
    }
    counts.into_values().filter(|count| count.old != count.new).collect()
}
