//! Parses a cluster's search responses.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use foldhash::HashMap;
use serde::Deserialize;

use super::document::parse_words;
use super::query::{COMPLETE, EXACT_NAME, PINNED};
use crate::catalogue::Ordinal;
use crate::engine::{EngineError, Hit, HitTexts};
use crate::search::collect::{Candidate, Tier};
use crate::search::forward::DocumentWords;
use crate::text::meaning::DIMENSIONS;

#[derive(Debug, Deserialize)]
pub(super) struct SearchResponse {
    #[serde(default)]
    timed_out: bool,
    hits: ResponseHits,
    #[serde(default)]
    aggregations: BTreeMap<String, Aggregation>,
}

#[derive(Debug, Deserialize)]
struct ResponseHits {
    total: Total,
    #[serde(default)]
    hits: Vec<ResponseHit>,
}

#[derive(Debug, Deserialize)]
struct Total {
    value: u64,
}

#[derive(Debug, Deserialize)]
struct ResponseHit {
    #[serde(rename = "_score")]
    score: Option<f32>,
    fields: StoredFields,
}

/// A document's stored fields and columns; empty if they weren't requested.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StoredFields {
    pub(super) ordinal: Vec<u32>,
    pub(super) name_words: Vec<f32>,
    pub(super) content_hash: Vec<String>,
    /// The meaning vector in base64.
    pub(super) vector: Vec<String>,
    /// The item in base64.
    pub(super) item: Vec<String>,
    pub(super) detail: Vec<String>,
    pub(super) words: Vec<String>,
    pub(super) text_bytes: Vec<usize>,
    pub(super) reviews: Vec<String>,
    pub(super) object: Vec<String>,
}

/// A filter aggregation; `values` contains a facet's values or a histogram's buckets.
#[derive(Debug, Deserialize)]
struct Aggregation {
    doc_count: u64,
    values: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Histogram {
    buckets: Vec<RankBucket>,
}

#[derive(Debug, Deserialize)]
struct RankBucket {
    key: f64,
    doc_count: u64,
}

/// The tiers that a response's hits can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tiers {
    /// Products with all the words. Full-name matches score [`EXACT_NAME`] more.
    All,
    Some,
    /// Both kinds of products, told apart by [`COMPLETE`] and [`EXACT_NAME`].
    Both,
}

impl SearchResponse {
    pub(super) fn total(&self) -> u64 {
        self.hits.total.value
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.aggregations.get(name).map(|of| of.doc_count)
    }

    pub(super) fn values(&mut self, name: &str) -> Option<serde_json::Value> {
        self.aggregations.get_mut(name)?.values.take()
    }

    /// The first rank in the bucket that contains hit number `place`, and the number of hits before
    /// that bucket; `None` past the last hit.
    pub(super) fn bucket_of(&mut self, name: &str, place: u64) -> Option<(u64, u64)> {
        let histogram: Histogram = serde_json::from_value(self.values(name)?).ok()?;
        let mut before = 0;
        for bucket in histogram.buckets {
            if before + bucket.doc_count > place {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
                return Some((bucket.key as u64, before));
            }
            before += bucket.doc_count;
        }
        None
    }

    /// Whether the cluster gave up before finding all hits.
    pub(super) const fn is_incomplete(&self) -> bool {
        self.timed_out
    }

    /// The hits as candidates, each with the word count of its shortest name, never less than 1.
    pub(super) fn candidates(&self, is_demo: impl Fn(u32) -> bool) -> Result<Vec<(Candidate, f32)>, EngineError> {
        let candidate = |hit: &ResponseHit| {
            let ordinal = *hit.fields.ordinal.first().ok_or_else(|| damaged("ordinal"))?;
            let words = *hit.fields.name_words.first().ok_or_else(|| damaged("name_words"))?;
            let (tier, score) = tier(hit.score.unwrap_or_default(), Tiers::All, is_demo(ordinal));
            Ok((Candidate { tier, score, ordinal }, words.max(1.0)))
        };
        self.hits.hits.iter().map(candidate).collect()
    }

    pub(super) fn hits(
        self,
        tiers: Tiers,
        is_demo: impl Fn(u32) -> bool,
        texts: bool,
    ) -> Result<(Vec<Hit>, Vec<HitTexts>), EngineError> {
        let mut read = (Vec::with_capacity(self.hits.hits.len()), Vec::new());
        for hit in self.hits.hits {
            let ResponseHit { score, fields } = hit;
            let ordinal = *fields.ordinal.first().ok_or_else(|| damaged("ordinal"))?;
            let (tier, score) = tier(score.unwrap_or_default(), tiers, is_demo(ordinal));
            let StoredFields { item, detail, words, .. } = fields;
            if texts {
                read.1.push(hit_texts(detail, &words)?);
            }
            read.0.push(Hit { ordinal, tier, score, item: decoded(item, "item")? });
        }
        Ok(read)
    }

