//! Documents of a cluster's index.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::attributes::{indexed_key, key_field, label_field, labelled};
use super::mapping::rank_field;
use super::term::{self, TermField};
use crate::catalogue::{Attribute, Order, Ordinal, Records, ReviewEntry};
use crate::engine::EngineError;
use crate::resource::ReviewSummary;
use crate::search::Term;
use crate::search::field::{Field, Section};
use crate::search::forward::{Forward, SECTION_END, VALUE_END};
use crate::search::rerank::name_length;
use crate::search::score::{Occurrences, Scorer};

/// Stands between two values in a sequence of stems: neighbours don't reach over it.
const BOUNDARY: &str = "-";

/// Lucene keeps the first eight bits of a feature's fraction and drops the others: with half a step more it is rounded.
const HALF_STEP: f32 = 1.0 + 1.0 / 512.0;

/// A document with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub(super) id: String,
    /// A JSON object.
    pub(super) source: Vec<u8>,
    pub(super) checksum: Checksum,
}

/// Two numbers made of a document's content. Their sums over an index tell whether it has every document as it was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Checksum {
    pub(super) a: u64,
    pub(super) b: u64,
}

/// The bits of each number: the cluster adds up floating-point numbers, whose sums are exact up to 2^53.
const CHECKSUM_BITS: u32 = 26;

impl Checksum {
    fn of(source: &[u8]) -> Self {
        let hash = blake3::hash(source);
        let number = |at: usize| {
            let bytes = &hash.as_bytes()[at..at + 4];
            u64::from(bytes.iter().fold(0, |number: u32, byte| number << 8 | u32::from(*byte)) >> (32 - CHECKSUM_BITS))
        };
        Self { a: number(0), b: number(4) }
    }

    /// Adds that of another document.
    pub(super) fn add(&mut self, other: Self) {
        self.a += other.a;
        self.b += other.b;
    }
}

/// Writes the documents of a generation.
#[derive(Debug, Clone, Copy)]
pub struct DocumentWriter<'g> {
    /// The products.
    pub records: &'g Records,
    /// The scores of terms.
    pub scorer: &'g Scorer,
    /// The documents' words.
    pub forward: &'g Forward,
}

#[derive(Serialize)]
struct Product<'p> {
    ordinal: Ordinal,
    terms: BTreeMap<String, f32>,
    stems: Vec<String>,
    names: Vec<String>,
    short: Vec<String>,
    near: String,
    words: String,
    name_score: f32,
    name_words: f32,
    text_bytes: usize,
    demo: u8,
    categories: &'p [u32],
    offering_type: usize,
    evidence_status: usize,
    stars: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_on: Option<u32>,
    /// In hexadecimal digits.
    content_hash: String,
    item: &'p str,
    detail: &'p str,
    /// The summary as JSON.
    reviews: String,
    #[serde(flatten)]
    ranks: BTreeMap<&'static str, u32>,
    #[serde(flatten)]
    attributes: BTreeMap<&'static str, Vec<String>>,
}

#[derive(Serialize)]
struct Review<'r> {
    product: &'r str,
    place: usize,
    rating: u8,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
    object: &'r str,
}

