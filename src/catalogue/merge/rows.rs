//! The row types of a merge.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::catalogue::quality::Merits;
use crate::catalogue::rating::Rating;
use crate::catalogue::reviews::Stars;
use crate::record::CalendarDate;

/// The location of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordPlace {
    /// The number of the record's export.
    pub(super) export: u32,
    /// The record's position among all records.
    pub(super) at: u64,
}

/// A product as given in its export, without its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProductRow {
    pub(super) place: RecordPlace,
    /// The collation key of the product's name.
    #[serde(with = "serde_bytes")]
    pub(super) name: Vec<u8>,
    /// A hash of the normalised URL of the product's website.
    pub(super) website: u64,
    pub(super) merits: Merits,
    /// The rating and review count stated in the record.
    pub(super) stated: Option<f64>,
    pub(super) review_count: Option<u64>,
    pub(super) evidence_checked_on: Option<CalendarDate>,
    /// Category numbers in order of first use, which the join replaces with positions among all
    /// categories.
    pub(super) categories: Box<[u32]>,
}

/// The product a review is about, then the review's sort key among that product's reviews.
pub(super) type ReviewKey = (Box<str>, Reverse<Option<i64>>, Box<str>);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ReviewRow {
    pub(super) rating: u8,
    pub(super) verified: Option<bool>,
    pub(super) created_at_seconds: Option<i64>,
    /// The review as a JSON object, as clients see it.
    #[serde(with = "serde_bytes")]
    pub(super) object: Vec<u8>,
}

/// A review with its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReview {
    /// The product's id.
    pub product: Box<str>,
    /// The review's position among the product's reviews, from 0. Reviews are sorted newest first,
    /// undated ones last, then by id.
    pub place: u64,
    /// Stars, 1 to 5.
    pub rating: u8,
    /// Whether the reviewer is known to use the product.
    pub verified: Option<bool>,
    /// When the review was written, in seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
    /// The review as a JSON object, as clients see it.
    #[serde(with = "serde_bytes")]
    pub object: Vec<u8>,
}

/// A product joined with its reviews.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JoinedProduct {
    pub(super) id: Box<str>,
    pub(super) row: ProductRow,
    pub(super) shown: Rating,
    pub(super) stars: Stars,
    /// The position of the product's first review, and the number of reviews.
    pub(super) reviews: (u64, u64),
}

/// A product with its ordinal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlacedProduct {
    pub(super) place: RecordPlace,
    pub(super) categories: Box<[u32]>,
    pub(super) evidence_checked_on: Option<CalendarDate>,
    pub(super) shown: Rating,
    pub(super) stars: Stars,
    /// The position of the product's first review, and the number of reviews.
    pub(super) reviews: (u64, u64),
}
