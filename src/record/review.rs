//! A user's review of a product.

use serde::{Deserialize, Serialize};

use super::{AdditionalProperty, raw};

/// An entry in an envelope's `reviews`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// Unique among the directory's reviews, never empty.
    pub id: Box<str>,
    /// The id of the product that the review is about, which exists in the directory.
    pub software_id: Box<str>,
    /// Stars, from 1 to 5.
    pub rating: u8,
    pub title: Option<Box<str>>,
    pub body: Option<Box<str>>,
    pub author: Option<Box<str>>,
    /// RFC 3339, in UTC.
    pub created_at: Option<Box<str>>,
    /// `created_at` as seconds since 1970-01-01T00:00:00Z.
    pub created_at_seconds: Option<i64>,
    /// Whether the reviewer is known to use the product.
    pub verified: Option<bool>,
    /// All other properties, in their original order.
    #[serde(with = "raw::properties")]
    pub additional_properties: Vec<AdditionalProperty>,
}