impl DocumentWriter<'_> {
    /// The document of a product with these terms.
    ///
    /// # Errors
    /// Where its text is damaged.
    pub fn product<'t>(
        &self,
        ordinal: Ordinal,
        id: &str,
        terms: impl Iterator<Item = (&'t Term, Occurrences)>,
    ) -> Result<Document, EngineError> {
        let columns = &self.records.columns;
        let at = ordinal as usize;
        let (mut features, mut stems, mut names) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (term, occurrences) in terms {
            stems.extend(term::stem(term));
            match term::field(term) {
                TermField::Terms => {
                    features.insert(term::name(term), self.feature(occurrences, ordinal));
                }
                TermField::Names => names.push(term::name(term)),
            }
        }
        let detail = self.records.detail_fields(ordinal)?;
        let reviews: &ReviewSummary = &self.records.reviews.of(ordinal).summary;
        let ranks = Order::ALL.map(|order| (rank_field(order), columns.order(order).ranks[at]));
        let attributes = Attribute::ALL.into_iter().flat_map(|attribute| {
            let column = columns.attribute(attribute);
            let values = column.of(ordinal).iter().map(|value| (column.key(*value), column.label(*value)));
            let keys = values.clone().map(|(key, _)| indexed_key(key)).collect();
            let labels = values.filter_map(|(key, label)| labelled(key, label)).collect();
            [(key_field(attribute), keys), (label_field(attribute), labels)]
        });
        let (detail, words) = (text(&detail)?, words(self.forward.words(ordinal)));
        let product = Product {
            ordinal,
            terms: features,
            stems,
            names,
            short: self.short(ordinal),
            near: self.near(ordinal),
            text_bytes: text_bytes(detail, &words),
            words,
            name_score: self.scorer.score(Occurrences::one(Field::Name).packed(), ordinal),
            name_words: name_length(self.forward, ordinal),
            demo: u8::from(columns.is_demo(ordinal)),
            categories: columns.categories_of(ordinal),
            offering_type: columns.offering_type[at] as usize,
            evidence_status: columns.evidence_status[at] as usize,
            stars: columns.stars_of(ordinal),
            rating: columns.rating[at],
            checked_on: columns.checked_day(ordinal),
            content_hash: format!("{:016x}", self.records.content_hash(ordinal)),
            item: text(self.records.item(ordinal))?,
            detail,
            reviews: serde_json::to_string(reviews).map_err(EngineError::index("written"))?,
            ranks: ranks.into(),
            attributes: attributes.collect(),
        };
        document(term::document_id(id), &product)
    }

    /// The documents of a product's reviews.
    pub fn reviews<'d>(
        &'d self,
        ordinal: Ordinal,
        id: &str,
    ) -> impl Iterator<Item = Result<Document, EngineError>> + use<'d> {
        let product = term::document_id(id);
        let entries = self.records.reviews.of(ordinal).entries.iter().enumerate();
        entries.map(move |(place, entry)| self.review(&product, place, entry))
    }

    fn review(&self, product: &str, place: usize, entry: &ReviewEntry) -> Result<Document, EngineError> {
        let object = self.records.object(entry.object);
        let review = Review {
            product,
            place,
            rating: entry.rating,
            verified: entry.verified.unwrap_or(false),
            created_at: entry.created_at_seconds,
            object: text(&object)?,
        };
        document(format!("{product}-{place}"), &review)
    }

    /// The weighted frequency of a term in a document, held against BM25F's `k1`: `saturation` with the pivot 1 makes the score of it.
    fn feature(&self, occurrences: Occurrences, ordinal: Ordinal) -> f32 {
        let score = self.scorer.score(occurrences.packed(), ordinal);
        (score / (1.0 - score) * HALF_STEP).clamp(f32::MIN_POSITIVE, f32::MAX)
    }

    /// The spellings in the names and short fields.
    fn short(&self, ordinal: Ordinal) -> Vec<String> {
        let words = self.forward.words_until(ordinal, Section::Summary);
        let mut words: Vec<_> = words.filter(|word| *word > SECTION_END).collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter().map(|word| format!("{word:x}")).collect()
    }

    /// The stems in the names and short fields, in order.
    fn near(&self, ordinal: Ordinal) -> String {
        let mut text = String::new();
        for word in self.forward.words_until(ordinal, Section::Summary) {
            // A string can't refuse a write.
            let _ = match word {
                VALUE_END | SECTION_END => write!(text, "{BOUNDARY} "),
                word => write!(text, "{:x} ", self.forward.stem_of(word)),
            };
        }
        text
    }
}

/// A sequence of words with its boundaries, as numbers.
fn words(words: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for word in words {
        let _ = write!(text, "{word:x} ");
    }
    text
}

/// The bytes of a document's texts in a response, where a quote or a backslash takes two; at most those that a column takes.
fn text_bytes(detail: &str, words: &str) -> usize {
    let escaped = detail.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    (detail.len() + escaped + words.len()).min(i32::MAX as usize)
}

/// The words of such a sequence.
pub(super) fn parse_words(text: &str) -> Option<Vec<u32>> {
    text.split_ascii_whitespace().map(|word| u32::from_str_radix(word, 16).ok()).collect()
}

fn text(json: &[u8]) -> Result<&str, EngineError> {
    std::str::from_utf8(json).map_err(EngineError::index("written"))
}

fn document(id: String, content: &impl Serialize) -> Result<Document, EngineError> {
    let mut source = serde_json::to_vec(content).map_err(EngineError::index("written"))?;
    let checksum = Checksum::of(&source);
    source.pop();
    source.extend_from_slice(format!(r#","check_a":{},"check_b":{}}}"#, checksum.a, checksum.b).as_bytes());
    Ok(Document { id, source, checksum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_is_of_the_content_and_small_enough_to_be_added_up() {
        let of = |text: &str| document("a".to_owned(), &text.len().checked_add(0).map(|n| BTreeMap::from([("n", n)])));
        let (one, other) = (of("a").expect("written"), of("ab").expect("written"));
        assert_ne!(one.checksum, other.checksum);
        assert!([one.checksum.a, one.checksum.b].iter().all(|number| *number < 1 << CHECKSUM_BITS));
        let read: serde_json::Value = serde_json::from_slice(&one.source).expect("JSON");
        assert_eq!(read, serde_json::json!({"n": 1, "check_a": one.checksum.a, "check_b": one.checksum.b}));
    }

    #[test]
    fn size_of_texts_is_that_of_their_json() {
        let (detail, words) = (r#"{"name":"ü \"a\" \\"}"#, "2 1f ");
        let json = serde_json::to_string(&[detail, words]).expect("JSON");
        assert_eq!(text_bytes(detail, words), json.len() - r#"["",""]"#.len());
    }

    #[test]
    fn words_come_back_as_they_went_in() {
        let sequence = [2, 300, VALUE_END, 70_000, SECTION_END];
        assert_eq!(parse_words(&words(sequence.into_iter())).as_deref(), Some(&sequence[..]));
        assert_eq!(parse_words("2 x"), None);
    }
}
