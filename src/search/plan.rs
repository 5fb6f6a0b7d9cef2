//! Search plans: what the index has to find and how to order it. Words are represented by numbers.

use std::sync::Arc;

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::lexicon::{StemId, WordId};
use super::ranking::Ranking;
use crate::record::AttributeNumber;
use crate::text::meaning::{DIMENSIONS, NearTopic, Reference, nearest_topics};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Term {
    /// A word with this stem, in any field.
    Word(StemId),
    /// The stem of two neighbouring words written as one: `lockout` for `lock out`.
    Compound(Box<str>),
    /// A word that begins with these one to three letters, folded.
    Prefix(Box<str>),
    /// A term in this synonym group.
    Concept(u32),
    /// The full name or an alias, its folded words written as one.
    Name(Box<str>),
    /// The name key of a product that the document's product can replace.
    AlternativeTo(Box<str>),
    Category(Box<str>),
    /// An attribute's number in hexadecimal, a space, and the key of one of its values.
    Value(Box<str>),
    /// A word in the name or an alias that begins with these letters, folded. Two neighbouring
    /// words also count as one word.
    NamePrefix(Box<str>),
    /// A word in the name or an alias, folded. Two neighbouring words also count as one word.
    NameWord(Box<str>),
    /// Another whole query that refers to the product: another spelling of its name, its id, or its
    /// website ([`identity`](super::identity)).
    Identity(Box<str>),
    /// Part of a word in the name or an alias that isn't a word itself: `gis` in `ArcGIS`.
    Inner(Box<str>),
    /// A [topic](crate::text::meaning) close to the product's meaning.
    Topic(u16),
    /// A query that the product is pinned to ([`pins`](super::pins)), and the product's position
    /// among those pinned to it, from 0.
    Pinned {
        place: u8,
        query: Box<str>,
    },
}

impl Term {
    /// The first letter of a word's entry in the index's dictionary. The stem's number follows, in
    /// hexadecimal.
    pub const WORD: u8 = b'w';

    /// The first letter of a prefix's entry.
    pub const PREFIX: u8 = b'p';

    /// The first letter of a synonym group's entry.
    pub const CONCEPT: u8 = b's';

    pub(crate) fn attribute_value(attribute: AttributeNumber, key: &str) -> Self {
        Self::Value(format!("{attribute:x} {key}").into())
    }

    /// Writes the term as it appears in the index's dictionary: a letter for its kind, then the
    /// rest.
    pub fn write(&self, out: &mut String) {
        let (kind, text) = match self {
            Self::Word(stem) => return push_number(Self::WORD, *stem, out),
            Self::Concept(concept) => return push_number(Self::CONCEPT, *concept, out),
            Self::Topic(topic) => return push_number(b'o', (*topic).into(), out),
            Self::Compound(text) => (b'c', text),
            Self::Prefix(text) => (Self::PREFIX, text),
            Self::Pinned { place, query } => {
                out.extend([b'q', b'0' + place / 10, b'0' + place % 10].map(char::from));
                return out.push_str(query);
            }
            Self::Name(text) => (b't', text),
            Self::AlternativeTo(text) => (b'a', text),
            Self::Category(id) => (b'k', id),
            Self::Value(text) => (b'v', text),
            Self::NamePrefix(text) => (b'n', text),
            Self::NameWord(text) => (b'm', text),
            Self::Identity(text) => (b'i', text),
            Self::Inner(text) => (b'e', text),
        };
        out.push(char::from(kind));
        out.push_str(text);
    }
}

/// Writes a term's kind and number, in hexadecimal.
fn push_number(kind: u8, number: u32, out: &mut String) {
    out.push(char::from(kind));
    let digits = (u32::BITS - number.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..digits).rev().map(|digit| char::from(b"0123456789abcdef"[(number >> (4 * digit)) as usize & 0xf])));
}

/// The length in letters of the longest prefix in the index. Longer prefixes are expanded from the
/// lexicon.
pub const INDEXED_PREFIX: usize = 3;

/// Why a term can stand for a query word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    Exact,
    /// The term has the same stem, but no record contains the word as typed.
    Stem,
    /// The word and a neighbour written as one word, or vice versa.
    Compound,
    /// Part of an unusual name: `c` for `c++`.
    Part,
    /// Part of a longer word in a name: `gis` in `ArcGIS`.
    Inner,
    Synonym,
    /// A one-way synonym leads to the term.
    Wider,
    /// The word is a prefix of the term.
    Prefix,
    /// The word may be a misspelling of the term.
    Correction,
    /// An alternative to the named product.
    AlternativeTo,
    /// A category of the products that the query is looking for.
    Category,
    /// The value of an attribute.
    Attribute,
    /// A topic close to the product's meaning.
    Topic,
    /// A mention of the named product.
    Mention,
    Name,
    /// The product is pinned to the query.
    Pinned,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    pub kind: MatchKind,
    pub term: Term,
    /// From 0 to 1; the exact word has weight 1.
    pub weight: f32,
}

