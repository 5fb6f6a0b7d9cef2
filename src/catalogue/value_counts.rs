//! Counts of an attribute's values over many products. Most products have a list of values that others have too: those are counted
//! by list, one addition each whatever its length.

use super::{AttributeColumn, Ordinal};

/// How many products have to have a list of values for it to be counted as such.
const SHARED: usize = 4;

/// The number of a product's list where too few others have it.
const UNSHARED: u16 = 0;

/// The lists of values that products share, numbered from 1; at most 65,535 of them.
#[derive(Debug, Default)]
pub(super) struct SharedLists {
    /// The number of each product's list.
    of: Vec<u16>,
    /// By number, a product that has the list; the first stands for [`UNSHARED`].
    examples: Vec<Ordinal>,
}

impl SharedLists {
    /// The lists of that many products, see [`AttributeColumn::of`]; none where no product has a value.
    pub(super) fn new(column: &AttributeColumn, products: u32) -> Self {
        if column.is_empty() {
            return Self::default();
        }
        let mut lists = Self { of: vec![UNSHARED; products as usize], examples: vec![0] };
        let mut ordinals: Vec<Ordinal> = (0..products).collect();
        ordinals.sort_unstable_by(|a, b| column.of(*a).cmp(column.of(*b)));
        let equal = ordinals.chunk_by(|a, b| column.of(*a) == column.of(*b));
        for equal in equal.filter(|equal| equal.len() >= SHARED) {
            let Ok(number) = u16::try_from(lists.examples.len()) else { break };
            lists.examples.push(equal[0]);
            for ordinal in equal {
                lists.of[*ordinal as usize] = number;
            }
        }
        lists
    }
}

/// How many products have each value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCounts {
    /// By value, products with a list of their own.
    by_value: Vec<u64>,
    /// By number of their list, the others.
    by_list: Vec<u32>,
}

impl ValueCounts {
    /// Zero counts of a column's values.
    pub fn new(column: &AttributeColumn) -> Self {
        Self { by_value: vec![0; column.len()], by_list: vec![0; column.lists().examples.len()] }
    }

    /// Counts a product of the column.
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
