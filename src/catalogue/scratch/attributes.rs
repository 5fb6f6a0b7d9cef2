//! The values of attributes, each with the label that it has in all products.

use std::io;

use foldhash::HashSet;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Attribute, Ordinal};
use crate::record::Software;
use crate::scratch::{Keyed, Scratch, ScratchSorter, Spool};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeValue {
    /// The form in which values are compared.
    pub key: String,
    /// The value as the best product that has it writes it.
    pub label: Box<str>,
}

/// By attribute, key and product, the value as the product writes it, and its place in the record.
type ByKey = Keyed<(u8, String, Ordinal), (u32, Box<str>)>;

/// By product, attribute and place in the record, the value.
type ByOrdinal = Keyed<(Ordinal, u8, u32), AttributeValue>;

/// Collects the values of attributes; products come in the order of their ordinals.
#[derive(Debug)]
pub struct AttributeValuesBuilder {
    scratch: Scratch,
    by_key: ScratchSorter<ByKey>,
    ordinal: Ordinal,
}

/// The values of all products, in the order of ordinals.
#[derive(Debug)]
pub struct AttributeValues(Spool<ByOrdinal>);

impl AttributeValuesBuilder {
    /// A builder without products.
    pub fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), by_key: scratch.sorter(), ordinal: 0 }
    }

    /// Adds the next product.
    pub fn push(&mut self, software: &Software) -> io::Result<()> {
        for attribute in Attribute::ALL {
            // A value that a record has twice, in two spellings, counts once.
            let mut keys = HashSet::default();
            for (place, value) in (0_u32..).zip(attribute.values_of(software)) {
                let key = Attribute::key(value);
                if keys.insert(key.clone()) {
                    let key = (attribute as u8, key, self.ordinal);
                    self.by_key.push(Keyed { key, value: (place, value.clone()) })?;
                }
            }
        }
        self.ordinal += 1;
        Ok(())
    }

    /// Finds the label of each value.
    pub fn finish(self) -> io::Result<AttributeValues> {
        let mut by_ordinal: ScratchSorter<ByOrdinal> = self.scratch.sorter();
        let mut first: Option<(u8, AttributeValue)> = None;
        for row in self.by_key.finish()? {
            let Keyed { key: (attribute, key, ordinal), value: (place, label) } = row?;
            let value = match first.take() {
                Some((of, value)) if of == attribute && value.key == key => value,
                _ => AttributeValue { key, label },
            };
            by_ordinal.push(Keyed { key: (ordinal, attribute, place), value: value.clone() })?;
            first = Some((attribute, value));
        }
        let mut values = self.scratch.spool()?;
        for row in by_ordinal.finish()? {
            values.push(&row?)?;
        }
        Ok(AttributeValues(values.finish()?))
    }
}

impl AttributeValues {
    /// A reader of the products in the order of their ordinals.
    pub(super) fn reader(&self) -> AttributeReader {
        AttributeReader { rows: self.0.rows(), next: None }
    }
}

/// Reads the values of one product after the other.
#[derive(Debug)]
pub(super) struct AttributeReader {
    rows: crate::scratch::SpoolRows<ByOrdinal>,
    next: Option<ByOrdinal>,
}

impl AttributeReader {
    /// The values of a product, by attribute.
    pub(super) fn of(&mut self, ordinal: Ordinal) -> io::Result<[Vec<AttributeValue>; Attribute::COUNT]> {
        let mut values: [Vec<AttributeValue>; Attribute::COUNT] = Default::default();
        while let Some(row) = self.next.take().map_or_else(|| self.rows.next().transpose(), |row| Ok(Some(row)))? {
            if row.key.0 != ordinal {
                self.next = Some(row);
                break;
            }
            values[usize::from(row.key.1)].push(row.value);
        }
        Ok(values)
    }
}