impl Alternative {
    pub const fn new(kind: MatchKind, term: Term, weight: f32) -> Self {
        Self { kind, term, weight }
    }
}

/// A query word with its alternatives. A document's score for the group is
/// `idf × max(weight × score)` ([`Scorer`](super::score::Scorer)), with a single document frequency
/// for the whole group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordGroup {
    /// Empty if the generation has no matching terms.
    pub alternatives: Vec<Alternative>,
    /// Whether a document has to satisfy the group to count as having all the words.
    pub required: bool,
    /// Whether a document has to satisfy the group to be found at all, because its word is part of
    /// a phrase.
    pub indispensable: bool,
}

impl WordGroup {
    /// A group that no document can satisfy, and that a document must satisfy to be found.
    pub(super) const IMPOSSIBLE: Self = Self { alternatives: Vec::new(), required: true, indispensable: true };
}

/// A phrase's forms, any of which matches the phrase.
pub type Phrase = Vec<PhraseForm>;

/// The spellings that match at each position.
pub type PhraseForm = Vec<Vec<WordId>>;

/// What the best candidates are reranked by when sorting by relevance. Adds what a document's
/// [`Meaning`] is worth to its score. Then multiplies the score by `1 + spelling × share`, where the
/// share is how many of the query's words are spelled the same way in names and short fields. By
/// default, nothing changes.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    pub stems: Arc<StemSlots>,
    /// Each group's spelling of its word, if the lexicon has it.
    pub spellings: Vec<Option<WordId>>,
    pub spelling: f32,
    /// The query's meaning; `None` if only words count.
    pub meaning: Option<Meaning>,
}

/// A query's meaning, for comparison with documents' meanings.
#[derive(Debug, Clone)]
pub struct Meaning {
    pub reference: Reference,
    /// See [`Ranking::meaning`].
    pub weight: f32,
    /// Upper bound on all documents' scores: the score of a document that has every word in the
    /// best field.
    pub bound: f32,
}

/// What related documents must be close to.
#[derive(Debug, Clone)]
pub struct Related {
    pub(super) reference: Reference,
    /// The minimum similarity, from 0 to 1.
    pub(super) least: f32,
    /// The minimum similarity if the words match nothing.
    pub(super) least_alone: f32,
    /// Related documents are added only if fewer documents than this have all the words.
    pub enough: usize,
}

/// A search plan.
///
/// Finds the documents that satisfy every required group ([`Tier::Words`](super::collect::Tier)). If
/// there are fewer than [`enough`](Self::enough), it also finds those that satisfy any group.
/// Documents whose full name is the query come before these
/// ([`Tier::ExactName`](super::collect::Tier)), followed by documents pinned to the query
/// ([`Tier::Pinned`](super::collect::Tier)). If no group is required, any group suffices. Without
/// groups, all documents are found.
///
/// If few documents are found, related ones come last ([`Tier::Related`](super::collect::Tier)).
/// The candidates are the documents that weren't found and have no excluded term or phrase. Of
/// these, the [`MOST_COMPARED`](super::plan::MOST_COMPARED) with the highest sum of topic
/// weights are compared with the query (on a tie, the lower ordinals), and the ones close enough in
/// meaning are added. Filters don't affect which documents these are.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub groups: Vec<WordGroup>,
    /// No hit may contain any of these.
    pub excluded: Vec<Term>,
    /// No hit may contain any of these within one value.
    pub excluded_phrases: Vec<Phrase>,
    /// Every hit must contain each of these within one value; rarest first.
    pub phrases: Vec<Phrase>,
    /// Full names that the query may stand for.
    pub names: Vec<Term>,
    /// The terms of the products pinned to the query, best first. They're also alternatives in each
    /// group.
    pub pinned: Vec<Term>,
    /// Documents with any of these terms score 0, which puts them last in their tier.
    pub last: Vec<Term>,
    /// How many documents with all the words are enough, before filtering. If 0, documents with
    /// only some of the words are never added.
    pub enough: usize,
    pub signals: Signals,
    /// What related documents must be close to, if any may be added.
    pub related: Option<Related>,
}

impl Plan {
    /// Whether the plan requires nothing and therefore finds every document.
    pub fn finds_all(&self) -> bool {
        self.groups.is_empty()
            && self.names.is_empty()
            && self.excluded.is_empty()
            && self.excluded_phrases.is_empty()
            && self.phrases.is_empty()
    }
}

