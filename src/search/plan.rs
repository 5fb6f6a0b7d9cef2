//! Search plans: what an engine has to find and in which order, with words as numbers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::lexicon::{StemId, WordId};
use super::stem_slots::StemSlots;

/// A term of the index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Term {
    /// A word with this stem, in any field.
    Word(StemId),
    /// The stem of two neighbouring words written as one: that of `lockout` for `lock out`.
    Compound(Box<str>),
    /// A word that begins with these one to three letters, folded.
    Prefix(Box<str>),
    /// A term of this synonym group.
    Concept(u32),
    /// The whole name or alias, its folded words written as one.
    Name(Box<str>),
    /// A name like that of a product which it can replace.
    AlternativeTo(Box<str>),
    /// The category with this id.
    Category(Box<str>),
    /// A word of the name or an alias that begins with these letters, folded; also two neighbouring words as one.
    NamePrefix(Box<str>),
    /// A word of the name or an alias, folded; also two neighbouring words as one.
    NameWord(Box<str>),
}

impl Term {
    /// The first letter of words in an engine's dictionary; the number of the stem follows, in hexadecimal digits.
    pub const WORD: u8 = b'w';

    /// The first letter of prefixes.
    pub const PREFIX: u8 = b'p';

    /// The first letter of synonym groups.
    pub const CONCEPT: u8 = b's';

    /// The term as an engine's dictionary holds it: a letter for its kind, then the rest.
    pub fn write(&self, out: &mut String) {
        use std::fmt::Write as _;
        let (kind, text) = match self {
            // A string can't refuse a write.
            Self::Word(stem) => return write!(out, "{}{stem:x}", char::from(Self::WORD)).unwrap_or(()),
            Self::Concept(concept) => return write!(out, "{}{concept:x}", char::from(Self::CONCEPT)).unwrap_or(()),
            Self::Compound(text) => ('c', text),
            Self::Prefix(text) => (char::from(Self::PREFIX), text),
            Self::Name(text) => ('t', text),
            Self::AlternativeTo(text) => ('a', text),
            Self::Category(id) => ('k', id),
            Self::NamePrefix(text) => ('n', text),
            Self::NameWord(text) => ('m', text),
        };
        out.push(kind);
        out.push_str(text);
    }
}

/// The longest prefix that is indexed, in letters; longer ones are expanded from the lexicon.
pub const INDEXED_PREFIX: usize = 3;

/// Why a term may stand for a word of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is the word.
    Exact,
    /// It has the stem of the word, which no record has as it is typed.
    Stem,
    /// The word and a neighbour as one, or the reverse.
    Compound,
    /// A part of an odd name: `c` for `c++`.
    Part,
    /// It means the same.
    Synonym,
    /// It means more: a synonym leads to it one way.
    Wider,
    /// The word is its beginning.
    Prefix,
    /// The word may be a misspelling of it.
    Correction,
    /// An alternative to the product of that name.
    AlternativeTo,
    /// A category of the products that are searched.
    Category,
    /// A mention of the product of that name.
    Mention,
    /// A word of a name.
    Name,
}

impl Kind {
    /// Its name, as explanations show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Stem => "stem",
            Self::Compound => "compound",
            Self::Part => "part",
            Self::Synonym => "synonym",
            Self::Wider => "wider",
            Self::Prefix => "prefix",
            Self::Correction => "correction",
            Self::AlternativeTo => "alternative to",
            Self::Category => "category",
            Self::Mention => "mention",
            Self::Name => "name",
        }
    }
}

/// A way to satisfy a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// Why it is one.
    pub kind: Kind,
    pub term: Term,
    /// Its weight, 0 to 1; 1 is that of the exact word.
    pub weight: f32,
}

/// A word of the query with its alternatives. A document's score for it is
/// `idf × max(weight × score)` ([`Scorer`](super::score::Scorer)), with one document frequency for the group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// The alternatives; empty where the generation has none.
    pub alternatives: Vec<Alternative>,
    /// Whether a document has to satisfy it to have "all words".
    pub required: bool,
    /// Whether a document has to satisfy it to be found at all: a word of a phrase.
    pub indispensable: bool,
}

/// A phrase: for each position the spellings that match there.
pub type Phrase = Vec<Vec<WordId>>;

/// How the order of the best candidates is refined, where it is that of relevance.
#[derive(Debug, Clone, Default)]
pub enum Rerank {
    /// Not at all.
    #[default]
    None,
    /// A score is multiplied by `1 + spelling × share + proximity × share`: the share of the query's words which names and
    /// short fields have in the same spelling, and the share of its neighbours which are neighbours there.
    Signals(Signals),
    /// A score is divided by the number of words of the product's shortest name: of names that match alike, the shorter is
    /// the likelier.
    ShortestName,
}

/// A query's words, to find their spellings and neighbours in documents.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    /// Which stems stand for which groups of the plan.
    pub stems: Arc<StemSlots>,
    /// The spelling of each group's word, where the lexicon has it.
    pub spellings: Vec<Option<WordId>>,
    /// The weight of the spelling.
    pub spelling: f32,
    /// The weight of the proximity.
    pub proximity: f32,
}

/// A search plan.
///
/// Documents which satisfy every required group come first ([`Tier::All`](super::collect::Tier)), demo records behind real ones.
/// Where fewer than [`enough`](Self::enough) do, those which satisfy any follow ([`Tier::Some`](super::collect::Tier)). A document with a
/// whole name that is the query comes before both ([`Tier::ExactName`](super::collect::Tier)). Without a required group each group is
/// one that any document may satisfy; without any group all documents are found.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The words.
    pub groups: Vec<Group>,
    /// The terms which no document found has.
    pub excluded: Vec<Term>,
    /// The phrases which every document found has within one value, the rarest first.
    pub phrases: Vec<Phrase>,
    /// Whole names that the query may be.
    pub names: Vec<Term>,
    /// How many documents with all words are enough, filtered or not; 0: those with some words never follow.
    pub enough: usize,
    /// The refinement of the order.
    pub rerank: Rerank,
}

impl Plan {
    /// Whether it demands nothing, so that it finds every document.
    pub fn finds_all(&self) -> bool {
        self.groups.is_empty() && self.names.is_empty() && self.excluded.is_empty() && self.phrases.is_empty()
    }
}
