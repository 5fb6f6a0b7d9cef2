//! Counts an attribute's values over many products. Most products share their value list with other
//! products. Counting such a product takes a single addition, however long its list is.

use super::shared_lists::UNSHARED;
use super::{AttributeColumn, Ordinal};

/// How many products have each value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCounts {
    /// Counts per value, for products whose list isn't shared.
    by_value: Vec<u64>,
    /// Counts per list number, for all other products.
    by_list: Vec<u32>,
}

impl ValueCounts {
    /// Zero counts for a column's values.
    pub fn new(column: &AttributeColumn) -> Self {
        Self { by_value: vec![0; column.len()], by_list: vec![0; column.lists().examples.len()] }
    }

    /// Counts a product's values.
    #[inline]
    pub fn count(&mut self, column: &AttributeColumn, ordinal: Ordinal) {
        let list = column.lists().of[ordinal as usize];
        self.by_list[list as usize] += 1;
        if list == UNSHARED {
            column.of(ordinal).iter().for_each(|value| self.by_value[*value as usize] += 1);
        }
    }

    /// The counts by value.
    pub fn by_value(mut self, column: &AttributeColumn) -> Vec<u64> {
        let lists = column.lists().examples.iter().zip(&self.by_list).skip(1);
        for (ordinal, count) in lists.filter(|(_, count)| **count > 0) {
            column.of(*ordinal).iter().for_each(|value| self.by_value[*value as usize] += u64::from(*count));
        }
        self.by_value
    }
}
