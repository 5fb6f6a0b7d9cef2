//! Products' additional properties: their values' types and the number of distinct values. They're
//! collected because a later document may declare the properties as attributes.

use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashSet};

use super::ParsedExport;
use crate::export::convert::{Entry, Product};
use crate::record::{Attribute, AttributeType, MAX_VALUES};

/// Maximum number of properties per document whose values are examined.
const MAX_PROPERTIES: usize = 1_000;

/// How many values of the wrong type a finding points to.
pub(super) const EXAMPLES: usize = 3;

/// Distinct values of a property are counted up to this number, which is as many as a facet lists.
pub(super) const LISTED_VALUES: usize = 100;

/// The products in a document whose values aren't of a given type: their number, and the first few.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Misfits {
    pub(super) count: usize,
    pub(super) first: [usize; EXAMPLES],
}

/// A property in one document.
#[derive(Debug, Default)]
pub(super) struct Property {
    /// How many products have a value, and the first of them.
    pub(super) products: usize,
    pub(super) first: usize,
    /// By type.
    pub(super) misfits: [Misfits; AttributeType::ALL.len()],
    /// Hashes of its values, at most one more than [`LISTED_VALUES`].
    pub(super) values: HashSet<u64>,
}

/// The distinct values of a declared attribute: hashes of their keys, at most one more than
/// [`MAX_VALUES`].
#[derive(Debug)]
struct DeclaredValues {
    kind: AttributeType,
    keys: HashSet<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Properties {
    /// The properties, by document and name.
    pub(super) documents: Vec<HashMap<Box<str>, Property>>,
    pub(super) products: usize,
    declared: HashMap<Box<str>, DeclaredValues>,
}

impl Properties {
    /// Begins the next document, with the attributes that it declares.
    pub(super) fn begin(&mut self, export: &ParsedExport<'_>) {
        self.documents.push(HashMap::default());
        for Entry { value: Attribute { property, kind, .. }, .. } in &export.contents.attributes {
            let values = || DeclaredValues { kind: *kind, keys: HashSet::default() };
            self.declared.entry(property.clone()).or_insert_with(values);
        }
    }

    pub(super) fn push(&mut self, entry: &Entry<Product>) {
        let (Some(software), Some(properties)) = (&entry.value.software, self.documents.last_mut()) else { return };
        self.products += 1;
        for (name, json) in &software.additional_properties {
            let json = json.get();
            if let Some(DeclaredValues { kind, keys }) = self.declared.get_mut(name) {
                let values = if keys.len() > MAX_VALUES { None } else { kind.values(json) };
                keys.extend(values.iter().flatten().filter_map(|value| kind.key(value)).map(|key| hash(&key)));
            }
            if !properties.contains_key(name) {
                if properties.len() == MAX_PROPERTIES {
                    continue;
                }
                properties.insert(name.clone(), Property::default());
            }
            if let Some(property) = properties.get_mut(name) {
                property.push(entry.index, json);
            }
        }
    }

    /// Whether a declared attribute has more values than a directory is designed for. Values in
    /// documents before the first declaration don't count.
    pub(super) fn has_too_many_values(&self, property: &str) -> bool {
        self.declared.get(property).is_some_and(|values| values.keys.len() > MAX_VALUES)
    }
}

impl Property {
    fn push(&mut self, index: usize, json: &str) {
        let fits = AttributeType::fitting(json);
        for misfits in self.misfits.iter_mut().zip(fits).filter_map(|(misfits, fits)| (!fits).then_some(misfits)) {
            if let Some(place) = misfits.first.get_mut(misfits.count) {
                *place = index;
            }
            misfits.count += 1;
        }
        if json == "null" {
            return;
        }
        if self.products == 0 {
            self.first = index;
        }
        self.products += 1;
        if self.values.len() > LISTED_VALUES || !fits.contains(&true) {
            return;
        }
        match AttributeType::Text.values(json) {
            Some(texts) => self.values.extend(texts.iter().map(|text| hash(text))),
            None => drop(self.values.insert(hash(json))),
        }
    }
}

fn hash(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}
