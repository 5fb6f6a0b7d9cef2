//! Attribute value lists shared by several products.

use super::Ordinal;

/// How many products must share a list of values for it to be counted as a unit.
const SHARED: usize = 4;

/// The number given to all lists that too few products share.
pub(super) const UNSHARED: u16 = 0;

/// The shared value lists, numbered from 1; at most 65,535 of them.
#[derive(Debug, Default)]
pub(super) struct SharedLists {
    /// The number of each product's list.
    pub(super) of: Vec<u16>,
    /// For each number, an example product that has the list; the first entry is for [`UNSHARED`].
    pub(super) examples: Vec<Ordinal>,
}

impl SharedLists {
    /// Finds the lists shared among this many products.
    pub(super) fn new<'v>(products: u32, values: impl Fn(Ordinal) -> &'v [u32]) -> Self {
        let mut lists = Self { of: vec![UNSHARED; products as usize], examples: vec![0] };
        let mut ordinals: Vec<Ordinal> = (0..products).collect();
        ordinals.sort_unstable_by(|a, b| values(*a).cmp(values(*b)));
        let equal = ordinals.chunk_by(|a, b| values(*a) == values(*b));
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
