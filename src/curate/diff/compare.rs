//! Compares two sets: pairs elements by identity, then compares their fields as JSON values.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::set::Set;
use super::{
    CategoryCount, Changed, Changes, Counts, Difference, Entry, Evidence, ExportCounts, FieldChange, Json, Summary,
};
use crate::record::{EvidenceStatus, JsonMembers, canonical, differences, identity};

/// Compares two sets in linear time and memory. Only records whose text differs are parsed.
pub fn compare(old: &Set, new: &Set) -> Difference {
    // If each set is a single export, the two are compared even if their ids differ.
    let pair = match (&old.exports[..], &new.exports[..]) {
        ([old], [new]) => Some((&*old.id, &*new.id)),
        _ => None,
    };
    let context = Context { pair };
    let mut software = context
        .compare(old.software.iter().map(|record| &record.entry), new.software.iter().map(|record| &record.entry));
    context.renamed(&mut software, old, new);
    for changed in &mut software.changed {
        changed.evidence = evidence(&changed.fields);
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
    fn is_moved(&self, old: &Entry, new: &Entry) -> bool {
        old.export != new.export && self.pair != Some((&old.export, &new.export))
    }

    /// Pairs elements that have the same identity, in order, and compares each pair.
    fn compare<'e>(&self, old: impl Iterator<Item = &'e Entry>, new: impl Iterator<Item = &'e Entry>) -> Changes {
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
                None => changes.added.push(new.clone()),
            }
        }
        changes.removed =
            old.iter().zip(is_there).filter(|(_, is_there)| !is_there).map(|(entry, _)| (*entry).clone()).collect();
        changes
    }

    /// How an element changed; `None` if it didn't.
    fn changed(&self, old: &Entry, new: &Entry) -> Option<Changed> {
        let former_export = self.is_moved(old, new).then(|| Arc::clone(&old.export));
        let fields = changes(&old.value, &new.value);
        let former_id = (old.id != new.id).then(|| old.id.clone());
        if fields.is_empty() && former_export.is_none() && former_id.is_none() {
            return None;
        }
        let Entry { id, name, export, .. } = new.clone();
        Some(Changed { id, name, export, former_id, former_export, evidence: None, fields })
    }

    /// Pairs products whose id changed but whose name and URL didn't. Products that share both with
    /// another product aren't paired.
    fn renamed(&self, changes: &mut Changes, old: &Set, new: &Set) {
        let lone = |set: &Set, entries: &[Entry]| {
            let records: HashMap<&str, usize> =
                set.software.iter().enumerate().map(|(place, record)| (&*record.entry.id, place)).collect();
            let mut of_address: HashMap<(Box<str>, Box<str>), Vec<usize>> = HashMap::new();
            for place in entries.iter().filter_map(|entry| records.get(&*entry.id).copied()) {
                let record = &set.software[place];
                of_address.entry((record.entry.name.clone(), record.url.clone())).or_default().push(place);
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
            let (from, to) = (&old.software[from].entry, &new.software[to].entry);
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

/// The fields in which two elements differ. An element that isn't an object counts as one field
/// without a name.
fn changes(old: &Json, new: &Json) -> Vec<FieldChange> {
    if old.0 == new.0 {
        return Vec::new();
    }
    let value = |raw: Cow<'_, RawValue>| serde_json::from_str(raw.get()).unwrap_or_default();
    let differences = differences(fields(old), fields(new)).into_iter();
    differences.map(|(field, old, new)| change(field.into_owned(), old.map(value), new.map(value))).collect()
}

fn fields(json: &Json) -> JsonMembers<'_> {
    let members: Option<BTreeMap<String, &RawValue>> = serde_json::from_slice(&json.0).ok();
    let value = || Some(BTreeMap::from([(String::new(), serde_json::from_slice(&json.0).ok()?)]));
    let members = members.or_else(value).unwrap_or_default();
    members.into_iter().map(|(name, value)| (name.into(), Cow::Borrowed(value))).collect()
}

fn change(field: String, old: Option<Value>, new: Option<Value>) -> FieldChange {
    let (added, removed) = match (&old, &new) {
        (Some(Value::Array(old)), Some(Value::Array(new))) => (without(new, old), without(old, new)),
        _ => (Vec::new(), Vec::new()),
    };
    FieldChange { field, old, new, added, removed }
}

/// An array without the elements of `other`. Each element of `other` removes at most one.
fn without(array: &[Value], other: &[Value]) -> Vec<Value> {
    let key = |value: &Value| canonical(&value.to_string()).into_owned();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for value in other {
        *counts.entry(key(value)).or_default() += 1;
    }
    let is_left = |value: &&Value| match counts.get_mut(&key(value)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    array.iter().filter(is_left).cloned().collect()
}

fn evidence(changes: &[FieldChange]) -> Option<Evidence> {
    let of = |field: &str| changes.iter().find(|change| change.field == field);
    let is_reviewed = |value: Option<&Value>| value.is_some_and(|value| value == "vendor-sources-reviewed");
    if let Some(status) = of("evidence_status") {
        return Some(if is_reviewed(status.new.as_ref()) { Evidence::Gained } else { Evidence::Lost });
    }
    let (date, sources) = (of("evidence_checked_on"), of("sources"));
    if date.is_none() && sources.is_none() {
        let FieldChange { old, new, .. } = of("evidence")?;
        return Some(match (old, new) {
            (None, _) => Evidence::Gained,
            (_, None) => Evidence::Lost,
            _ => Evidence::Renewed,
        });
    }
    let count = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
    let has_more = sources.is_some_and(|change| !change.added.is_empty() || count(change.old.as_ref()) == 0);
    let has_less = sources.is_some_and(|change| !change.removed.is_empty() || count(change.new.as_ref()) == 0);
    let (is_dated, is_undated) =
        (date.is_some_and(|date| date.old.is_none()), date.is_some_and(|date| date.new.is_none()));
    Some(match (has_more || is_dated, has_less || is_undated) {
        (true, false) => Evidence::Gained,
        (false, true) => Evidence::Lost,
        _ => Evidence::Renewed,
    })
}

fn summary(difference: &Difference, old: &Set, new: &Set) -> Summary {
    let is_reviewed = |set: &Set| {
        let reviewed = EvidenceStatus::VendorSourcesReviewed;
        set.software.iter().filter(|record| record.status == reviewed).count()
    };
    let software = &difference.software;
    let evidence = |of| software.changed.iter().filter(|changed| changed.evidence == Some(of)).count();
    Summary {
        old_software: old.software.len(),
        new_software: new.software.len(),
        old_reviewed: is_reviewed(old),
        new_reviewed: is_reviewed(new),
        exports: counts(&difference.exports),
        software: counts(software),
        renamed: software.changed.iter().filter(|changed| changed.former_id.is_some()).count(),
        moved: software.changed.iter().filter(|changed| changed.former_export.is_some()).count(),
        evidence_gained: evidence(Evidence::Gained),
        evidence_lost: evidence(Evidence::Lost),
        evidence_renewed: evidence(Evidence::Renewed),
        categories: counts(&difference.categories),
        reviews: counts(&difference.reviews),
        glossary: counts(&difference.glossary),
        synonyms: counts(&difference.synonyms),
        pins: counts(&difference.pins),
        by_export: by_export(software),
    }
}

fn by_export(software: &Changes) -> Vec<ExportCounts> {
    let mut exports: BTreeMap<Arc<str>, Counts> = BTreeMap::new();
    software.added.iter().for_each(|of| exports.entry(Arc::clone(&of.export)).or_default().added += 1);
    software.removed.iter().for_each(|of| exports.entry(Arc::clone(&of.export)).or_default().removed += 1);
    software.changed.iter().for_each(|of| exports.entry(Arc::clone(&of.export)).or_default().changed += 1);
    exports.into_iter().map(|(export, counts)| ExportCounts { export, counts }).collect()
}

fn counts(changes: &Changes) -> Counts {
    Counts { added: changes.added.len(), removed: changes.removed.len(), changed: changes.changed.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &'static str) -> Json {
        Json(bytes::Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn added_and_removed_array_elements_are_listed() {
        let of = |new| changes(&json(r#"{"tags":["a","b","b"]}"#), &json(new));
        let [change] = &of(r#"{"tags":["b","c"]}"#)[..] else { panic!("one field") };
        assert_eq!((change.added.clone(), change.removed.clone()), (vec!["c".into()], vec!["a".into(), "b".into()]));
        let [number] = &changes(&json(r#"{"n":[1.0,2]}"#), &json(r#"{"n":[1,3]}"#))[..] else { panic!("one field") };
        assert_eq!((number.added.clone(), number.removed.clone()), (vec![3.into()], vec![2.into()]));
        let [order] = &of(r#"{"tags":["b","a","b"]}"#)[..] else { panic!("one field") };
        assert_eq!((order.added.len(), order.removed.len()), (0, 0));
    }

    #[test]
    fn evidence_changes_are_classified() {
        let of = |old, new| evidence(&changes(&json(old), &json(new)));
        let (pending, reviewed) =
            (r#"{"evidence_status":"pending-review"}"#, r#"{"evidence_status":"vendor-sources-reviewed"}"#);
        assert_eq!(of(pending, reviewed), Some(Evidence::Gained));
        assert_eq!(of(reviewed, pending), Some(Evidence::Lost));
        let (one, two, other) =
            (r#"{"sources":[["a","u"]]}"#, r#"{"sources":[["a","u"],["b","v"]]}"#, r#"{"sources":[["b","v"]]}"#);
        assert_eq!(of(one, two), Some(Evidence::Gained));
        assert_eq!(of(two, one), Some(Evidence::Lost));
        assert_eq!(of(one, other), Some(Evidence::Renewed));
        assert_eq!(
            of(r#"{"evidence_checked_on":"2026-01-01"}"#, r#"{"evidence_checked_on":"2026-02-01"}"#),
            Some(Evidence::Renewed)
        );
        let [one, two] = [1, 2].map(|n| format!(r#"{{"evidence":{{"pricing":{{"source":"https://{n}.example/"}}}}}}"#));
        let [one, two] = [one, two].map(|text| &*text.leak());
        assert_eq!(
            [of("{}", one), of(one, two), of(two, "{}")],
            [Evidence::Gained, Evidence::Renewed, Evidence::Lost].map(Some)
        );
        assert_eq!(of(r#"{"name":"a"}"#, r#"{"name":"b"}"#), None);
    }
}
