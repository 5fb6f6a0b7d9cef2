//! The weights of the ranking. RANKING.md documents how they were found and the effect of each.

/// The weights of matches. The service uses the default; other values serve to measure the effect of a weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// The weight of a word of the name or an alias.
    pub name: f32,
    /// A word of the tagline, a category, a tag, the vendor or a standard.
    pub summary: f32,
    /// A word of the description, a feature or a setting.
    pub description: f32,
    /// A word that is only in the description of a category it is in.
    pub category_description: f32,
    /// BM25F's `b` of the name, 0 to 1: how much it is held against a word that the name is long.
    pub name_b: f32,
    /// The same for the short fields.
    pub summary_b: f32,
    /// The same for the long ones.
    pub description_b: f32,
    /// The least that a length norm can be: a word in a very short text counts at most this many times less than 1.
    pub norm_floor: f32,
    /// BM25F's `k1`, in words of a description of mean length: how soon more of the same word stops counting.
    pub k1: f32,
    /// A compound in place of two words, or the reverse; the word as typed has 1.
    pub compound: f32,
    /// A part of an odd name: `c` for `c++`.
    pub part: f32,
    /// A term that means the same.
    pub synonym: f32,
    /// A category of a product, or of alternatives to it, where these are looked for.
    pub subject_category: f32,
    /// A word of that product's name, where a record only mentions it.
    pub mention: f32,
    /// A wider term, that a synonym leads to one way.
    pub wider: f32,
    /// A longer word with the typed prefix.
    pub prefix: f32,
    /// The likeliest word for one that no product has.
    pub correction: f32,
    /// A less likely one, or one that may be meant in place of a very rare word.
    pub typo: f32,
    /// The gain in score where every word has the spelling of the query, as a share of it.
    pub spelling: f32,
    /// The gain where all neighbours of the query are neighbours in the record, as a share of it.
    pub proximity: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            name: 5.0,
            summary: 1.15,
            description: 1.0,
            category_description: 0.2,
            name_b: 0.45,
            summary_b: 0.75,
            description_b: 0.9,
            norm_floor: 0.3,
            k1: 1.0,
            compound: 0.8,
            part: 0.8,
            synonym: 0.8,
            subject_category: 0.15,
            mention: 0.3,
            wider: 0.4,
            prefix: 0.7,
            correction: 1.0,
            typo: 0.4,
            spelling: 0.05,
            proximity: 0.02,
        }
    }
}
