//! The weights of the ranking, all in one place. RANKING.md tells how they were found and what each is worth.

use super::field::Field;

/// What a match counts for. The default is what the service uses; another one measures what a weight is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// How many times a word of the name or an alias counts.
    pub name: u8,
    /// A word of the tagline, a category, a tag, the vendor or a standard.
    pub summary: u8,
    /// A word of the description, a feature or a setting.
    pub description: u8,
    /// A word of the description of a category it is in.
    pub category_description: u8,
    /// BM25's `k1`, in words of the description: how soon more of the same word stops counting.
    pub k1: f32,
    /// BM25's `b`, 0 to 1: how much a long record is held against it.
    pub b: f32,
    /// Written as one word or apart, beside the word as asked (1).
    pub compound: f32,
    /// A part of an odd name: `c` for `c++`.
    pub part: f32,
    /// A term that means the same.
    pub synonym: f32,
    /// A wider term, that a synonym leads to one way.
    pub wider: f32,
    /// A longer word that begins with what is typed.
    pub prefix: f32,
    /// The likeliest word for one that no product has.
    pub correction: f32,
    /// A less likely one, or one that may be meant in place of a very rare word.
    pub typo: f32,
    /// What a score gains where every word is spelled exactly as asked, as a share of it.
    pub spelling: f32,
    /// What it gains where every two neighbours of the query are neighbours in the record, as a share of it.
    pub proximity: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            name: 16,
            summary: 4,
            description: 3,
            category_description: 1,
            k1: 0.6,
            b: 0.6,
            compound: 0.8,
            part: 0.8,
            synonym: 0.8,
            wider: 0.4,
            prefix: 0.7,
            correction: 1.0,
            typo: 0.4,
            spelling: 0.15,
            proximity: 0.02,
        }
    }
}

impl Ranking {
    /// How many times a word in a field counts.
    #[must_use]
    pub const fn weight(&self, field: Field) -> u8 {
        match field {
            Field::Name | Field::Alias => self.name,
            Field::Tagline | Field::Category | Field::Tag | Field::Vendor | Field::Standard => self.summary,
            Field::Feature | Field::Setting | Field::Description => self.description,
            Field::CategoryDescription => self.category_description,
        }
    }
}