    /// The hits with their vectors.
    pub(super) fn vectors(self) -> Result<Vec<(Ordinal, [u8; DIMENSIONS])>, EngineError> {
        let vector = |StoredFields { ordinal, vector, .. }: StoredFields| {
            let ordinal = *ordinal.first().ok_or_else(|| damaged("ordinal"))?;
            let vector = decoded(vector, "vector")?;
            Ok((ordinal, vector[..].try_into().map_err(|_| damaged("vector"))?))
        };
        self.hits.hits.into_iter().map(|hit| vector(hit.fields)).collect()
    }

    pub(super) fn by_ordinal(self) -> Result<HashMap<u32, StoredFields>, EngineError> {
        let fields = self.hits.hits.into_iter().map(|hit| hit.fields);
        fields.map(|fields| Ok((*fields.ordinal.first().ok_or_else(|| damaged("ordinal"))?, fields))).collect()
    }
}

/// Decodes a hit's tier and its score within the tier.
fn tier(score: f32, tiers: Tiers, is_demo: bool) -> (Tier, f32) {
    let (is_complete, score) = match tiers {
        Tiers::All => (true, score),
        Tiers::Both if score >= COMPLETE => (true, score - COMPLETE),
        Tiers::Some | Tiers::Both => (false, score),
    };
    let (tier, score) = match is_complete {
        true if score >= EXACT_NAME => (Tier::ExactName, score - EXACT_NAME),
        true if score >= PINNED => (Tier::Pinned, score - PINNED),
        true => (Tier::All, score),
        false => (Tier::Some, score),
    };
    (if is_demo { tier.demo() } else { tier }, score)
}

pub(super) fn hit_texts(detail: Vec<String>, words: &[String]) -> Result<HitTexts, EngineError> {
    Ok(HitTexts { fields: one(detail, "detail")?, words: document_words(words)? })
}

fn document_words(stored: &[String]) -> Result<DocumentWords, EngineError> {
    let text = stored.first().map_or("", String::as_str);
    Ok(DocumentWords::new(&parse_words(text).ok_or_else(|| damaged("words"))?))
}

/// A stored field's only value.
pub(super) fn one(values: Vec<String>, field: &'static str) -> Result<Bytes, EngineError> {
    values.into_iter().next().map(Bytes::from).ok_or_else(|| damaged(field))
}

/// The encoding of columns, which the cluster writes without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes in a hit's column.
pub(super) fn decoded(values: Vec<String>, column: &'static str) -> Result<Bytes, EngineError> {
    let bytes = BASE64.decode(one(values, column)?);
    Ok(bytes.map_err(EngineError::index("read"))?.into())
}

pub(super) fn damaged(field: &'static str) -> EngineError {
    EngineError::index("read")(format!("a document in the cluster has no {field}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_with_and_without_padding() {
        for text in ["eyJhIjoi8J+mgCJ9", "e30", "e30="] {
            let item = decoded(vec![text.to_owned()], "item").expect("an item");
            assert!(item.starts_with(b"{") && item.ends_with(b"}"), "{text}");
        }
        assert!(decoded(vec!["*".to_owned()], "item").is_err() && decoded(Vec::new(), "item").is_err());
    }

    #[test]
    fn tiers_are_decoded_from_scores() {
        assert_eq!(tier(EXACT_NAME + 0.5, Tiers::All, false), (Tier::ExactName, 0.5));
        assert_eq!(tier(PINNED + 19.0, Tiers::All, false), (Tier::Pinned, 19.0));
        assert_eq!(tier(7.5, Tiers::All, true), (Tier::Demo, 7.5));
        assert_eq!(tier(7.5, Tiers::Some, false), (Tier::Some, 7.5));
        assert_eq!(tier(COMPLETE + EXACT_NAME + 2.0, Tiers::Both, false), (Tier::ExactName, 2.0));
        assert_eq!(tier(COMPLETE + 2.0, Tiers::Both, true), (Tier::Demo, 2.0));
        assert_eq!(tier(2.0, Tiers::Both, true), (Tier::SomeDemo, 2.0));
    }

    #[test]
    fn a_hits_bucket_is_the_first_one_that_ends_after_the_hit() {
        let response = || -> SearchResponse {
            serde_json::from_value(serde_json::json!({
                "hits": {"total": {"value": 7}},
                "aggregations": {"ranks": {"doc_count": 7, "values": {"buckets": [
                    {"key": 0.0, "doc_count": 3}, {"key": 20.0, "doc_count": 4},
                ]}}},
            }))
            .expect("a response")
        };
        let bucket = |place| response().bucket_of("ranks", place);
        assert_eq!(
            [bucket(0), bucket(2), bucket(3), bucket(6)],
            [Some((0, 0)), Some((0, 0)), Some((20, 3)), Some((20, 3))]
        );
        assert_eq!(bucket(7), None);
    }
}
