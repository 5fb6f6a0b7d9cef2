//! What changed in a product: its properties' old and new values. The change log stores them with
//! each change, within limits: long values are cut, and the oldest changes lose theirs first.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::catalogue::{ProductPlace, ProductReader, StoredProduct};
use crate::record::{Difference, JsonMembers, differences};

/// The maximum size of one product's history, and of all histories, in bytes.
pub(super) const MAX_RECORD_BYTES: usize = 64 * 1024;
pub(super) const MAX_HISTORY_BYTES: usize = 16 * 1024 * 1024;
/// The maximum size of a property's change without its name and values.
const PROPERTY_BYTES: usize = 64;

/// The properties that a change affected, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeDetails {
    pub properties: Vec<PropertyChange>,
    /// Whether properties are missing, because they didn't fit or a text was damaged.
    pub is_incomplete: bool,
}

/// A property's change, with the values as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyChange {
    pub property: Box<str>,
    /// `None` if the property was added, or the value is too long.
    pub from: Option<Box<str>>,
    /// `None` if the property was removed, or the value is too long.
    pub to: Option<Box<str>>,
    /// Whether a value was cut or left out.
    pub is_truncated: bool,
}

/// A record as it was, for finding out which feeds it was in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerRecord {
    pub(super) export: Box<str>,
    /// The record as in an export, a JSON object, but without its id and hidden properties. A rating
    /// that's computed from reviews is stated.
    pub(super) json: Box<str>,
}

impl FormerRecord {
    /// `None` if the record is too long to be kept.
    pub(super) fn of(product: &StoredProduct, hidden: &[Box<str>]) -> Result<Option<Self>, serde_json::Error> {
        let stored = product.read()?;
        let mut properties = product.properties()?;
        if stored.detail.additional_properties.0.iter().all(|(name, _)| name != EXPORT) {
            properties.remove(EXPORT);
        }
        properties.remove("id");
        properties.extend(stored.item.rating.map(|rating| ("rating".into(), Cow::Borrowed(rating))));
        if let Some(count) = stored.item.review_count {
            properties.insert("review_count".into(), Cow::Owned(to_raw_value(&count)?));
        }
        let json = serde_json::to_string(&shown(properties, hidden))?.into();
        let record = Self { export: stored.detail.export.id.into(), json };
        Ok(Some(record).filter(|record| record.bytes() <= MAX_RECORD_BYTES))
    }

    pub(super) fn bytes(&self) -> usize {
        PROPERTY_BYTES + self.export.len() + self.json.len()
    }

    /// Removes hidden properties and the evidence for them.
    pub(super) fn hide(mut self: Box<Self>, hidden: &[Box<str>]) -> Option<Box<Self>> {
        if !hidden.is_empty() {
            self.json = serde_json::to_string(&shown(serde_json::from_str(&self.json).ok()?, hidden)).ok()?.into();
        }
        Some(self)
    }
}

impl ChangeDetails {
    pub(super) fn lost() -> Self {
        Self { properties: Vec::new(), is_incomplete: true }
    }

    /// An upper bound on the size in bytes.
    pub(super) fn bytes(&self) -> usize {
        PROPERTY_BYTES + self.properties.iter().map(PropertyChange::bytes).sum::<usize>()
    }

    /// Compares two versions of a product, leaving out hidden properties. The result has at most
    /// `max_bytes`, which the properties share.
    pub(super) fn between(
        (old, new): (&ProductReader, &ProductReader),
        (before, after): (ProductPlace, ProductPlace),
        hidden: &[Box<str>],
        max_bytes: usize,
    ) -> io::Result<Self> {
        let (before, after) = (old.read(before)?, new.read(after)?);
        Ok(Self::of(differences(shown(before.properties()?, hidden), shown(after.properties()?, hidden)), max_bytes))
    }

    /// Removes hidden properties and the evidence for them.
    pub(super) fn hide(&mut self, hidden: &[Box<str>]) {
        self.properties.retain_mut(|change| {
            if *change.property == *EVIDENCE && !hidden.is_empty() {
                let shown = |json: Option<Box<str>>| shown_evidence(&json?, hidden).map(Into::into);
                (change.from, change.to) = (shown(change.from.take()), shown(change.to.take()));
                return change.is_truncated || change.from != change.to;
            }
            !is_hidden(&change.property, hidden)
        });
    }