/// The index lookups needed to understand a query.
pub trait TermLookup {
    type Error;

    fn document_frequency(&self, term: &Term) -> Result<u32, Self::Error>;

    /// The category ids of the first few documents that contain a term.
    fn categories(&self, term: &Term) -> Result<Vec<String>, Self::Error>;

    /// The attributes with a value that has this key, or that begins with it and a version.
    fn attribute_values(&self, key: &str) -> Vec<AttributeValues>;

    /// Whether any document contains all these terms.
    fn has_all(&self, terms: &[Term], budget: &Budget) -> Result<bool, Self::Error>;
}

/// Values of an attribute that a word in a query stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeValues {
    pub attribute: AttributeNumber,
    pub property: Box<str>,
    /// Each value's key and label.
    pub values: Vec<(Box<str>, Box<str>)>,
}

impl AttributeValues {
    pub(crate) fn terms(&self) -> impl Iterator<Item = Term> + '_ {
        self.values.iter().map(|(key, _)| Term::attribute_value(self.attribute, key))
    }
}

/// Which stems stand for which slots of a query.
#[derive(Debug, Clone, Default)]
pub struct StemSlots(HashMap<StemId, u32>);

impl StemSlots {
    pub fn new(slots: impl Iterator<Item: Iterator<Item = (StemId, f32)>>) -> Self {
        let mut best: HashMap<StemId, (f32, u32)> = HashMap::default();
        for (at, stems) in slots.enumerate() {
            for (stem, of_slot) in stems {
                let (weight, mask) = best.entry(stem).or_insert((0.0, 0));
                match of_slot.total_cmp(weight) {
                    std::cmp::Ordering::Greater => (*weight, *mask) = (of_slot, 1 << at),
                    std::cmp::Ordering::Equal => *mask |= 1 << at,
                    std::cmp::Ordering::Less => {}
                }
            }
        }
        Self(best.into_iter().map(|(stem, (_, mask))| (stem, mask)).collect())
    }

    /// The slots that a stem stands for, one bit each. A compound stands for two slots. A stem
    /// counts only for the slots where its weight is highest.
    #[inline]
    pub fn of(&self, stem: StemId) -> Option<u32> {
        self.0.get(&stem).copied()
    }

    /// The stems and their slots, in any order.
    pub fn iter(&self) -> impl Iterator<Item = (StemId, u32)> + '_ {
        self.0.iter().map(|(stem, slots)| (*stem, *slots))
    }
}

/// Related products are added only if the words match fewer products than this.
pub const FEW: usize = 100;

/// The maximum number of documents to compare with the query's meaning. They're the ones that share
/// the most topics with the query.
pub const MOST_COMPARED: usize = 256;

/// The number of topics per query, and the number of topic groups that are searched.
const TOPICS: usize = 32;
const GROUPS: usize = 16;

impl Related {
    pub fn new(reference: &Reference, ranking: &Ranking, enough: usize) -> Self {
        Self { reference: reference.clone(), least: ranking.related, least_alone: ranking.related_alone, enough }
    }

    /// The topics close to the query, with their weights. The higher the total weight of a
    /// document's topics, the closer the document is likely to be.
    pub fn topics(&self) -> impl Iterator<Item = (Term, u16)> + use<> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
        let weight = |likeness: f32| (likeness * 100.0).round() as u16;
        let topics = nearest_topics(&self.reference, GROUPS, TOPICS).into_iter();
        topics.map(move |NearTopic { topic, likeness }| (Term::Topic(topic), weight(likeness)))
    }

    /// Whether related products are added if the words match this many documents, `complete` of
    /// which have all the words.
    pub const fn follow(&self, complete: u64, found: u64) -> bool {
        complete < self.enough as u64 && found < FEW as u64
    }

    /// The similarity of a document with this vector; `None` if the document isn't related. This
    /// depends on how many documents the words found.
    pub fn likeness(&self, vector: &[u8; DIMENSIONS], found: u64) -> Option<f32> {
        let least = if found == 0 { self.least_alone } else { self.least };
        Some(self.reference.likeness(vector)).filter(|likeness| *likeness >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_the_dictionary_are_hexadecimal() {
        let written = |term: Term| {
            let mut out = String::new();
            term.write(&mut out);
            out
        };
        for number in [0, 1, 0xf, 0x10, 0xabc, u32::MAX] {
            assert_eq!(written(Term::Word(number)), format!("w{number:x}"));
        }
        assert_eq!(written(Term::Topic(0x123)), "o123");
        assert_eq!(written(Term::Pinned { place: 7, query: "ptw".into() }), "q07ptw");
    }
}
