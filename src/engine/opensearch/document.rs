//! Builds the documents in a cluster's index.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use super::attributes::{indexed_key, label_field, labelled};
use super::mapping::rank_field;
use super::term::{self, TermField};
use crate::catalogue::resource::ReviewSummary;
use crate::catalogue::{AttributeLabels, AttributeValue, Order, Ordinal, StoredReview, whole_stars};
use crate::engine::EngineError;
use crate::record::{CalendarDate, EvidenceStatus, OfferingType};
use crate::search::field::{Field, Section};
use crate::search::forward::{SECTION_END, VALUE_END, until};
use crate::search::rerank::name_length;
use crate::search::score::{Lengths, Occurrences, TermScores};
use crate::search::{Numbering, StemId, Term, WordId};

/// Separates values in a sequence of stems, so that words in different values never count as
/// neighbours.
const BOUNDARY: &str = "-";

/// Lucene truncates a feature's fraction to eight bits. Adding half a step makes it round
/// instead.
const HALF_STEP: f32 = 1.0 + 1.0 / 512.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub(super) id: String,
    /// A JSON object.
    pub(super) source: Vec<u8>,
    pub(super) checksum: Checksum,
}

/// Two numbers derived from a document's content. Their sums over an index show whether every
/// document arrived intact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checksum {
    pub(super) a: u64,
    pub(super) b: u64,
}

/// What an index should contain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) count: u64,
    /// The sum of all documents' checksums.
    pub(super) checksum: Checksum,
}

/// The number of bits in `a` and in `b`. The cluster adds these up as floating-point numbers, which
/// are exact up to 2^53.
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

    pub(super) fn add(&mut self, other: Self) {
        self.a += other.a;
        self.b += other.b;
    }
}

#[derive(Debug, Clone, Copy)]
pub struct DocumentWriter<'g> {
    pub scores: &'g TermScores,
    pub stems: &'g [StemId],
    /// The words' final numbers.
    pub numbering: &'g Numbering,
    pub labels: &'g AttributeLabels<'g>,
}

/// What a product's document is built from, once all words have been numbered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AnalysedProduct {
    pub ordinal: Ordinal,
    pub id: Box<str>,
    pub offering_type: OfferingType,
    pub evidence_status: EvidenceStatus,
    pub evidence_checked_on: Option<CalendarDate>,
    /// Indices into the category list, main category first.
    pub categories: Box<[u32]>,
    /// Each attribute's value numbers, in record order.
    pub attributes: Vec<Vec<u32>>,
    /// The product's position in each of [`Order::ALL`].
    pub ranks: [u32; Order::COUNT],
    /// The displayed rating.
    pub rating: Option<f64>,
    /// Whether the product is a demo record in a directory that also has real products.
    pub is_demo: bool,
    /// The product as shown in lists, as a JSON object.
    #[serde(with = "serde_bytes")]
    pub item: Vec<u8>,
    /// The detail fields that aren't in the item, as a JSON object.
    #[serde(with = "serde_bytes")]
    pub detail: Vec<u8>,
    pub content_hash: u64,
    pub reviews: ReviewSummary,
    pub terms: Vec<(Term, Occurrences)>,
    /// The product's words, as provisional numbers, with boundaries.
    pub words: Vec<u32>,
    /// The number of words in each section.
    pub lengths: Lengths,
    /// The product's meaning vector.
    pub vector: Option<Box<[u8]>>,
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
    /// The content hash in hexadecimal.
    content_hash: String,
    /// The meaning vector in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<String>,
    /// The item in base64.
    item: String,
    detail: &'p str,
    /// The review summary as JSON.
    reviews: String,
    #[serde(flatten)]
    ranks: BTreeMap<&'static str, u32>,
    /// The keys of all attribute values.
    attributes: Vec<String>,
    /// Each facet field's keys, with their labels.
    #[serde(flatten)]
    labels: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct Review<'r> {
    product: &'r str,
    place: u64,
    rating: u8,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
    object: &'r str,
}

