//! The ranking's weights. RANKING.md documents how they were found and the effect of each.

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
    /// Lower bound on the length norm, so that words in very short fields don't count excessively.
    pub norm_floor: f32,
    /// BM25F's `k1`, in words, for a description of average length: how soon repetitions of a word
    /// stop counting.
    pub k1: f32,
    /// Two words written as one, or one word written as two. The word as typed has weight 1.
    pub compound: f32,
    /// Part of an unusual name: `c` for `c++`.
    pub part: f32,
    /// Part of a longer word in a name: `gis` in `ArcGIS`. This is lower than any whole word's
    /// weight, since the part may mean something else.
    pub inner: f32,
    /// Another form of a word in a language other than English: `Tabellen` for `Tabelle`.
    pub inflection: f32,
    /// A German compound that contains the word: `Farbwähler` for `Farbe`.
    pub in_compound: f32,
    pub synonym: f32,
    /// A category of the product that the query asks for alternatives to, or of the alternatives.
    pub subject_category: f32,
    /// A word from the name of the product to replace, in a record that merely mentions it.
    pub mention: f32,
    /// A wider term that a one-way synonym leads to.
    pub wider: f32,
    /// A longer word that starts with the typed prefix.
    pub prefix: f32,
    /// The likeliest correction for a word that no product contains.
    pub correction: f32,
    /// A less likely correction, or a correction for a very rare word.
    pub typo: f32,
    /// The relative gain in score if every word is spelled as in the query.
    pub spelling: f32,
    /// The relative gain in score if all neighbours in the query are neighbours in the record.
    pub proximity: f32,
    /// How much a record with the query's meaning gains, as a share of the gap between its score
    /// and the highest possible score, if the words contribute nothing to its
    /// score.
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
            norm_floor: 0.3,
            k1: 1.0,
            compound: 0.8,
            part: 0.8,
            inner: 0.3,
            inflection: 0.9,
            in_compound: 0.5,
            synonym: 0.8,
            subject_category: 0.15,
            mention: 0.3,
            wider: 0.4,
            prefix: 0.7,
            correction: 1.0,
            typo: 0.4,
            spelling: 0.05,
            proximity: 0.02,
            meaning: 0.5,
            related: 0.4,
            related_alone: 0.3,
        }
    }
}
