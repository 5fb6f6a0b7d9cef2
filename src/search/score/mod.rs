//! A term's score in a document, according to BM25F.
//!
//! BM25F sums a term's occurrences over a document's sections, each weighted and normalised by
//! length, and saturates the sum once (Robertson, Zaragoza, Taylor: "Simple BM25 extension to
//! multiple weighted fields", CIKM 2004; the norm per field is from Zaragoza et al., TREC 13):
//!
//! ```text
//! tf   = Σ sections  weight × occurrences / max(1 − b + b × length / mean length, floor)
//! score = tf / (k1 + tf)
//! ```
//!
//! The index packs a term's occurrences in each section into one small number, its frequency. So a
//! posting list contains everything the formula needs, and weights can change without reindexing.

mod occurrences;

pub use self::occurrences::Occurrences;
use self::occurrences::PACKED;
use super::field::Section;
use super::ranking::Ranking;
use crate::catalogue::Ordinal;

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
            weight / (1.0 - b + b * f32::from(length) / mean).max(ranking.norm_floor)
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

    /// A term's score in a document, given its packed frequency there. Between 0 and 1, exclusive.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::field::Field;

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
}
