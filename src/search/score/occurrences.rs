//! Counts a term's occurrences in a document and packs them into a frequency.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::search::field::Field;

/// The maximum number of occurrences to count per section. More would hardly change the saturated
/// sum.
const MAX_COUNTED: [u8; 3] = [3, 3, 15];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrences {
    sections: [u8; 3],
    /// Whether the term is in the description of one of the document's categories. This counts only
    /// if the term is nowhere else.
    context: bool,
}

impl Occurrences {
    pub const fn one(field: Field) -> Self {
        let mut sections = [0; 3];
        let context = matches!(field, Field::CategoryDescription);
        if !context {
            sections[field.section() as usize] = 1;
        }
        Self { sections, context }
    }

    pub fn add(&mut self, more: Self) {
        for (count, more) in self.sections.iter_mut().zip(more.sections) {
            *count = count.saturating_add(more);
        }
        self.context |= more.context;
    }

    /// Keeps the higher of the two counts in each section.
    pub fn most(&mut self, other: Self) {
        for (count, other) in self.sections.iter_mut().zip(other.sections) {
            *count = other.max(*count);
        }
        self.context |= other.context;
    }

    /// Keeps one occurrence, in the better section. Meant for terms that count once per document.
    pub fn best(&mut self, other: Self) {
        self.add(other);
        let best = self.sections.iter().position(|count| *count > 0);
        self.sections = [0; 3];
        if let Some(best) = best {
            self.sections[best] = 1;
        }
    }

    /// The packed term frequency, which is the number that an index stores. It starts at 1 and is
    /// small for common combinations.
    pub fn packed(self) -> u32 {
        PACKED.by_index[self.index()]
    }

    /// The index among all distinct combinations.
    fn index(self) -> usize {
        let mut index = 0;
        for (count, max) in self.sections.into_iter().zip(MAX_COUNTED) {
            index = index * (usize::from(max) + 1) + usize::from(count.min(max));
        }
        index
    }
}

pub(super) struct PackedFrequencies {
    /// Indexed by [`Occurrences::index`].
    by_index: Vec<u32>,
    /// For each packed frequency, starting from 1, the occurrences in each section and in a
    /// category's description.
    pub(super) counts: Vec<[f32; 4]>,
}

pub(super) static PACKED: LazyLock<PackedFrequencies> = LazyLock::new(|| {
    // A term that's only in a category's description. No section has any occurrences, so the
    // index is 0.
    let mut all = vec![(2, Occurrences { sections: [0; 3], context: true })];
    for name in 0..=MAX_COUNTED[0] {
        for summary in 0..=MAX_COUNTED[1] {
            for body in 0..=MAX_COUNTED[2] {
                // The more occurrences and the better the section, the rarer the combination.
                let rarity = 3 * u32::from(name) + 2 * u32::from(summary) + u32::from(body);
                if rarity > 0 {
                    all.push((rarity, Occurrences { sections: [name, summary, body], context: false }));
                }
            }
        }
    }
    all.sort_by_key(|(rarity, _)| *rarity);
    let mut table = PackedFrequencies { by_index: vec![1; all.len()], counts: vec![[0.0; 4]] };
    for (packed, (_, occurrences)) in (1..).zip(all) {
        table.by_index[occurrences.index()] = packed;
        let [name, summary, body] = occurrences.sections.map(f32::from);
        table.counts.push([name, summary, body, if occurrences.context { 1.0 } else { 0.0 }]);
    }
    table
});

#[cfg(test)]
mod tests {
    use super::*;

    fn occurrences(fields: &[Field]) -> Occurrences {
        let mut all = Occurrences::default();
        for field in fields {
            all.add(Occurrences::one(*field));
        }
        all
    }

    #[test]
    fn packed_frequencies_are_distinct() {
        let mut seen = std::collections::HashSet::new();
        for name in 0..=MAX_COUNTED[0] {
            for summary in 0..=MAX_COUNTED[1] {
                for body in 0..=MAX_COUNTED[2] {
                    let packed = Occurrences { sections: [name, summary, body], context: true }.packed();
                    assert!(packed >= 1 && seen.insert(packed), "{name} {summary} {body}");
                    let counts = PACKED.counts[packed as usize].map(f32::to_bits);
                    assert_eq!(counts[..3], [name, summary, body].map(|count| f32::from(count).to_bits()));
                }
            }
        }
        assert_eq!(seen.len() + 1, PACKED.counts.len());
        assert!(occurrences(&[Field::Description]).packed() < occurrences(&[Field::Name, Field::Tagline]).packed());
    }

    #[test]
    fn occurrences_beyond_the_maximum_add_nothing() {
        let many = occurrences(&[Field::Name; 300]);
        assert_eq!(many.packed(), occurrences(&[Field::Name; 3]).packed());
    }

    #[test]
    fn an_occurrence_counts_in_its_best_section() {
        let mut once = Occurrences::default();
        for field in [Field::Description, Field::Name, Field::Name, Field::Tagline] {
            once.best(Occurrences::one(field));
        }
        assert_eq!(once, Occurrences::one(Field::Name));
    }
}
