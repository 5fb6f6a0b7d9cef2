//! A term's score in a document, according to BM25F.
//!
//! BM25F sums a term's occurrences over a document's sections, each weighted and normalised by
//! length, and saturates the sum once (Robertson, Zaragoza, Taylor: "Simple BM25 extension to
//! multiple weighted fields", CIKM 2004; the norm per field is from Zaragoza et al., TREC 13):
//!
//! ```text
//! tf   = Σ sections  weight × occurrences / (1 − b + b × length / mean length)
//! score = tf / (k1 + tf)
//! ```
//!
//! The index packs a term's occurrences in each section into one small number, its frequency. So a
//! posting list contains everything the formula needs, and weights can change without reindexing.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::ranking::Ranking;
use crate::catalogue::Ordinal;
use crate::record::Field;
use crate::record::Section;

/// The number of words in each section of a document.
pub type Lengths = [u32; 3];

/// A document's saturated section lengths, packed into four bytes because scoring reads the lengths
/// of many documents and spends most of its time on cache misses.
#[derive(Debug, Clone, Copy)]
struct Counted {
    name: u8,
    summary: u8,
    body: u16,
}

impl From<&Lengths> for Counted {
    fn from([name, summary, body]: &Lengths) -> Self {
        Self {
            name: u8::try_from(*name).unwrap_or(u8::MAX),
            summary: u8::try_from(*summary).unwrap_or(u8::MAX),
            body: u16::try_from(*body).unwrap_or(u16::MAX),
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct LengthStatistics {
    documents: u64,
    /// Total words per section.
    totals: [u64; 3],
    /// The longest body, saturated.
    longest_body: u16,
}

impl LengthStatistics {
    pub fn push(&mut self, lengths: &Lengths) {
        self.documents += 1;
        for (total, length) in self.totals.iter_mut().zip(lengths) {
            *total += u64::from(*length);
        }
        self.longest_body = self.longest_body.max(Counted::from(lengths).body);
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "an estimate")]
    fn means(&self) -> [f32; 3] {
        self.totals.map(|total| ((total as f64 / self.documents.max(1) as f64) as f32).max(1.0))
    }
}

/// Scores terms by their document's section lengths. Lengths saturate at 255 words for a name or
/// summary and at 65,535 for a description.
#[derive(Debug)]
pub struct TermScores {
    /// For each length, the weight of one occurrence in a name and in a summary.
    short: [[f32; 256]; 2],
    /// For each length, the weight of one occurrence in a description.
    body: Vec<f32>,
    /// The weight of an occurrence in a category's description.
    context: f32,
    /// For each packed frequency, the occurrences in each section.
    counts: &'static [[f32; 4]],
    k1: f32,
}

impl TermScores {
    pub fn new(lengths: &LengthStatistics, ranking: &Ranking) -> Self {
        let fields = [
            (ranking.name, ranking.name_b),
            (ranking.summary, ranking.summary_b),
            (ranking.description, ranking.description_b),
        ];
        let means = lengths.means();
        let weight = |section: Section, length: u16| {
            let ((weight, b), mean) = (fields[section as usize], means[section as usize]);
            weight / (1.0 - b + b * f32::from(length) / mean)
        };
        let short = |section| std::array::from_fn(|length| weight(section, u16::try_from(length).unwrap_or(u16::MAX)));
        Self {
            short: [short(Section::Name), short(Section::Summary)],
            body: (0..=lengths.longest_body).map(|length| weight(Section::Body, length)).collect(),
            context: ranking.category_description,
            counts: &PACKED.counts,
            k1: ranking.k1,
        }
    }

    /// A term's score in a document, given its packed frequency there. Between 0 and 1, exclusive.
    pub fn score(&self, packed: u32, lengths: &Lengths) -> f32 {
        self.counted_score(packed, Counted::from(lengths))
    }

    #[inline]
    fn counted_score(&self, packed: u32, counted: Counted) -> f32 {
        let counts = self.counts.get(packed as usize).unwrap_or(&[0.0; 4]);
        saturated(counts, &self.weights_of(counted), self.k1)
    }

    /// The weight of one occurrence in each section, and in a category's description.
    #[inline]
    fn weights_of(&self, counted: Counted) -> [f32; 4] {
        let [name, summary] = &self.short;
        let body = self.body.get(usize::from(counted.body)).copied().unwrap_or_default();
        [name[usize::from(counted.name)], summary[usize::from(counted.summary)], body, self.context]
    }
}

#[derive(Debug)]
pub struct Scorer {
    /// By ordinal.
    documents: Vec<Counted>,
    scores: TermScores,
}

impl Scorer {
    pub fn new(lengths: &[Lengths], ranking: &Ranking) -> Self {
        let mut statistics = LengthStatistics::default();
        for lengths in lengths {
            statistics.push(lengths);
        }
        let scores = TermScores::new(&statistics, ranking);
        Self { documents: lengths.iter().map(Counted::from).collect(), scores }
    }

    pub fn documents(&self) -> usize {
        self.documents.len()
    }

    #[inline]
    pub fn score(&self, packed: u32, document: Ordinal) -> f32 {
        self.scores.counted_score(packed, self.documents[document as usize])
    }

    /// How much each section contributes to a term's score: names, short fields, long fields and
    /// category descriptions. The shares add up to 1.
    pub fn shares(&self, packed: u32, document: Ordinal) -> [f32; 4] {
        let counts = self.scores.counts.get(packed as usize).unwrap_or(&[0.0; 4]);
        let weights = self.scores.weights_of(self.documents[document as usize]);
        let parts: [f32; 4] = std::array::from_fn(|at| counts[at] * weights[at]);
        let sum: f32 = parts.iter().sum();
        parts.map(|part| if sum > 0.0 { part / sum } else { 0.0 })
    }
}

/// The saturated sum of weighted occurrences. It increases with each weight, even after rounding.
#[inline]
fn saturated(counts: &[f32; 4], weights: &[f32; 4], k1: f32) -> f32 {
    let tf: f32 = counts.iter().zip(weights).map(|(count, weight)| count * weight).sum();
    tf / (k1 + tf)
}

/// BM25's `k1 + 1`, by which inverse document frequencies are multiplied. It's the same for all
/// groups.
const SCALE: f32 = 2.2;

/// The factor by which all of a group's scores are multiplied, given the frequency of its most
/// frequent term: BM25's probabilistic inverse document frequency,
/// `ln(1 + (N - n + 0.5) / (n + 0.5))`, scaled.
pub fn group_weight(frequency: u32, documents: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (n, all) = (frequency as f32, documents as f32);
    (1.0 + (all - n + 0.5).max(0.5) / (n + 0.5)).ln() * SCALE
}

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

struct PackedFrequencies {
    /// Indexed by [`Occurrences::index`].
    by_index: Vec<u32>,
    /// For each packed frequency, starting from 1, the occurrences in each section and in a
    /// category's description.
    counts: Vec<[f32; 4]>,
}

static PACKED: LazyLock<PackedFrequencies> = LazyLock::new(|| {
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
    use crate::record::Field;

    #[test]
    fn occurrences_are_worth_more_in_better_sections_and_less_in_longer_ones() {
        let scorer = Scorer::new(&[[2, 10, 50], [2, 10, 50], [6, 30, 150]], &Ranking::default());
        let worth = |field, document| scorer.score(Occurrences::one(field).packed(), document);
        let order = [Field::Name, Field::Tagline, Field::Description, Field::CategoryDescription];
        for pair in order.windows(2) {
            assert!(worth(pair[0], 0) > worth(pair[1], 0), "{pair:?}");
        }
        for field in [Field::Name, Field::Tagline, Field::Description] {
            assert!(worth(field, 0) > worth(field, 2), "{field:?}");
        }
        // If a word occurs elsewhere, the category's description doesn't count.
        let mut both = Occurrences::one(Field::Description);
        both.add(Occurrences::one(Field::CategoryDescription));
        assert_eq!(both.packed(), Occurrences::one(Field::Description).packed());
    }

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
