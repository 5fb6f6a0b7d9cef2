//! The ranking's weights. docs/ranking-experiments.md says how they were found and what each contributes.

/// How much each kind of match counts. The service uses the defaults; other values are for
/// measuring a weight's effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// A word in the name or an alias.
    pub name: f32,
    /// A word in the tagline, a category, a tag, the vendor or a standard.
    pub summary: f32,
    /// A word in the description, a feature or a setting.
    pub description: f32,
    /// A word that occurs only in the description of the product's category.
    pub category_description: f32,
    /// BM25F's `b` for the name, from 0 to 1: how much a long name lowers the weight of its words.
    pub name_b: f32,
    /// BM25F's `b` for the short fields.
    pub summary_b: f32,
    /// BM25F's `b` for the long fields.
    pub description_b: f32,
    /// BM25F's `k1`, in words, for a description of average length: how soon repetitions of a word
    /// stop counting.
    pub k1: f32,
    /// Something that usually means the same as the word: a synonym, another form in a language
    /// other than English, a longer word that starts with it, or two words written as one or vice
    /// versa. The word as typed and its likeliest correction have weight 1.
    pub near: f32,
    /// Something that may mean the same: a wider term, a part of a longer word, a less likely
    /// correction, or a mention of the product to replace.
    pub loose: f32,
    /// A category of the product that the query asks for alternatives to, or of the alternatives.
    pub subject_category: f32,
    /// How much an attribute's value counts, as a share of the query's other words.
    pub attribute: f32,
    /// How much the words beside the name of a product to replace count at most, as a share of that
    /// name.
    pub beside_subject: f32,
    /// The relative gain in score if every word is spelled as in the query.
    pub spelling: f32,
    /// How much a record with the query's meaning gains, as a share of the distance between its score
    /// and the highest possible score.
    pub meaning: f32,
    /// How similar to the query, from 0 to 1, a record must be to count as related if it doesn't
    /// contain the query's words.
    pub related: f32,
    /// How similar a record must be to count as related if no record has any of the query's words.
    pub related_alone: f32,
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
            k1: 1.0,
            near: 0.85,
            loose: 0.3,
            subject_category: 0.15,
            attribute: 0.5,
            beside_subject: 0.5,
            spelling: 0.1,
            meaning: 0.5,
            related: 0.4,
            related_alone: 0.3,
        }
    }
}