    fn of(differences: Vec<Difference<'_>>, max_bytes: usize) -> Self {
        let mut details = Self::default();
        let mut left = max_bytes.saturating_sub(PROPERTY_BYTES);
        for (later, (name, from, to)) in (0..differences.len()).rev().zip(differences) {
            let value = |of: &Option<Cow<'_, RawValue>>| of.as_ref().map_or(0, |value| value.get().len());
            // A short change leaves more room for the ones after it.
            let share = left / (later + 1);
            let Some(room) = share.checked_sub(name.len() + PROPERTY_BYTES) else {
                details.is_incomplete = true;
                continue;
            };
            let is_truncated = value(&from) + value(&to) > room;
            let stored = |of: Option<Cow<'_, RawValue>>| match of {
                Some(value) if is_truncated => cut(value.get(), room / 2),
                value => value.map(|value| value.get().into()),
            };
            let change = PropertyChange { property: name.into(), from: stored(from), to: stored(to), is_truncated };
            left -= change.bytes();
            details.properties.push(change);
        }
        details
    }
}

const EVIDENCE: &str = "evidence";
const EXPORT: &str = "export";

fn is_hidden(name: &str, hidden: &[Box<str>]) -> bool {
    hidden.iter().any(|of| **of == *name)
}

fn shown<'j>(mut properties: JsonMembers<'j>, hidden: &[Box<str>]) -> JsonMembers<'j> {
    properties.retain(|name, _| !is_hidden(name, hidden));
    if let Some(evidence) = properties.remove(EVIDENCE) {
        let shown = || RawValue::from_string(shown_evidence(evidence.get(), hidden)?).ok().map(Cow::Owned);
        let shown = if hidden.is_empty() { Some(evidence) } else { shown() };
        properties.extend(shown.map(|evidence| (EVIDENCE.into(), evidence)));
    }
    properties
}

/// A record's evidence without that for hidden properties; `None` if nothing is left, or if it has
/// another shape.
fn shown_evidence(json: &str, hidden: &[Box<str>]) -> Option<String> {
    let mut evidence: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    evidence.retain(|property, _| !is_hidden(property, hidden));
    if evidence.is_empty() { None } else { serde_json::to_string(&evidence).ok() }
}

impl PropertyChange {
    fn bytes(&self) -> usize {
        let values = [&self.from, &self.to].into_iter().flatten();
        PROPERTY_BYTES + self.property.len() + values.map(|value| value.len()).sum::<usize>()
    }
}

/// The beginning of a JSON value: whole characters of a string, whole elements of an array; `None`
/// if another value, or any element, is too long.
fn cut(json: &str, max_bytes: usize) -> Option<Box<str>> {
    if json.len() <= max_bytes {
        return Some(json.into());
    }
    let fits = |used: &mut usize, bytes: usize| {
        *used += bytes;
        *used <= max_bytes
    };
    if json.starts_with('"') {
        // The quotation marks and the `…`.
        let mut used = 5;
        let text: String = serde_json::from_str(json).ok()?;
        let kept = text
            .chars()
            .take_while(|c| fits(&mut used, if c.is_control() || matches!(c, '"' | '\\') { 6 } else { c.len_utf8() }));
        let kept: String = kept.collect();
        return if kept.is_empty() { None } else { serde_json::to_string(&(kept + "…")).ok().map(Into::into) };
    }
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let mut used = 1;
    let kept: Vec<_> = elements.iter().map(|of| of.get()).take_while(|of| fits(&mut used, of.len() + 1)).collect();
    if kept.is_empty() { None } else { Some(format!("[{}]", kept.join(",")).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_to_their_share_of_the_room() {
        let long = serde_json::to_string(&"é\n\"".repeat(10_000)).expect("JSON");
        let array = format!("[{}]", vec!["\"0123456789\""; 1000].join(","));
        let object = format!("{{\"a\":{array}}}");
        let of = |max_bytes| {
            let raw = |json: &str| Some(Cow::Owned(RawValue::from_string(json.to_owned()).expect("JSON")));
            let differences = [("a", raw("1"), raw("2")), ("b", raw(&long), raw("2")), ("c", raw(&array), None)];
            let differences = differences.into_iter().chain([("d", None, raw(&object))]);
            ChangeDetails::of(differences.map(|(name, from, to)| (name.into(), from, to)).collect(), max_bytes)
        };
        for max_bytes in [0, 100, 400, 1000, 5000, 100_000, 1_000_000] {
            let details = of(max_bytes);
            assert!(details.properties.is_empty() || details.bytes() <= max_bytes, "{max_bytes}: {}", details.bytes());
            for json in details.properties.iter().flat_map(|change| [&change.from, &change.to]).flatten() {
                serde_json::from_str::<&RawValue>(json).expect("still JSON");
            }
        }
        let cut = of(5000);
        assert_eq!(
            cut.properties.iter().map(|change| change.is_truncated).collect::<Vec<_>>(),
            [false, true, true, true]
        );
        let from = |at: usize| cut.properties[at].from.as_deref().unwrap_or_default().to_owned();
        assert!(from(1).ends_with("…\"") && from(2).ends_with("\"0123456789\"]"), "{} {}", from(1), from(2));
        assert_eq!(cut.properties[3].to, None, "half of an object would be another object");
        assert_eq!((of(100).is_incomplete, of(5000).is_incomplete), (true, false));
    }
}