impl DocumentWriter<'_> {
    pub fn product(&self, product: &AnalysedProduct) -> Result<Document, EngineError> {
        let (mut features, mut stems, mut names) = (BTreeMap::new(), Vec::new(), Vec::new());
        let sequence: Vec<_> = self.numbering.of(product.words.iter().copied()).collect();
        for (term, occurrences) in &product.terms {
            stems.extend(term::stem(term));
            match term::field(term) {
                TermField::Terms => {
                    features.insert(term::name(term), self.feature(*occurrences, &product.lengths));
                }
                TermField::Names => names.push(term::name(term)),
            }
        }
        let ranks = Order::ALL.map(|order| (rank_field(order), product.ranks[order as usize]));
        let (mut keys, mut labels) = (Vec::new(), BTreeMap::new());
        for (attribute, numbers) in product.attributes.iter().enumerate().filter(|(_, numbers)| !numbers.is_empty()) {
            let values: Vec<_> = numbers.iter().map(|number| self.labels.value(attribute, *number)).collect();
            keys.extend(values.iter().map(|AttributeValue { key, .. }| indexed_key(attribute, key)));
            let labelled = values.iter().filter_map(|value| labelled(&value.key, &value.label)).collect();
            labels.insert(label_field(attribute), labelled);
        }
        let (detail, words) = (json(&product.detail)?, words(sequence.iter().copied()));
        let source = Product {
            ordinal: product.ordinal,
            terms: features,
            stems,
            names,
            short: short(&sequence),
            near: self.near(&sequence),
            text_bytes: text_bytes(detail, &words),
            words,
            name_score: self.scores.score(Occurrences::one(Field::Name).packed(), &product.lengths),
            name_words: name_length(sequence.iter().copied()),
            demo: u8::from(product.is_demo),
            categories: &product.categories,
            offering_type: product.offering_type as usize,
            evidence_status: product.evidence_status as usize,
            stars: whole_stars(product.rating),
            rating: product.rating,
            checked_on: product.evidence_checked_on.map(CalendarDate::number),
            content_hash: format!("{:016x}", product.content_hash),
            vector: product.vector.as_ref().map(|vector| BASE64_STANDARD.encode(vector)),
            item: BASE64_STANDARD.encode(&product.item),
            detail,
            reviews: serde_json::to_string(&product.reviews).map_err(EngineError::index("written"))?,
            ranks: ranks.into(),
            attributes: keys,
            labels,
        };
        document(term::document_id(&product.id), &source)
    }

    /// A term's weighted frequency divided by BM25F's `k1`. OpenSearch's `saturation` with pivot 1
    /// turns it back into the score.
    fn feature(&self, occurrences: Occurrences, lengths: &Lengths) -> f32 {
        let score = self.scores.score(occurrences.packed(), lengths);
        (score / (1.0 - score) * HALF_STEP).clamp(f32::MIN_POSITIVE, f32::MAX)
    }

    /// The stems in names and short fields, in order.
    fn near(&self, words: &[WordId]) -> String {
        let mut text = String::new();
        for word in until(words.iter().copied(), Section::Summary) {
            // Writing to a string can't fail.
            let _ = match word {
                VALUE_END | SECTION_END => write!(text, "{BOUNDARY} "),
                word => write!(text, "{:x} ", self.stems[word as usize]),
            };
        }
        text
    }
}

pub(super) fn review(review: &StoredReview) -> Result<Document, EngineError> {
    let product = term::document_id(&review.product);
    let source = Review {
        product: &product,
        place: review.place,
        rating: review.rating,
        verified: review.verified.unwrap_or(false),
        created_at: review.created_at_seconds,
        object: json(&review.object)?,
    };
    document(format!("{product}-{}", review.place), &source)
}

/// The distinct spellings in names and short fields.
fn short(words: &[WordId]) -> Vec<String> {
    let words = until(words.iter().copied(), Section::Summary);
    let mut words: Vec<_> = words.filter(|word| *word > SECTION_END).collect();
    words.sort_unstable();
    words.dedup();
    words.into_iter().map(|word| format!("{word:x}")).collect()
}

/// Encodes a document's words and boundaries as hexadecimal numbers.
fn words(words: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for word in words {
        let _ = write!(text, "{word:x} ");
    }
    text
}

/// The size of a document's text in a response, in bytes, where quotes and backslashes take two.
/// Capped at what fits in an integer column.
fn text_bytes(detail: &str, words: &str) -> usize {
    let escaped = detail.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    (detail.len() + escaped + words.len()).min(i32::MAX as usize)
}

/// Decodes the output of [`words`].
pub(super) fn parse_words(text: &str) -> Option<Vec<u32>> {
    text.split_ascii_whitespace().map(|word| u32::from_str_radix(word, 16).ok()).collect()
}

fn json(text: &[u8]) -> Result<&str, EngineError> {
    std::str::from_utf8(text).map_err(EngineError::index("written"))
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
    fn the_checksum_covers_the_content_and_is_small_enough_to_sum() {
        let of = |text: &str| document("a".to_owned(), &text.len().checked_add(0).map(|n| BTreeMap::from([("n", n)])));
        let (one, other) = (of("a").expect("written"), of("ab").expect("written"));
        assert_ne!(one.checksum, other.checksum);
        assert!([one.checksum.a, one.checksum.b].iter().all(|number| *number < 1 << CHECKSUM_BITS));
        let read: serde_json::Value = serde_json::from_slice(&one.source).expect("JSON");
        assert_eq!(read, serde_json::json!({"n": 1, "check_a": one.checksum.a, "check_b": one.checksum.b}));
    }

    #[test]
    fn the_text_size_equals_the_size_in_json() {
        let (detail, words) = (r#"{"name":"ü \"a\" \\"}"#, "2 1f ");
        let json = serde_json::to_string(&[detail, words]).expect("JSON");
        assert_eq!(text_bytes(detail, words), json.len() - r#"["",""]"#.len());
    }

    #[test]
    fn words_round_trip() {
        let sequence = [2, 300, VALUE_END, 70_000, SECTION_END];
        assert_eq!(parse_words(&words(sequence.into_iter())).as_deref(), Some(&sequence[..]));
        assert_eq!(parse_words("2 x"), None);
    }
}
